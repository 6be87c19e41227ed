"""What a graph says of one entity as a document: a passage for its description, and for what it does to others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from sextant.domain.graph import FACTS_OF
from sextant.ingestion.facts.sentences import also_called, describe_entity, sentence
from sextant.ingestion.transfer.lines import LONGEST_TITLE, ChunkLine, DocumentLine
from sextant.stores.graph.ids import NIL
from sextant.text.characters import has_cjk
from sextant.text.sentences import sentence_spans

# The tag of these documents, by which a search can take only them.
TAG = "graph"

# Facts that one passage tells together: a question for all of a kind finds them in few passages, and
# none of them is lost among the others.
_TOGETHER = 8
_ROOM = 400  # characters of their names together
_LONGEST = 1000  # characters of a passage that tells a description
_LONGEST_KEY = 800  # of a document's id: keys are up to 100,000 characters long
_LONGEST_STEM = 200  # of a file name, before what says that it is of a graph


@dataclass(frozen=True, slots=True)
class Subject:
    """An entity of which a graph says something.

    `key` tells it from all others and stays from import to import; `plain`: its name alone means it, and not
    another of that name.
    """

    key: str
    name: str
    own_id: str = ""
    description: str = ""
    plain: bool = True


class Fact(NamedTuple):
    """What a subject is to another entity; `target` is that one's key, `name` what it is called."""

    relation_type: str
    target: str
    name: str
    description: str = ""
    entity_id: UUID = NIL
    weight: float = 1.0


class FactPassage(NamedTuple):
    """A passage, and the facts that it states."""

    line: ChunkLine
    facts: Sequence[Fact]


def document_of(subject: Subject) -> DocumentLine:
    """Return the document that has the passages of an entity; its id is the same in every import."""
    key = subject.key
    if len(key) > _LONGEST_KEY:
        key = sha256(key.encode()).hexdigest()
    name = subject.name[:_LONGEST_STEM].replace("/", "-")
    return DocumentLine(
        id=f"facts of {key}",
        title=subject.name[:LONGEST_TITLE],
        filename=f"{name}（图谱）" if has_cjk(name) else f"{name} (graph)",
        metadata={"tags": [TAG], FACTS_OF: (subject.own_id or subject.name)[:_LONGEST_KEY]},
    )


def passages_of(
    subject: Subject, facts: Iterable[Fact], aliases: Sequence[str] = ()
) -> Iterator[FactPassage]:
    """Yield the passages of an entity: its description, its other names, then its facts in the order of their types.

    Args:
        subject: the entity.
        facts: what it is to others, those of one type together and each once.
        aliases: what else it is called; a question by these words alone would find them in no passage.
    """
    document = document_of(subject).id
    own = [subject.name] if subject.plain else []
    for number, piece in enumerate(_pieces(subject.description)):
        text = piece if number else describe_entity(subject.name, piece)
        yield FactPassage(_chunk(document, text, f"description {number}", entities=own), ())
    for some in _in_passages(Fact("alias", "", alias) for alias in aliases):
        text = also_called(subject.name, [one.name for one in some])
        yield FactPassage(_chunk(document, text, "aliases", entities=own), ())
    for relation_type, said in groupby(facts, lambda fact: fact.relation_type):
        for some in _in_passages(said):
            names = [fact.name for fact in some]
            first, *rest = _pieces(some[0].description) or [""]
            text = sentence(subject.name, relation_type, names, first)
            stated = "\0".join([relation_type, *(fact.target for fact in some)])
            yield FactPassage(_chunk(document, text, stated), some)
            for number, piece in enumerate(rest):
                yield FactPassage(_chunk(document, piece, f"{stated}\0{number}"), ())


def _in_passages(facts: Iterable[Fact]) -> Iterator[list[Fact]]:
    """Yield facts of one type as passages tell them: one with a description by itself, others together."""
    some, length = list[Fact](), 0
    for fact in facts:
        if fact.description.strip():
            yield [fact]
            continue
        if some and (len(some) == _TOGETHER or length + len(fact.name) > _ROOM):
            yield some
            some, length = [], 0
        some.append(fact)
        length += len(fact.name)
    if some:
        yield some


def _chunk(document: str, text: str, stated: str, entities: Sequence[str] = ()) -> ChunkLine:
    """Return a passage whose id is made from all that it says: if a fact of it changes, it is another one."""
    digest = sha256(f"{stated}\0{text}".encode()).hexdigest()[:16]
    return ChunkLine(
        id=f"{document} {digest}", document_id=document, text=text, entities=[*entities]
    )


def _pieces(description: str) -> list[str]:
    """Return a description as passages of whole sentences, each on one line; a longer sentence is cut."""
    text = " ".join(description.split())
    pieces, start, end = list[str](), 0, 0
    for begin, stop in sentence_spans(text):
        if stop - start > _LONGEST:
            pieces.append(text[start:end])
            start = begin
            while stop - start > _LONGEST:
                pieces.append(text[start : start + _LONGEST])
                start += _LONGEST
        end = stop
    return [piece.strip() for piece in (*pieces, text[start:end]) if piece.strip()]
