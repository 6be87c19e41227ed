"""What a question asks about that the passages lack, so that what they say may be of something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import compress

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import document_of, is_row, told_by, told_by_documents
from sextant.models.offline.question_words import QuestionWords, cells_of
from sextant.models.offline.sentence_form import is_for_all_others
from sextant.models.offline.standing import Standing
from sextant.models.offline.wording import asked_things, compounds, owner_asked
from sextant.text.other_words import find_compounds


class Gaps:
    """What some passages lack of one question.

    Attributes:
        things: how many the question asks about.
        missing: for each passage, the share of them that nothing found of its document holds.
        unowned: for each passage, whether it has no word of what a property is asked of, nor have most of its
            document's.
    """

    def __init__(
        self,
        question: str,
        words: QuestionWords,
        standing: Standing,
        passages: Sequence[RetrievedItem],
    ) -> None:
        # "Meals per day" is what is asked of a row.
        cells = (cell for _, row in standing.rows() for cell in cells_of(row))
        called = dict.fromkeys(cell for cell in cells if words.name(cell))
        things = asked_things(question, [*find_compounds(question), *called])
        self.things = len(things)
        self.missing = [words.missing_of(things, told) for told in told_by_documents(passages)]
        self.unowned = _unowned(owner_asked(question), words, standing, passages)
        self._compounds = compounds(question)

    def torn(self, held: frozenset[str]) -> float:
        """Return the share of the question's compounds of which it has the head alone: of sick leave "leave"."""
        torn = sum(head in held and kind not in held for kind, head in self._compounds)
        return torn / (len(self._compounds) or 1)


def _unowned(
    owner: Sequence[str],
    words: QuestionWords,
    standing: Standing,
    passages: Sequence[RetrievedItem],
) -> list[bool]:
    """See `Gaps`; a table with a row for all others has one for every owner."""
    if not owner:
        return [False] * len(passages)
    for_others = {
        source
        for (source, *_), text in zip(standing.spans, standing.texts, strict=True)
        if is_row(text) and is_for_all_others(text)
    }
    owners = [[word] for word in owner]
    lacks = [words.missing_of(owners, told_by(passage)) == 1 for passage in passages]
    documents = [document_of(passage) for passage in passages]
    lacking, every = Counter(compress(documents, lacks)), Counter(documents)
    return [
        lacks[place] and lacking[document] > every[document] / 2 and place not in for_others
        for place, document in enumerate(documents)
    ]
