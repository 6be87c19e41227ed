"""Convert a chat model's extraction to evidence of the graph.

The model sees several passages at once. Its entities and relations become evidence of the passages that contain the
names. A name that no passage contains was made up, or comes from the prompt's example.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sextant.domain.graph import UNTYPED, MentionKind
from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.extraction_prompts import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    FoundEntity,
    FoundRelation,
    ModelExtraction,
    relation_type,
)
from sextant.stores.graph.evidence import (
    GraphEvidence,
    MentionRow,
    RelationRow,
    entity_id,
    one_line,
)
from sextant.text.characters import normalise, normalise_name
from sextant.text.sentences import sentence_spans
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS

_STOP_WORDS = CHINESE_STOP_WORDS | ENGLISH_STOP_WORDS
_MOST_BETWEEN = 4  # relations that a passage states of two entities; small models fill any list


class ReadPassage(NamedTuple):
    """A passage in a prompt; `heading` has the titles above its text."""

    id: UUID
    text: str
    heading: str = ""


def model_evidence(
    scope: Scope,
    passages: Sequence[ReadPassage],
    found: Mapping[int, ModelExtraction],
    types: Sequence[str],
) -> GraphEvidence:
    """Return the evidence of passages of one call.

    - An entity is mentioned by every passage that contains its name, and by the passage of its extraction if this
      contains all its words, also in its titles.
    - A relation is stated by the passage of its extraction if this contains an end, else by the first passage with
      both ends. If several passages were shown as one, it is the one with both ends, else the later one.
    - The weight of a statement is 1, since the weights of models differ from call to call.

    Args:
        scope: the knowledge base.
        passages: of the call.
        found: the extractions by the index of the passage.
        types: the types of the setting.
    """
    named = _Names(passages, found)
    evidence = [_passage_evidence(scope, index, named, types) for index in found]
    return GraphEvidence(
        [row for mentions, _ in evidence for row in mentions],
        [row for _, relations in evidence for row in relations],
    )


class _Names:
    """The entities of a call by normalised name, and their occurrences in its passages."""

    def __init__(
        self, passages: Sequence[ReadPassage], found: Mapping[int, ModelExtraction]
    ) -> None:
        self.passages = passages
        self.found = found
        self._spans: dict[tuple[str, int], tuple[int, int] | None] = {}
        ends = (
            FoundEntity(name=name)
            for one in found.values()
            for pair in one.relations
            for name in _ends_of(pair)
            if any(find_name(name, passages[index].text) != (0, 0) for index in found)
        )
        text = "\n".join(f"{one.heading}\n{one.text}" for one in passages)
        given = _distinct((entity for one in found.values() for entity in one.entities), text)
        given |= {norm: one for norm, one in _distinct(ends, text).items() if norm not in given}
        whole = normalise(text)
        self.entities = {n: one for n, one in given.items() if _has_words(one.name, whole)}

    def span(self, norm: str, index: int) -> tuple[int, int] | None:
        """Return the span of an entity's name in a passage, if any."""
        if (norm, index) not in self._spans:
            span = find_name(self.entities[norm].name, self.passages[index].text)
            self._spans[norm, index] = span if span != (0, 0) else None
        return self._spans[norm, index]

    def mentions_in(self, index: int) -> Iterator[tuple[FoundEntity, tuple[int, int]]]:
        """Yield the entities of a passage with the span of the name; (0, 0): in its titles, or words in another order."""
        own_names = {normalise_name(entity.name) for entity in self.found[index].entities}
        whole = f"{self.passages[index].heading}\n{self.passages[index].text}"
        for norm, entity in self.entities.items():
            if span := self.span(norm, index):
                text = self.passages[index].text
                description = entity.description or _sentence_with([span], text)
                yield _describe(entity, description if norm in own_names else ""), span
            elif norm in own_names and _has_words(entity.name, whole):
                yield entity, (0, 0)

    def relations_in(self, index: int) -> Iterator[FoundRelation]:
        """Yield the relations that a passage states."""
        for at, one in self.found.items():
            for relation in one.relations:
                ends = [normalise_name(name) for name in _ends_of(relation)]
                is_known = ends[0] != ends[1] and all(end in self.entities for end in ends)
                is_numbered = one.passage is not None
                if is_known and self._find_passage(ends, at, is_numbered=is_numbered) == index:
                    yield relation

    def _find_passage(self, ends: Sequence[str], at: int, *, is_numbered: bool) -> int | None:
        """Return the index of the passage that states a relation, if any."""
        mine = {index for index, one in self.found.items() if one is self.found[at]}
        having = [{index for index in self.found if self.span(end, index)} for end in ends]
        both = sorted(set.intersection(*having))
        if (own := mine.intersection(both)) or not (is_numbered or len(self.passages) == 1):
            return min(own or both, default=None)
        # A pronoun for the other end refers to an earlier passage, so the later one states the relation.
        first = [min(have & mine) for have in having if have & mine]
        return max(first or both[:1], default=None)


def _passage_evidence(
    scope: Scope, index: int, named: _Names, types: Sequence[str]
) -> tuple[list[MentionRow], list[RelationRow]]:
    passage = named.passages[index]
    mentions = {
        normalise_name(entity.name): _mention(scope, passage.id, entity, span, types)
        for entity, span in named.mentions_in(index)
    }
    stated: dict[tuple[UUID, UUID, str], RelationRow] = {}
    between = Counter[frozenset[UUID]]()
    for relation in named.relations_in(index):
        ends = [normalise_name(name) for name in _ends_of(relation)]
        for end in ends:  # also an end that a pronoun stands for
            entity = named.entities[end]
            mentions.setdefault(
                end, _mention(scope, passage.id, _describe(entity, ""), (0, 0), types)
            )
        source, target = (entity_id(scope, end) for end in ends)
        kind = relation_type(relation.type)
        description = relation.description or _sentence_with(
            [named.span(end, index) for end in ends], passage.text
        )
        row = RelationRow(source, target, kind, passage.id, 1.0, description)
        between[frozenset((source, target))] += (source, target, kind) not in stated
        if between[frozenset((source, target))] <= _MOST_BETWEEN:
            stated.setdefault((source, target, kind), row)
    return list(mentions.values()), list(stated.values())


def _describe(entity: FoundEntity, description: str) -> FoundEntity:
    """Return an entity with the description by one passage."""
    return FoundEntity(name=entity.name, type=entity.type, description=description)


def _sentence_with(spans: Sequence[tuple[int, int] | None], text: str) -> str:
    """Return the sentence of a passage that contains all spans; "" if there is none."""
    found_spans = [span for span in spans if span is not None]
    if len(found_spans) < len(spans):
        return ""
    for start, end in sentence_spans(text):
        if all(start <= span[0] and span[1] <= end for span in found_spans):
            return one_line(text[start:end])[:LONGEST_DESCRIPTION]
    return ""


def _ends_of(relation: FoundRelation) -> tuple[str, str]:
    return relation.source, relation.target


def _distinct(entities: Iterable[FoundEntity], text: str) -> dict[str, FoundEntity]:
    """Return entities by normalised name, of several the one with a type and the longest description.

    Numbers are none, nor are words that are spelt as names only where a sentence begins.
    """
    found: dict[str, FoundEntity] = {}
    for entity in entities:
        norm = normalise_name(entity.name)
        if norm in _STOP_WORDS and not _is_spelt_as_name(entity.name, text):
            continue
        if len(entity.name) > LONGEST_NAME or not any(map(str.isalpha, norm)):
            continue
        before = found.get(norm)
        if before is None or _informativeness(entity) > _informativeness(before):
            found[norm] = entity
    return found


def _is_spelt_as_name(word: str, text: str) -> bool:
    """Return whether a stop word is a name by its capitals: US, WHO, Will in "she met Will"."""
    in_sentence = re.search(rf"[a-z,] {re.escape(word)}\b", text) is not None
    return len(word) > 1 and (word.isupper() or (word.istitle() and in_sentence))


def _informativeness(entity: FoundEntity) -> tuple[bool, int]:
    return bool(entity.type), len(entity.description)


def _mention(
    scope: Scope,
    chunk_id: UUID,
    entity: FoundEntity,
    span: tuple[int, int],
    types: Sequence[str],
) -> MentionRow:
    start, end = span
    return MentionRow(
        entity_id(scope, entity.name),
        chunk_id,
        MentionKind.MODEL,
        entity.name,
        _type(entity.type, types),
        entity.description,
        start=start,
        end=end,
    )


def _type(name: str, types: Sequence[str]) -> str:
    """Return the type as the setting spells it; TERM for others."""
    known = {normalise(one): one for one in types}
    return known.get(normalise(name), UNTYPED)


def find_name(name: str, text: str) -> tuple[int, int]:
    """Return the first span of a name in a text, in any case and with any white space; (0, 0) if there is none.

    A Latin word matches as a whole, or in the plural.
    """
    words = [re.escape(word) for word in name.split()]
    if not words:
        return 0, 0
    before = _NO_LETTER_BEFORE if _LATIN.match(name.strip()) else ""
    after = _NO_LETTER_AFTER if _LATIN.match(name.strip()[-1]) else ""
    spaced = r"\s+".join(words)
    match = re.search(f"{before}({spaced}){after}", text, re.IGNORECASE)
    return match.span(1) if match else (0, 0)


_LATIN = re.compile(r"[a-z0-9]", re.IGNORECASE)
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = r"(?<![a-zA-Z0-9])", r"(?:e?s)?(?![a-zA-Z0-9])"


def _has_words(name: str, text: str) -> bool:
    """Return whether a text contains all words of a name in any order, both normalised."""
    plain = normalise(text)
    return all(find_name(word, plain) != (0, 0) for word in normalise(name).split())
