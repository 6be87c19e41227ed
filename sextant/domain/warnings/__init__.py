"""Warnings as data: a code with its parameters, turned into a sentence only where it is shown.

`sentences.toml` is the catalogue of sentences. `warn` and `collect_warnings` pass warnings from a store to the
caller that answers the user.
"""

from __future__ import annotations

import logging
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum, auto
from functools import cache
from importlib.resources import files
from typing import Any

from sextant.domain.warnings.languages import LANGUAGES

logger = logging.getLogger(__name__)


class WarningCode(StrEnum):
    """The subject of a warning. Codes are stable: callers compare them and databases store them."""

    CAUSE = auto()
    """Why something failed, as the error says it."""

    # A part of a document is missing.
    UNREADABLE_CHARACTERS = auto()
    ENCODING_GUESSED = auto()
    PAGES_OF_IMAGES = auto()
    PAGES_UNREADABLE = auto()
    RUNNING_HEADS = auto()
    ATTACHMENTS_NOT_READ = auto()
    FORMULAS_NOT_COMPUTED = auto()
    PARTS_NOT_READ = auto()
    PARTS_DAMAGED = auto()
    TEXT_LEFT_OUT = auto()
    FURNITURE_LEFT_OUT = auto()
    TEXT_MISSING = auto()
    PARTS_MISSING = auto()
    QUOTES_NOT_CLOSED = auto()
    LINES_NOT_IMPORTED = auto()
    IMAGES_NOT_LOOKED_AT = auto()
    METAFILES_NOT_READ = auto()
    IMAGES_NOT_DESCRIBED = auto()
    IMAGES_OVER_LIMIT = auto()
    OCR_OVER_LIMIT = auto()
    OCR_FAILED = auto()
    OCR_UNSURE = auto()
    PASSAGES_NOT_READ = auto()

    # The graph of a knowledge base is not up to date.
    GRAPH_NOT_REFRESHED = auto()
    GRAPH_NOT_PROJECTED = auto()
    NAMES_NOT_COMPARED = auto()
    ENTITIES_WITHOUT_VECTOR = auto()
    REPORTS_WITHOUT_MODEL = auto()
    DESCRIPTIONS_INCOMPLETE = auto()
    DESCRIPTIONS_FAILED = auto()
    DESCRIPTIONS_OVER_BUDGET = auto()
    EXTRACTION_OVER_BUDGET = auto()
    EXTRACTION_STOPPED = auto()
    FACTS_NOT_STORED = auto()
    FACTS_CHANGING = auto()

    # A search ran without one of its parts.
    VECTOR_LANE_FAILED = auto()
    KEYWORD_LANE_FAILED = auto()
    LANE_FAILED = auto()
    LANE_TIMED_OUT = auto()
    EMBEDDING_FAILED = auto()
    GRAPH_STORE_FAILED = auto()
    NEO4J_UNAVAILABLE = auto()
    NEO4J_BEHIND = auto()
    INDEX_BEHIND = auto()
    INDEX_BUILDING = auto()
    ENTITY_VECTOR_LANE_FAILED = auto()
    ENTITY_TEXT_LANE_FAILED = auto()
    ENTITY_GRAPH_LANE_FAILED = auto()
    VECTORS_MISSING = auto()
    KEYWORDS_MISSING = auto()
    PASSAGES_MISSING = auto()
    USER_WITHOUT_DOCUMENTS = auto()
    ENTITIES_NOT_NAMED = auto()
    REPORTS_MISSING = auto()
    REPORTS_NOT_FILTERED = auto()
    FILTERS_UNKNOWN = auto()
    TYPES_MISSPELT = auto()
    TYPES_UNKNOWN = auto()
    TYPES_MISSING = auto()
    BM25_BUILDING = auto()
    BM25_FAILED = auto()
    RERANKER_MISSING = auto()
    RERANKING_FAILED = auto()
    RERANKING_INCOMPLETE = auto()
    RERANKING_TIMED_OUT = auto()

    # An answer was made in another way than intended.
    CALLS_USED_UP = auto()
    TOKENS_USED_UP = auto()
    TIME_USED_UP = auto()
    JUDGED_BY_RULE = auto()
    TOO_SLOW_TO_JUDGE = auto()
    TOO_SLOW_TO_ANSWER = auto()
    NO_DOCUMENTS_USED = auto()
    EFFORT_UNUSED = auto()
    QUOTED_WITHOUT_MODEL = auto()
    MODEL_DECLINED = auto()
    TABLES_NOT_COMPUTED = auto()
    ROWS_FILLED_UP = auto()
    VISION_MODEL_MISSING = auto()
    IMAGE_NOT_DESCRIBED = auto()
    IMAGE_CALLS_USED_UP = auto()
    IMAGE_TIMED_OUT = auto()
    CONTEXT_SHORTENED = auto()
    CONTEXT_SHORTENED_FOR_TIME = auto()
    CONTEXT_CUT = auto()
    ANSWER_CUT_OFF = auto()
    ANSWER_OUT_OF_TIME = auto()
    ANSWER_BROKEN_OFF = auto()
    THOUGHT_WITHDRAWN = auto()
    REPORTS_NOT_READ = auto()
    PASSAGES_OUTDATED = auto()
    CITATIONS_NOT_COMPARED = auto()
    JUDGE_FAILED = auto()
    JUDGE_TIMED_OUT = auto()
    SENTENCES_REVISED = auto()
    REVISION_FAILED = auto()
    REVISION_OVER_LIMIT = auto()
    CITED_DOCUMENT_CHANGED = auto()
    CITATIONS_REMOVED = auto()
    ANSWER_REPLACED = auto()
    ANSWER_NOT_CONFIRMED = auto()
    ANSWER_IN_OTHER_LANGUAGE = auto()

    # A line of an import is wrong.
    LINE_IS_NO_LINE = auto()
    LINE_NOT_JSON = auto()
    LINE_NOT_UTF8 = auto()
    LINE_TOO_DEEP = auto()
    LINE_NUMBER_TOO_LONG = auto()
    LINE_NO_OBJECT = auto()
    LINE_FAULT = auto()
    LINE_JOINS_ITSELF = auto()
    LINE_SECTION_ENDS_BEFORE = auto()
    LINE_SECTION_BEYOND_TEXT = auto()
    LINE_KEY_MISSPELT = auto()
    LINE_KEY_UNKNOWN = auto()
    LINE_PASSAGE_TOO_LONG = auto()
    LINE_TRIPLE_JOINS_ITSELF = auto()
    LINE_REPLACES = auto()
    LINE_WITHOUT_DOCUMENT = auto()
    LINE_ID_TAKEN = auto()
    LINE_ALIAS_SHARED = auto()
    LINE_ENTITY_UNKNOWN = auto()
    LINE_ONE_ENTITY = auto()
    LINE_CHUNK_UNKNOWN = auto()
    LINE_DOCUMENT_EMPTY = auto()
    LINE_CHUNK_ELSEWHERE = auto()
    LINE_SECTION_UNKNOWN = auto()
    LINE_KEYS_UNUSED = auto()
    LINE_REJECTED = auto()
    LINE_OVERTAKEN = auto()


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
        """Return the sentence in `zh` or `en`, with … for a parameter that an older version did not store."""
        wording = sentences().get(self.code, {}).get(language, self.code)
        words = {name: _word(name, value, language) for name, value in self.params.items()}
        return wording.format_map(defaultdict(lambda: "…", words))

    def __str__(self) -> str:
        return self.in_language("en")


@cache
def sentences() -> Mapping[str, Mapping[str, str]]:
    """Return the sentence of each code in each language."""
    return tomllib.loads((files(__name__) / "sentences.toml").read_text("utf-8"))


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
    shown = [name[:100] for name in given[:5]]
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
                sentence = ahead + LANGUAGES[language].same_reason
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
    around = LANGUAGES[language]
    if isinstance(value, Mapping):
        return _word_mapping(value, language)
    if isinstance(value, list | tuple):
        words = [f"“{one}”" if name == "heads" else _word("", one, language) for one in value]
        is_reasons = any(isinstance(one, Mapping) and language in one for one in value)
        return (around.between_sentences if is_reasons else around.between).join(words)
    if isinstance(value, float):
        return f"{value:g}"
    if name in {"others", "why"}:  # further things than are listed; a remark
        pattern = around.others if name == "others" else around.aside
        return pattern.format(value) if value else ""
    return str(value)


def _word_mapping(value: Mapping[str, Any], language: str) -> str:
    """Return the reason of a failure, names or counted things."""
    around = LANGUAGES[language]
    if language in value:
        return str(value[language])
    if "names" in value:
        listed = around.between.join(f"“{one}”" for one in value["names"])
        return listed + _word("others", value["others"], language)
    return around.count(value)
