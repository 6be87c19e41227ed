"""Warnings as data: a code with its parameters, turned into a sentence only where it is shown.

`en.py` and `zh.py` are the catalogues of sentences. `warn` and `collect_warnings` pass warnings from a store to the
caller that answers the user.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from sextant.domain.warnings import en, zh
from sextant.domain.warnings.codes import WarningCode

__all__ = [
    "CodedWarning",
    "Warned",
    "WarningCode",
    "attachments_not_read",
    "collect_warnings",
    "count",
    "distinct",
    "names",
    "warn",
    "word_warnings",
]

logger = logging.getLogger(__name__)


class _Catalogue(Protocol):
    """The module of a language."""

    WORDINGS: Mapping[str, str]
    BETWEEN: str
    BETWEEN_SENTENCES: str
    SAME_REASON: str

    def quote(self, name: str) -> str: ...
    def word_others(self, number: int) -> str: ...
    def word_aside(self, text: str) -> str: ...
    def word_count(self, things: Mapping[str, Any]) -> str: ...


_CATALOGUES: Mapping[str, _Catalogue] = {"en": en, "zh": zh}
# Names that are shown in a sentence, and characters of each.
_MOST_NAMES, _NAME_CHARS = 5, 100


@dataclass(frozen=True, slots=True)
class CodedWarning:
    """One warning.

    Attributes:
        code: one of `WarningCode`; one that a newer version has stored is shown as it is.
        params: the parameters of its sentence as JSON: numbers, texts, lists of these, counted things (`count`),
            names (`names`) and reasons of failures (`sextant.domain.errors.describe_reason`).
    """

    code: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> CodedWarning:
        """Return a warning from `to_json`."""
        return cls(str(stored["code"]), stored["params"])

    def to_json(self) -> dict[str, Any]:
        """Return the warning as JSON holds it."""
        return {"code": str(self.code), "params": dict(self.params)}

    def in_language(self, language: str) -> str:
        """Return the sentence in `zh` or `en`."""
        catalogue = _CATALOGUES[language]
        wording = catalogue.WORDINGS.get(self.code, self.code)
        return wording.format(
            **{name: _word(name, value, language) for name, value in self.params.items()}
        )

    def __str__(self) -> str:
        return self.in_language("en")


def count(number: int, noun: str, at: Sequence[int | str] = (), *, more: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Return a number of things as a parameter.

    Args:
        number: how many.
        noun: in the singular, in English.
        at: positions of some of them: numbers of slides, or names.
        more: whether there are more positions than `at` lists.
    """
    return {"number": number, "noun": noun, "at": [*at], "more": more}


def names(given: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    """Return names as a parameter: the first five, shortened, and how many others there are."""
    shown = [name[:_NAME_CHARS] for name in given[:_MOST_NAMES]]
    return {"names": shown, "others": len(given) - len(shown)}


def attachments_not_read(given: Sequence[str]) -> tuple[CodedWarning, ...]:
    """Return the warning about unread attachments of these names; empty if there are none."""
    params = {"number": len(given), "names": names(given)}
    return (CodedWarning(WarningCode.ATTACHMENTS_NOT_READ, params),) if given else ()


def distinct(warnings: Iterable[CodedWarning]) -> list[CodedWarning]:
    """Return the warnings in their order, each once."""
    found = list[CodedWarning]()
    for warning in warnings:
        if warning not in found:
            found.append(warning)
    return found


# Limits of an answer that have another value in a report, with their names in the settings `research`.
REPORT_LIMITS = {
    "model_calls": "model_calls",
    "prompt_tokens": "prompt_tokens",
    "answer_seconds": "seconds",
    "first_words_seconds": "seconds",
}


def word_warnings(
    warnings: Iterable[CodedWarning], language: str, *, effort: str = ""
) -> tuple[str, ...]:
    """Return the sentence of each warning, in order; those of a report name the limits of reports.

    A reason behind a colon is left out if an earlier warning gave it.
    """
    sentences, reasons = list[str](), set[str]()
    for warning in warnings:
        sentence, reason = warning.in_language(language), warning.params.get("reason")
        if isinstance(reason, Mapping) and language in reason:
            text = str(reason[language])
            ahead = sentence.removesuffix(text)
            if text in reasons and ahead.endswith((": ", "：")):
                sentence = ahead + _CATALOGUES[language].SAME_REASON
            reasons.add(text)
        sentences.append(sentence)
    return tuple(map(_name_limits_of_report, sentences) if effort == "high" else sentences)


def _name_limits_of_report(text: str) -> str:
    for name, limit in REPORT_LIMITS.items():
        text = text.replace(f"limits.{name}", f"research.{limit}")
        text = text.replace(f"SEXTANT_LIMITS__{name.upper()}", f"SEXTANT_RESEARCH__{limit.upper()}")
    return text


_collected: ContextVar[list[CodedWarning] | None] = ContextVar("warnings", default=None)


@contextmanager
def collect_warnings() -> Iterator[list[CodedWarning]]:
    """Collect distinct warnings of stores while the block runs, including those of tasks started in it."""
    collected: list[CodedWarning] = []
    token = _collected.set(collected)
    try:
        yield collected
    finally:
        _collected.reset(token)


def warn(code: WarningCode, *, logged: bool = True) -> None:
    """Log a warning and add it to the collected ones, unless they contain it already.

    `logged`: False if the caller has logged it.
    """
    warning = CodedWarning(code)
    collected = _collected.get()
    if collected is not None:
        if warning in collected:
            return
        collected.append(warning)
    if logged:
        logger.warning(str(warning))


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Base of results with warnings: `coded_warnings` are the data, `warnings` their sentences."""

    coded_warnings: tuple[CodedWarning, ...] = ()
    warnings: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Word the warnings."""
        effort = getattr(self, "effort", "")
        sentences = word_warnings(self.coded_warnings, self.reader_language(), effort=effort)
        object.__setattr__(self, "warnings", sentences)

    def reader_language(self) -> str:
        """Return the language of the sentences."""
        return "en"


def _word(name: str, value: Any, language: str) -> str:  # noqa: ANN401 - JSON
    """Return a parameter as the sentence shows it."""
    catalogue = _CATALOGUES[language]
    if isinstance(value, Mapping):
        return _word_mapping(value, language)
    if isinstance(value, list | tuple):
        quoted = [
            catalogue.quote(one) if name == "heads" else _word("", one, language) for one in value
        ]
        is_reasons = any(isinstance(one, Mapping) and language in one for one in value)
        return (catalogue.BETWEEN_SENTENCES if is_reasons else catalogue.BETWEEN).join(quoted)
    if isinstance(value, float):
        return f"{value:g}"
    if name == "others":  # further ones than are listed
        return catalogue.word_others(value) if value else ""
    if name == "why":
        return catalogue.word_aside(value) if value else ""
    return str(value)


def _word_mapping(value: Mapping[str, Any], language: str) -> str:
    """Return the reason of a failure, names or counted things."""
    catalogue = _CATALOGUES[language]
    if language in value:
        return str(value[language])
    if "names" in value:
        listed = catalogue.BETWEEN.join(map(catalogue.quote, value["names"]))
        return listed + (catalogue.word_others(value["others"]) if value["others"] else "")
    return catalogue.word_count(value)
