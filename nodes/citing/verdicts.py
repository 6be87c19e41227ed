"""Decide whether the passages of an answer support its sentences and its markers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing import markers
from sextant.nodes.citing.assessment import AnswerEvidence, supporting
from sextant.nodes.citing.attached import tables_among
from sextant.nodes.citing.citations import DraftSentence, Verdict
from sextant.nodes.citing.evidence_index import Support
from sextant.nodes.citing.evidence_part import with_units_of_head
from sextant.nodes.citing.support import SupportedQuote
from sextant.text.statements import affirm_question, is_abstention, read_yes_or_no, states

Quotes = dict[int, SupportedQuote]
"""Quotes by the index of their passage."""

# Below this share of common words a marker is dropped: the passage speaks of something else.
_LEAST_SUPPORT = 0.15
SUPPORTED = 0.35
"""The least support of a citation that says what its sentence says."""
# The share of a question's terms that stand where a bare yes or no is read from.
_SURE = 0.8
# What a citation has at most whose sentence is not supported.
_MOST_UNSUPPORTED = 0.3


class SentenceJudge:
    """Judges the sentences of one answer by its passages.

    Args:
        passages: what may be cited; without any, nothing is judged.
        question: what it says needs no support.
        withheld: indexes of passages that may not be cited.
        rejected: sentences, without markers, that a model found to be unsupported.
    """

    def __init__(
        self,
        passages: Sequence[RetrievedItem],
        question: str,
        withheld: Collection[int],
        rejected: Collection[str],
    ) -> None:
        self.evidence = AnswerEvidence(passages, question)
        self._tables = tables_among(passages)
        self._withheld = frozenset(withheld)
        self._rejected = frozenset(rejected)

    def find_quotes(self, statement: str, cited: Collection[int]) -> Quotes:
        """Return the quotes that support a statement, of cited passages if these do; none if nothing does."""
        found = self.evidence.assess(statement, preferred=cited, withheld=self._withheld)
        return dict(supporting(self.evidence, found)) if found.support >= Support.FOREIGN else {}

    def quote(self, index: int, place: str, sentence: str, clause: str) -> SupportedQuote | None:
        """Return what a marker of a passage, or of a place in a table, stands for; None: it says something else.

        Args:
            index: of the passage.
            place: of a cell, row or column in a table.
            sentence: the sentence so far.
            clause: its words since the marker before.
        """
        if not 0 <= index < len(self.evidence.items) or index in self._withheld:
            return None
        if table := self._tables.get(index):
            return table.quote(place, sentence)
        quote = self.evidence.find_quote(index, clause)
        return quote if quote and (quote.foreign or quote.support >= _LEAST_SUPPORT) else None

    def judge(
        self, sentence: DraftSentence, *, is_head: bool, opens: bool, head: str = ""
    ) -> tuple[Verdict, Quotes]:
        """Judge a finished sentence, and give its markers the quotes that support it.

        Args:
            sentence: with its markers.
            is_head: whether it names the columns of a table.
            opens: whether it is the first of the answer that states something.
            head: the row that names the columns of the last table.

        Returns:
            The verdict, and the quotes of passages that support the sentence though it does not cite them.
        """
        statement = with_units_of_head(markers.statement_text(sentence.text), head)
        if not self.evidence.items or is_head or not states(statement):
            is_silent = bool(self.evidence.items) and is_abstention(statement)
            decided = self._find_decision(statement)
            silent = Verdict.SILENT if is_silent else Verdict.STATES_NOTHING
            return (Verdict.SUPPORTED if decided else silent), decided
        if " ".join(sentence.text.split()) in self._rejected:
            return Verdict.UNSUPPORTED, {}
        if by_cells := self._judge_by_cells(sentence):
            return by_cells
        cited = [index for _, index, _ in sentence.marks]
        found = self.evidence.assess(statement, preferred=cited, withheld=self._withheld)
        verdict = Verdict[found.support.name]
        if verdict is Verdict.SUPPORTED and opens and self.evidence.is_outdone(statement):
            verdict = Verdict.PARTIAL
        is_foreign = self._is_foreign(sentence, statement)
        if verdict is Verdict.SUPPORTED or (verdict is Verdict.FOREIGN and is_foreign):
            quotes = dict(supporting(self.evidence, found))
            sentence.marks = [
                (at, index, quotes.get(index, quote)) for at, index, quote in sentence.marks
            ]
            return verdict, {at: quote for at, quote in quotes.items() if at not in cited}
        if is_foreign and verdict is not Verdict.CONTRADICTED:
            return Verdict.FOREIGN, {}
        if verdict in {Verdict.FOREIGN, Verdict.UNSUPPORTED}:
            verdict = Verdict.PARTIAL if cited else Verdict.UNSUPPORTED
        sentence.marks = [
            (at, index, replace(quote, support=min(quote.support, _MOST_UNSUPPORTED)))
            for at, index, quote in sentence.marks
        ]
        return verdict, {}

    def _find_decision(self, statement: str) -> Quotes:
        """Return the quotes that say or deny what the question asks, where the statement is no more than a yes or a no."""
        is_yes, asked = read_yes_or_no(statement), affirm_question(self.evidence.question)
        if is_yes is None or not asked:
            return {}
        # What a yes says is not taken as given.
        evidence = AnswerEvidence(self.evidence.items, "") if is_yes else self.evidence
        found = evidence.assess(asked, withheld=self._withheld)
        wanted = Support.SUPPORTED if is_yes else Support.CONTRADICTED
        is_sure = found.support is wanted and found.share >= _SURE
        return dict(supporting(evidence, found)) if is_sure else {}

    def _is_foreign(self, sentence: DraftSentence, statement: str) -> bool:
        """Return whether a sentence cites only passages in another language, which have its numbers and names and no others."""
        cited = [index for _, index, _ in sentence.marks]
        return (
            bool(cited)
            and all(quote.foreign for _, _, quote in sentence.marks)
            and self.evidence.has_only_numbers(statement, cited)
            and not self.evidence.invents(statement)
        )

    def _judge_by_cells(self, sentence: DraftSentence) -> tuple[Verdict, Quotes] | None:
        """Return the same by the values of a table that came with the question; None: it does not say the sentence."""
        quotes = [quote for _, index, quote in sentence.marks if index in self._tables]
        if quotes:
            is_supported = any(quote.support >= SUPPORTED for quote in quotes)
            is_invented = self.evidence.invents(sentence.text)
            return (Verdict.SUPPORTED if is_supported and not is_invented else Verdict.PARTIAL), {}
        for index, table in self._tables.items():
            if quote := table.found(sentence.text):
                return Verdict.SUPPORTED, {index: quote}
        return None
