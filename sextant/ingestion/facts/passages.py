"""What a graph says of one entity as a document: a passage for its description, and for what it does to others.

Also here: facts in words.
"""

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

# What separates the words of a type: TREATS_WITH, born-in; and humps: bornIn, HTTPServer.
_GAPS = re.compile(r"[_\s-]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# http://schema.org/birthPlace, wdt:P57, schema:birthPlace.
_NAMESPACE = re.compile(r"^(?:\w+://\S*[/#]|[\w.-]+:)(?=[^/#:\s]+$)")

# Verbs that neither -s nor -ed tells, and participles that want a form of "to be" before their preposition.
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
# Words for persons and what they are to others, which the dictionary takes for verbs.
_CHINESE_NOUNS = frozenset(
    ["导演", "導演", "编剧", "編劇", "主编", "教练", "领导", "代表", "配偶", "禁忌", "总监"]
)
_CHINESE_JOINTS = tuple("于於在为為是自到至出给給由被对對")

_LONGEST_PHRASE = 80  # characters; what is longer is hard to read in brackets


def sentence(
    subject: str, relation_type: str, targets: Sequence[str], description: str = ""
) -> str:
    """Return what relations of one type from one subject say, as one sentence.

    What a description adds stands in brackets where it is a phrase; whole sentences follow.

    >>> sentence("Insulin", "TREATS", ["type 1 diabetes", "type 2 diabetes"])
    'Insulin treats type 1 diabetes and type 2 diabetes.'
    >>> sentence("张三", "好友", ["李四"], "自2001年")
    '张三的好友是李四（自2001年）。'
    """
    chinese = has_cjk(subject) or has_cjk(relation_type)
    clause = _clause(subject, readable(relation_type), _join_names(targets, chinese=chinese))
    if not description:
        return end_sentence(clause, chinese=chinese)
    if is_ended(description) or len(description) > _LONGEST_PHRASE:
        return f"{end_sentence(clause, chinese=chinese)}{'' if chinese else ' '}{end_sentence(description)}"
    added = f"（{description}）" if chinese else f" ({description})"
    return end_sentence(clause + added, chinese=chinese)


def also_called(name: str, aliases: Sequence[str]) -> str:
    """Return what else an entity is called, as a sentence."""
    if has_cjk(name):
        return end_sentence(
            _together(name, "又称", _join_names(aliases, chinese=True)), chinese=True
        )
    return end_sentence(
        f"{name} is also called {_join_names(aliases, chinese=False)}", chinese=False
    )


def describe_entity(name: str, description: str) -> str:
    """Return a description that says of whom it is: as it stands where it names its entity."""
    name_pattern = re.escape(normalise(name))
    if re.search(
        name_pattern if has_cjk(name) else rf"(?<!\w){name_pattern}(?!\w)", normalise(description)
    ):
        return end_sentence(description)
    chinese = has_cjk(description)
    return end_sentence(f"{name}{'：' if chinese else ': '}{description}", chinese=chinese)


@remember_short(4096)
def readable(relation_type: str) -> str:
    """Return a relation's type as one would say it: `ACTED_IN` is "acted in", `birthPlace` "birth place".

    What has spaces is somebody's words already and stays; so do Chinese, and codes like P57.
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
        return _together(subject + particles[0], verb + particles[1], objects)
    if verbal := _predicate(verb):
        return f"{subject} {verbal} {objects}"
    return f"{subject}，{verb}：{objects}" if has_cjk(subject) else f"{subject}, {verb}: {objects}"


@remember_short(4096)
def _predicate(verb: str) -> str:
    """Return an English type as it stands between subject and object; empty for a noun."""
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
    """Return whether a Chinese type stands between subject and object (治疗, 毕业于), or is what the subject has."""
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


def _together(*parts: str) -> str:
    """Return Chinese parts without spaces between them, others with one: 张三毕业于 MIT."""
    text = ""
    for part in parts:
        gap = text and part and (_is_latin(text[-1]) or _is_latin(part[0]))
        text += (" " if gap else "") + part
    return text


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


# The tag of these documents, by which a search can take only them.
TAG = "graph"

# Facts that one passage tells together: a question for all of a kind finds them in few passages, and
# none of them is lost among the others.
_TOGETHER = 8
_NAMES_CHARS = 400  # characters of their names together
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
    external_id: str = ""
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
        metadata={"tags": [TAG], FACTS_OF: (subject.external_id or subject.name)[:_LONGEST_KEY]},
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
    """Yield facts of one type as passages tell them: one with a description by itself, others together."""
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
