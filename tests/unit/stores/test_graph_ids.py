"""Names in any spelling are one entity; different names, users and graphs are different ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.scope import Scope
from sextant.stores.graph.evidence import entity_id, name_digest
from sextant.text.characters import clean_text, normalise_name

SCOPE = Scope("u", "g")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Payment Terms", "  payment\u3000 TERMS."),
        ("糖尿病", "《糖尿病》。"),
        ("ＧＰＵ", "gpu"),
        ("Straße", "STRASSE"),
        ("U.S.", "“U.S.”"),
        ("İstanbul", "i\u0307stanbul"),
    ],
)
def test_spellings_of_one_name_are_one_entity(one: str, other: str) -> None:
    assert entity_id(SCOPE, one) == entity_id(SCOPE, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("C++", "C#"), ("NET", ".NET"), ("糖尿病", "2型糖尿病"), ("a b", "ab")],
)
def test_names_that_differ_are_different_entities(one: str, other: str) -> None:
    assert entity_id(SCOPE, one) != entity_id(SCOPE, other)


def test_homonyms_and_scopes_have_ids_of_their_own() -> None:
    ids = {
        entity_id(SCOPE, "Li Wei"),
        entity_id(SCOPE, "Li Wei", "e1"),
        entity_id(SCOPE, "Li Wei", "e2"),
        entity_id(Scope("u", "g2"), "Li Wei"),
        entity_id(Scope("u2", "g"), "Li Wei"),
    }
    assert len(ids) == 5


@given(st.text())
def test_a_normalised_name_is_normal_and_not_empty_without_need(text: str) -> None:
    norm = normalise_name(text)
    assert normalise_name(norm) == norm
    assert bool(norm) == bool(text.split())


@given(st.text())
def test_keys_fit_a_bigint(text: str) -> None:
    assert -(2**63) <= name_digest(clean_text(text)) < 2**63
