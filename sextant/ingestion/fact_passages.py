"""Write a document of what a graph says of an entity: its description, other names, and relations as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from sextant.domain.graph import FACTS_OF
from sextant.ingestion.transfer.lines import LONGEST_TITLE, ChunkLine, DocumentLine
from sextant.stores.graph.arrays import NIL
from sextant.text.characters import has_cjk, normalise, remember_short
from sextant.text.segmenter import cut_tagged_words
from sextant.text.sentences import end_sentence, is_ended, sentence_spans

# Between the words of a type: TREATS_WITH, born-in, bornIn, HTTPServer.
_GAPS = re.compile(r"[_\s-]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# http://schema.org/birthPlace, wdt:P57, schema:birthPlace.
_NAMESPACE = re.compile(r"^(?:\w+://\S*[/#]|[\w.-]+:)(?=[^/#:\s]+$)")

# Verbs without -s or -ed, and participles that need a form of "to be" before their preposition.
_VERBS = frozenset(
    ("is", "are", "was", "were", "has", "have", "had", "can", "may", "must", "does", "do", "did",
     "wrote", "made", "won", "led", "built", "sold", "bought", "taught", "met", "held", "ran", "began",
     "became", "gave", "took", "found", "left", "fought", "sang", "lost", "sent")
)  # fmt: skip
_PARTICIPLES = frozenset(
    ("born", "seen", "located", "based", "situated", "headquartered", "known", "used", "made",
     "named", "married", "related", "derived", "associated", "composed")
)  # fmt: skip
_PREPOSITIONS = frozenset(
    ("in", "at", "by", "to", "for", "with", "from", "on", "as", "under", "into", "near", "of", "about",
     "over", "against", "after", "before")
)  # fmt: skip
# Nouns that the segmenter tags as verbs.
_CHINESE_NOUNS = frozenset(
    ["导演", "導演", "编剧", "編劇", "主编", "教练", "领导", "代表", "配偶", "禁忌", "总监"]
)
_CHINESE_JOINTS = tuple("于於在为為是自到至出给給由被对對")


def sentence(
    subject: str, relation_type: str, targets: Sequence[str], description: str = ""
) -> str:
    """Return the relations of one type from one subject as a sentence.

    A description follows in brackets if it is a phrase, else as it stands.

    >>> sentence("Insulin", "TREATS", ["type 1 diabetes", "type 2 diabetes"])
    'Insulin treats type 1 diabetes and type 2 diabetes.'
    >>> sentence("张三", "好友", ["李四"], "自2001年")
    '张三的好友是李四（自2001年）。'
    """
    chinese = has_cjk(subject) or has_cjk(relation_type)
    clause = _clause(subject, readable(relation_type), _join_names(targets, chinese=chinese))
    if not description:
        return end_sentence(clause, chinese=chinese)
    # A longer phrase is hard to read in brackets.
    if is_ended(description) or len(description) > 80:
        return f"{end_sentence(clause, chinese=chinese)}{'' if chinese else ' '}{end_sentence(description)}"
    added = f"（{description}）" if chinese else f" ({description})"
    return end_sentence(clause + added, chinese=chinese)


def also_called(name: str, aliases: Sequence[str]) -> str:
    """Return the other names of an entity, as a sentence."""
    if has_cjk(name):
        return end_sentence(
            _join_words(name, "又称", _join_names(aliases, chinese=True)), chinese=True
        )
    return end_sentence(
        f"{name} is also called {_join_names(aliases, chinese=False)}", chinese=False
    )


def describe_entity(name: str, description: str) -> str:
    """Return a description with the name before it, unless it contains the name."""
    name_pattern = re.escape(normalise(name))
    if re.search(
        name_pattern if has_cjk(name) else rf"(?<!\w){name_pattern}(?!\w)", normalise(description)
    ):
        return end_sentence(description)
    chinese = has_cjk(description)
    return end_sentence(f"{name}{'：' if chinese else ': '}{description}", chinese=chinese)


@remember_short(4096)
def readable(relation_type: str) -> str:
    """Return a relation's type in words: "acted in" for `ACTED_IN`, "birth place" for `birthPlace`.

    Types with spaces, Chinese types and codes like P57 stay as they are.
    """
    spelling = relation_type.strip()
    if has_cjk(spelling):
        return spelling.replace("_", "")
    if " " in spelling:
        return spelling
    spelling = _NAMESPACE.sub("", spelling)
    words = [word for word in _GAPS.split(spelling) if word]
    if not words or any(char.isdigit() for char in spelling):
        return " ".join(words) or relation_type
    shouted = spelling.isupper() and (len(spelling) > 3 or spelling.lower() in _VERBS)  # CEO stays
    return " ".join(
        word if word.isupper() and len(word) > 1 and not shouted else word.lower() for word in words
    )


def _clause(subject: str, verb: str, objects: str) -> str:
    if has_cjk(verb):
        particles = ("", "") if _is_chinese_verb(verb) else ("的", "是")
        return _join_words(subject + particles[0], verb + particles[1], objects)
    if verbal := _predicate(verb):
        return f"{subject} {verbal} {objects}"
    return f"{subject}，{verb}：{objects}" if has_cjk(subject) else f"{subject}, {verb}: {objects}"


@remember_short(4096)
def _predicate(verb: str) -> str:
    """Return an English type as a predicate between subject and object; empty for a noun."""
    words = verb.lower().split()
    first, last = words[0], words[-1]
    if first in _PARTICIPLES and last in _PREPOSITIONS and len(words) > 1:
        return f"{'was' if first == 'born' else 'is'} {verb}"
    if last == "by" and first not in _VERBS:
        return f"is {verb}"
    if first in _VERBS or (first.endswith("ed") and len(first) > 3):
        return verb
    if first.endswith("s") and not first.endswith(("ss", "us", "is")) and len(first) > 3:
        return verb
    if last == "of":
        return f"is {verb}"
    return verb if last in _PREPOSITIONS else ""


@lru_cache(maxsize=4096)
def _is_chinese_verb(verb: str) -> bool:
    """Return whether a Chinese type is a verb (治疗, 毕业于) and not a noun (好友)."""
    if verb.endswith(_CHINESE_JOINTS):
        return True
    word, tag = cut_tagged_words(verb)[-1]
    return tag.startswith("v") and word not in _CHINESE_NOUNS


def _join_names(names: Sequence[str], *, chinese: bool) -> str:
    if chinese:
        return ("；" if any("、" in name for name in names) else "、").join(names)
    if len(names) < 2:
        return "".join(names)
    comma = "; " if any("," in name or " and " in name for name in names) else ", "
    if comma == "; ":
        return comma.join(names)
    return f"{comma.join(names[:-1])} and {names[-1]}"


def _join_words(*parts: str) -> str:
    """Join parts with a space beside Latin letters only: 张三毕业于 MIT."""
    text = ""
    for part in parts:
        gap = text and part and (_is_latin(text[-1]) or _is_latin(part[0]))
        text += (" " if gap else "") + part
    return text


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


# The tag of these documents, by which a search can take only them.
TAG = "graph"

# Facts in one passage: a list is found in few passages, and none of its items is lost among the others.
_TOGETHER = 8
_NAMES_CHARS = 400  # of the names in one passage
_LONGEST = 1000  # characters of a passage with a description
_LONGEST_KEY = 800  # characters of a document's id; names have up to 100,000


@dataclass(frozen=True, slots=True)
class Subject:
    """An entity with facts.

    `key` identifies it in every import; `plain`: it is the first entity of its name, not a homonym.
    """

    key: str
    name: str
    external_id: str = ""
    description: str = ""
    plain: bool = True


class Fact(NamedTuple):
    """A relation of a subject to another entity, given by its key (`target`) and `name`."""

    relation_type: str
    target: str
    name: str
    description: str = ""
    entity_id: UUID = NIL
    weight: float = 1.0


class FactPassage(NamedTuple):
    """A passage with the facts that it states."""

    line: ChunkLine
    facts: Sequence[Fact]


def document_of(subject: Subject) -> DocumentLine:
    """Return the document for the passages of an entity; its id is the same in every import."""
    key = subject.key
    if len(key) > _LONGEST_KEY:
        key = sha256(key.encode()).hexdigest()
    name = subject.name[:200].replace("/", "-")
    return DocumentLine(
        id=f"facts of {key}",
        title=subject.name[:LONGEST_TITLE],
        filename=f"{name}（图谱）" if has_cjk(name) else f"{name} (graph)",
        metadata={"tags": [TAG], FACTS_OF: (subject.external_id or subject.name)[:_LONGEST_KEY]},
    )


def passages_of(
    subject: Subject, facts: Iterable[Fact], aliases: Sequence[str] = ()
) -> Iterator[FactPassage]:
    """Yield the passages of an entity: its description, its other names, then its facts by type.

    Args:
        subject: the entity.
        facts: its relations, ordered by type, each once.
        aliases: its other names, so that a question by one of them finds the entity.
    """
    document = document_of(subject).id
    shown_names = [subject.name] if subject.plain else []
    for number, piece in enumerate(_pieces(subject.description)):
        text = piece if number else describe_entity(subject.name, piece)
        yield FactPassage(_chunk(document, text, f"description {number}", entities=shown_names), ())
    for some in _in_passages(Fact("alias", "", alias) for alias in aliases):
        text = also_called(subject.name, [one.name for one in some])
        yield FactPassage(_chunk(document, text, "aliases", entities=shown_names), ())
    for relation_type, facts_of_type in groupby(facts, lambda fact: fact.relation_type):
        for some in _in_passages(facts_of_type):
            names = [fact.name for fact in some]
            first, *rest = _pieces(some[0].description) or [""]
            text = sentence(subject.name, relation_type, names, first)
            stated = "\0".join([relation_type, *(fact.target for fact in some)])
            yield FactPassage(_chunk(document, text, stated), some)
            for number, piece in enumerate(rest):
                yield FactPassage(_chunk(document, piece, f"{stated}\0{number}"), ())


def _in_passages(facts: Iterable[Fact]) -> Iterator[list[Fact]]:
    """Group facts of one type by passage; one with a description has its own."""
    some, length = list[Fact](), 0
    for fact in facts:
        if fact.description.strip():
            yield [fact]
            continue
        if some and (len(some) == _TOGETHER or length + len(fact.name) > _NAMES_CHARS):
            yield some
            some, length = [], 0
        some.append(fact)
        length += len(fact.name)
    if some:
        yield some


def _chunk(document: str, text: str, stated: str, entities: Sequence[str] = ()) -> ChunkLine:
    """Return a passage; its id is a hash of its content."""
    digest = sha256(f"{stated}\0{text}".encode()).hexdigest()[:16]
    return ChunkLine(
        id=f"{document} {digest}", document_id=document, text=text, entities=[*entities]
    )


def _pieces(description: str) -> list[str]:
    """Cut a description into passages of whole sentences; a sentence longer than a passage is cut."""
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
