"""Without the extra `[langchain]` its module says what to install."""

from __future__ import annotations

import importlib
import sys

import pytest


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_postgres", None)
    monkeypatch.delitem(sys.modules, "stores.langchain", raising=False)
    with pytest.raises(ImportError, match=r"sextant\[langchain\]"):
        importlib.import_module("stores.langchain")
