"""The lines of a prompt that stand beside its passages: relations and reports, no sentence twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import inf

from sextant.domain.retrieval import RetrievedItem
from sextant.prompts import as_data
from sextant.text.characters import estimate_tokens, plain_of
from sextant.text.sentences import sentence_spans

KNOWLEDGE_TOKENS = 300
"""Tokens (estimated) of these lines; more of them help an answer less than another passage."""

_NO_WORD = re.compile(r"[\W_]+")


def format_reports(reports: Iterable[RetrievedItem]) -> str:
    """Return reports as a prompt shows them, one a line."""
    lines = PromptLines()
    for report in reports:
        lines.add_report(report, summary=True)
    return lines.text


class PromptLines:
    """Collects lines, none of which repeats a sentence.

    Args:
        tokens: how many (estimated) the lines may take together.
        texts: texts whose sentences are not repeated, either.
        is_worth: whether a sentence of a report is worth a place.
    """

    def __init__(
        self,
        tokens: float = inf,
        texts: Iterable[str] = (),
        is_worth: Callable[[str], bool] = bool,
    ) -> None:
        self._lines: list[str] = []
        self._is_worth = is_worth
        self._left = tokens
        self._plain_texts = "\n".join(map(_plain, texts))

    @property
    def text(self) -> str:
        """Return the lines so far."""
        return "\n".join(self._lines)

    def add(self, text: str) -> None:
        """Add a line, if it is new and fits."""
        line = as_data(f"- {_on_one_line(text)}")
        cost = estimate_tokens(line) + 1
        if line not in self._lines and cost <= self._left:
            self._lines.append(line)
            self._left -= cost

    def add_report(self, report: RetrievedItem, *, summary: bool = False) -> None:
        """Add the title of a report and those of its findings that are new and fit; nothing where none is.

        Args:
            report: the report.
            summary: whether its summary is added, too.
        """
        title, _, whole = report.text.partition("\n")
        findings = [one["text"] for one in report.metadata.get("findings") or ()]
        texts = [whole or title, *findings] if summary or not findings else findings
        left = self._left - estimate_tokens(f"- {title}: ") - 1
        new: list[str] = []
        for text in texts:
            for start, end in sentence_spans(text):
                sentence, plain = _on_one_line(text[start:end]), _plain(text[start:end])
                cost = estimate_tokens(f"{sentence} ")
                is_new = plain not in self._plain_texts
                if is_new and cost <= left and self._is_worth(sentence):
                    new.append(sentence)
                    self._plain_texts += f"\n{plain}"
                    left -= cost
        if new:
            self.add(f"{title}: {' '.join(new)}" if whole else " ".join(new))


def _plain(text: str) -> str:
    """Return letters and digits alone, so that sentences are compared without punctuation."""
    return _NO_WORD.sub("", plain_of(text))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
