"""Whose knowledge base a run is about."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.nodes.context import scope_of
from sextant.nodes.state import State
from tests.unit.nodes.conftest import Build


@pytest.mark.parametrize(
    ("login", "named", "whose"),
    [
        (
            "ann",
            "bob",
            "ann",
        ),  # whoever is logged in asks of nobody else's, whatever the input says
        ("ann", None, "ann"),
        (None, "bob", "bob"),
        (None, None, "the setting's"),
    ],
)
def test_a_login_outranks_the_input_and_the_input_the_setting(
    bench: Build, login: str | None, named: str | None, whose: str
) -> None:
    runtime = bench(settings=Settings(_env_file=None, user_id="the setting's")).runtime
    user = login and SimpleNamespace(identity=login)
    runtime = replace(runtime, server_info=cast("Any", SimpleNamespace(user=user)))
    assert scope_of(State(user_id=named, graph_id="kb"), runtime) == Scope(whose, "kb")


def test_an_empty_user_is_refused_and_not_taken_for_the_settings(bench: Build) -> None:
    with pytest.raises(OptionInvalid) as refused:
        scope_of(State(user_id="", graph_id="kb"), bench().runtime)
    assert refused.value.field == "user_id"


def test_without_a_server_the_input_says_whose(bench: Build) -> None:
    assert scope_of(State(user_id="bob", graph_id="kb"), bench().runtime) == Scope("bob", "kb")


@pytest.mark.parametrize(
    ("named", "chosen", "which"),
    [("default", "hr", "hr"), ("kb", "hr", "kb"), ("kb", "default", "kb")],
)
def test_the_inputs_knowledge_base_outranks_the_runs_choice(
    bench: Build, named: str, chosen: str, which: str
) -> None:
    state, runtime = State(user_id="bob", graph_id=named), bench(graph_id=chosen).runtime
    assert scope_of(state, runtime) == Scope("bob", which)
