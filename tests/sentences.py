"""The sentences of warnings, as tests expect them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sextant.domain.warnings import CodedWarning, WarningCode, word_warnings


def sentence(code: WarningCode, language: str = "en", /, **params: Any) -> str:
    """Return the sentence of a warning."""
    return CodedWarning(code, params).in_language(language)


def sentences_of(update: Mapping[str, Any], language: str = "en") -> list[str]:
    """Return the sentences of the warnings that a node of the workflow gives."""
    given: Iterable[Mapping[str, Any]] = update["coded_warnings"]
    return list(word_warnings(map(CodedWarning.from_json, given), language))
