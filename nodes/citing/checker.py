"""Check citations while the answer is written: in the store, and by a cross-encoder if one is configured.

The checks of a sentence start when it is finished: whether the stored document still has the quoted text at its offsets,
and whether the cross-encoder finds that the quote supports the sentence. The next tokens do not wait for them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sextant.domain.answers import Citation, Cited, Quoted, Token
from sextant.domain.concurrency import stop
from sextant.domain.errors import DependencyError, describe_reason
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.telemetry import CitationsDropped, emit
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.protocols import Reranker
from sextant.nodes.citing import markers
from sextant.nodes.citing.citations import Finished, StillThere, Verdict
from sextant.nodes.citing.cited_text import CitedText
from sextant.nodes.context import Dependencies

# Seconds that tokens wait for a check, so that a citation of a fast store comes right behind its sentence.
_PATIENCE = 0.05

# The highest score of a sentence that the passages deny.
_MOST_DENIED = 0.3


@dataclass(frozen=True, slots=True)
class Checks:
    """How citations are checked besides by rules.

    Attributes:
        check_quotes: asks the store; None: nothing is stored.
        judge: a cross-encoder that scores how far a quote supports a sentence; None: rules decide.
        least: its score from which a sentence is supported.
        until: the event loop's time at which the judge is given up; None: never.
    """

    check_quotes: StillThere | None = None
    judge: Reranker | None = None
    least: float = 0.5
    until: float | None = None

    def __bool__(self) -> bool:
        return self.check_quotes is not None or self.judge is not None


def checks_of(deps: Dependencies, scope: Scope) -> Checks:
    """Return the checks that the system has for a knowledge base."""
    return Checks(
        partial(deps.quotes.check_quotes, scope) if deps.quotes else None,
        deps.judge,
        deps.settings.answers.judge_threshold,
    )


class Checking:
    """The checks of one text that is being written; `close` it.

    Attributes:
        gone: indexes of cited passages that the store no longer has.
        rejected: texts, without markers, of sentences that the judge found unsupported.
        unchecked: whether the store could not be asked.
        warnings: why a check could not be made.
    """

    def __init__(
        self, checks: Checks, answer: CitedText, passages: Sequence[RetrievedItem]
    ) -> None:
        self._checks = checks
        self._answer = answer
        self._passages = passages
        self._known = 0
        self._running = deque[asyncio.Task[list[Cited]]]()
        self.gone: set[int] = set()
        self.rejected: set[str] = set()
        self.unchecked = False
        self.warnings: list[CodedWarning] = []

    async def through(self, events: Iterable[Token | Cited]) -> AsyncIterator[Token | Cited]:
        """Yield tokens at once, and citations in order once their checks have passed."""
        for event in events:
            if isinstance(event, Token) or not self._checks:
                yield event
            elif self._start():
                await asyncio.wait([self._running[-1]], timeout=_PATIENCE)
            while self._running and self._running[0].done():
                for checked in self._running.popleft().result():
                    yield checked

    async def rest(self) -> AsyncIterator[Cited]:
        """Yield the citations whose checks are still running."""
        while self._running:
            for event in await self._running.popleft():
                yield event

    async def close(self) -> None:
        """Stop what is still running."""
        await stop(*self._running)

    def _start(self) -> bool:
        """Start the checks of newly finished sentences; return whether there are any."""
        new = range(self._known, len(self._answer.finished))
        self._known = len(self._answer.finished)
        cited = [index for index in new if self._answer.finished[index].citations]
        self._running += [asyncio.create_task(self._check_sentence(index)) for index in cited]
        return bool(cited)

    async def _check_sentence(self, index: int) -> list[Cited]:
        """Return the citations of a sentence that are still stored, with the judge's score as their support."""
        sentence = self._answer.finished[index]
        cited = [self._answer.given.citations[number] for number in sentence.citations]
        there, scores = await asyncio.gather(
            self._still_there(sentence, cited), self._judge_cited(sentence, cited)
        )
        self.gone |= {
            passage for passage, holds in zip(sentence.passages, there, strict=True) if not holds
        }
        if lost := there.count(False):
            emit(CitationsDropped("gone", lost))
        if scores is not None:
            cited = [
                replace(citation, support=round(min(max(score, 0.0), 1.0), 3))
                for citation, score in zip(cited, scores, strict=True)
            ]
            supported = max(scores) >= self._checks.least
            verdict = Verdict.SUPPORTED if supported else Verdict.UNSUPPORTED
            self._answer.finished[index] = replace(sentence, verdict=verdict)
            if not supported:
                self.rejected.add(plain(sentence.text))
        for number, citation in zip(sentence.citations, cited, strict=True):
            self._answer.given.citations[number] = citation
        return [Cited(citation) for citation, holds in zip(cited, there, strict=True) if holds]

    async def _still_there(self, sentence: Finished, cited: Sequence[Citation]) -> Sequence[bool]:
        documents = [self._passages[index].document_id for index in sentence.passages]
        quotes = [
            Quoted(document, citation.start, citation.quote)
            for document, citation in zip(documents, cited, strict=True)
            if document
        ]
        if self._checks.check_quotes is None or not quotes:
            return [True] * len(cited)
        try:
            found = iter(await self._checks.check_quotes(quotes))
        except DependencyError as error:
            self.unchecked = True
            self._warn(WarningCode.CITATIONS_NOT_COMPARED, reason=describe_reason(error))
            return [True] * len(cited)
        return [next(found) if document else True for document in documents]

    def _warn(self, code: WarningCode, **params: object) -> None:
        """Add a warning once."""
        warning = CodedWarning(code, params)
        if warning not in self.warnings:
            self.warnings.append(warning)

    async def _judge_cited(
        self, sentence: Finished, cited: Sequence[Citation]
    ) -> Sequence[float] | None:
        # The values of cells were compared, which a judge of sentences cannot.
        if self._checks.judge is None or any(citation.cell for citation in cited):
            return None
        texts = [citation.quote for citation in cited]
        try:
            async with asyncio.timeout_at(self._checks.until):
                scores = await self._checks.judge.score(plain(sentence.text), texts)
        except DependencyError as error:
            self._warn(WarningCode.JUDGE_FAILED, reason=describe_reason(error))
            return None
        except TimeoutError:
            self._warn(WarningCode.JUDGE_TIMED_OUT)
            return None
        # Cross-encoders overlook other numbers and a "not", which the rules find for certain.
        most = min(_MOST_DENIED, self._checks.least - 0.01)
        if self._answer.evidence.denies(markers.statement_text(sentence.text), sentence.passages):
            return [min(score, most) for score in scores]
        return scores


def plain(text: str) -> str:
    """Return a sentence without its markers."""
    return " ".join(markers.strip_markers(text).split())
