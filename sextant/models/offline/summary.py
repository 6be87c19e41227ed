"""A summary of one document that the question names: what its sections say first, quoted in their order.

"Summarise the incident of 11 February" and 总结一下员工手册 ask for no sentence in particular, so none shares words
with them but the title. The sentences that open a text or a section tell best what it is about (Brandow et al. 1995,
doi:10.1016/0306-4573(95)00052-I).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidates import Sentence
from sextant.models.offline.passages import (
    Span,
    document_of,
    is_row,
    names_of_document,
    quotable_spans,
    read_full_text,
    section_of,
)
from sextant.models.offline.wording import content_words, is_question, strip_borrowed_part
from sextant.text.analysis import codes_and_versions_in, codes_in
from sextant.text.characters import IDEOGRAPHS, has_cjk, plain_of, simplify
from sextant.text.sentences import is_ended

_ASKS = re.compile(
    r"\b(?:summari[sz]e|summary|sum up|overview|outline|gist"
    r"|(?:key|main) (?:points|takeaways|content|contents|topics))\b"
    r"|总结|概括|概述|归纳|摘要|概要|要点|主要(?:内容|讲|说)"
)
_SUMS_UP = re.compile(
    r"\b(?:summari[sz]e|sum up|(?:summary|overview|outline) of)\b|总结|概括|概述|归纳|梳理|综述"
)
# Of a meeting or a letter, whose name has to be all that is left of the question.
_ASKS_OF_WHOLE = re.compile(
    r"\bwhat (?:is|was|does|do|did|were|has been)\b.*\b(?:about|say|cover|decided?|agreed?|discuss(?:ed)?)\b"
    r"|(?:讲|说|谈)了?(?:些|的)?(?:是)?(?:什么|哪些)|(?:决定|讨论|商定|议定|通过|约定)了?(?:什么|哪些)|有(?:什么|哪些)(?:决定|决议|内容)"
)
_DECIDED = re.compile(r"\b(?:decided?|decisions?|agreed?)\b|决定|决议|议定|商定")
_ASKING = re.compile(
    rf"{_ASKS.pattern}|\b(?:about|says?|covers?|decided?|agreed?|discuss(?:ed)?|give|please|brief(?:ly)?|short|document|report|file|text|thread)\b"
    r"|讲|说|谈|决定|讨论|商定|议定|通过|约定|决议|内容|一下|简要|简单|什么|哪些|主要|文档|文件|全文"
)
_NAMES = "january february march april may june july august september october november december"
_MONTHS = tuple(_NAMES.split())
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b")
_NUMBER = re.compile(r"\d+")
# "The limits are in the table below": says what the table is of, and not what it holds.
_POINTS_TO_TABLE = re.compile(
    r"[见見如](?:下|上|附)?表|[下上附]表(?:所示)?|\b(?:table|list) (?:below|above)|\b(?:following|next) (?:table|list)",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(r"怎|如何|什么|哪些|\b(?:what|how)\b")
_ASKS_HOW = re.compile(r"怎|如何|\bhow (?:to|do|does|can|could|should|is|are)\b")
_CHANGES = re.compile(r"变化|改动|变更|更新|版本|\b(?:chang\w*|new|version|release)\b")
_CAPITALISED = re.compile(rf"\b[A-Z](?:(?![{IDEOGRAPHS}])[\w-])+")
_ENOUGH = 0.6  # of the words of a question that a name must have
_QUOTES = 6
# "Date: 12 March", 主持：…: fields that head a letter or minutes.
_FIELD = re.compile(r"[^\s:：]{1,20}(?: [^\s:：]{1,12})?[:：](?!//)")


def summary_of_named(question: str, items: Sequence[RetrievedItem]) -> list[Span]:
    """Return the quotations that sum up the document which `question` asks a summary of; none where it asks for none.

    Args:
        question: the question.
        items: the passages found, best first.
    """
    named = named_for_summary(question, items)
    passages = [index for index, item in enumerate(items) if document_of(item) == named]
    passages.sort(key=lambda index: items[index].metadata.get("start", 0))
    passages = _about_rest(question, items, passages)
    return _leads(passages, items, decided=_DECIDED.search(plain_of(question)) is not None)


def named_for_summary(question: str, items: Sequence[RetrievedItem]) -> str | None:
    """Return the id of the one document that `question` asks a summary of; None for any other question."""
    plain = _count_months(question)
    if not (_ASKS.search(plain) or _ASKS_OF_WHOLE.search(plain)):
        return None
    enough = _ENOUGH if _ASKS.search(plain) else 1.0
    words = _read_words(plain)
    found = {document_of(item): _share_of_words(words, item) for item in items}
    most = max(found.values(), default=0.0)
    named = [document for document, share in found.items() if share == most]
    return named[0] if words and len(named) == 1 and most >= enough else None


def _count_months(question: str) -> str:
    return _MONTH.sub(lambda one: str(_MONTHS.index(one[1]) + 1), plain_of(question))


def _read_words(plain: str) -> list[str]:
    return content_words(_ASKING.sub(" ", plain))


def _about_rest(
    question: str, items: Sequence[RetrievedItem], passages: Sequence[int]
) -> list[int]:
    """Return the passages that have words of `question` beyond the document's name; all, where none has."""
    words = _read_words(_count_months(question))
    rest = [
        word for word in words if any(not _share_of_words([word], items[at]) for at in passages)
    ]
    texts = [read_full_text(items[at]) for at in passages]
    about = [at for at, text in zip(passages, texts, strict=True) if any(map(text.count, rest))]
    return about or list(passages)


def read_named_section(
    question: str, items: Sequence[RetrievedItem], sentences: Sequence[Sentence]
) -> list[Sentence]:
    """Return all sentences of the one short section whose title is all that `question` names: "What happens in week 3?".

    Where a code or version names it, a word and names may stand beside that (E-17怎么处理, "What changed in Heron
    2.5.0?"); of a long section that alone is asked for, the first sentences are returned. Where the section speaks of
    the word ("What colour is the E-17?"), only the sentences that do are, unless one asks how. A code that opens a
    sentence is the title of what follows, up to the next one: "E25 The cover is loose. Press it."

    Args:
        question: one that asks for nothing of a kind.
        items: the passages found.
        sentences: what may be quoted of them.
    """
    stated = simplify(strip_borrowed_part(question))
    words, codes = set(content_words(stated)), _read_codes(stated)
    named = " ".join([*_CAPITALISED.findall(stated), *_CHANGES.findall(plain_of(stated))])
    others = words - codes - set(content_words(named))
    is_named_by_code = codes and len(others) <= 1 and _ASKS_WHAT.search(plain_of(stated))
    sections = defaultdict[tuple[str, ...], list[Sentence]](list)
    code, before = "", None
    for one in sentences:
        path = tuple(items[one.source].metadata.get("section_path") or ())
        code = _read_opening_code(one) or (code if _goes_on(before, one, items) else "")
        before = one
        for title in (simplify(section_of(items[one.source])), code):
            if (words and words == set(content_words(title))) or (
                is_named_by_code and codes == _read_codes(title)
            ):
                sections[document_of(items[one.source]), *path].append(one)
                break
    found = next(iter(sections.values())) if len(sections) == 1 else []
    found.sort(key=lambda one: (items[one.source].metadata.get("start", 0), one.start))
    is_long = len(found) > _QUOTES
    about = [one for one in found if others.intersection(content_words(one.text))]
    if about and is_named_by_code and (is_long or not _ASKS_HOW.search(plain_of(stated))):
        return about[:_QUOTES]
    return [] if is_long and (others or not codes) else found[:_QUOTES]


def _read_opening_code(sentence: Sentence) -> str:
    """Return the code that opens a sentence; "" for none."""
    opening = sentence.text.partition(" ")[0]
    return next((code for code in codes_in(opening) if opening.startswith(code)), "")


def _goes_on(before: Sentence | None, sentence: Sentence, items: Sequence[RetrievedItem]) -> bool:
    """Return whether a sentence stands right behind another one in its paragraph."""
    if before is None or before.source != sentence.source:
        return False
    between = items[sentence.source].text[before.end : sentence.start]
    return "\n" not in between and not between.strip()


def _read_codes(text: str) -> set[str]:
    return set(map(plain_of, codes_and_versions_in(text)))


def is_summary_of_topic(question: str, items: Sequence[RetrievedItem]) -> bool:
    """Return whether `question` asks to sum up a topic, and not one document."""
    return bool(_SUMS_UP.search(plain_of(question))) and named_for_summary(question, items) is None


def open_documents(items: Sequence[RetrievedItem], limit: int) -> list[Span]:
    """Return the sentences that tell best what each of the documents is about.

    Args:
        items: passages of these documents, their first ones among them.
        limit: of sentences in all; each document has at least one.
    """
    passages = defaultdict[str, list[int]](list)
    for index in sorted(range(len(items)), key=lambda at: items[at].metadata.get("start", 0)):
        passages[document_of(items[index])].append(index)
    each = max(1, limit // (len(passages) or 1))
    opened = list[Span]()
    for places in passages.values():
        leads = _leads(places, items, decided=False)
        rows = ((places[0], *span) for span in quotable_spans(items[places[0]].text))
        opened += leads[:each] or islice(rows, 1)
    return opened


def _share_of_words(words: Sequence[str], item: RetrievedItem) -> float:
    """Return the share of `words` that the names of a passage's document have, days and numbers as numbers."""
    names = plain_of(names_of_document(item))
    numbers = {int(number) for number in _NUMBER.findall(names)}
    found = [
        int(word) in numbers
        if word.isdecimal()
        else bool(re.search(rf"(?<![a-z\d]){re.escape(word)}", names))
        for word in words
    ]
    return sum(found) / (len(found) or 1)


def _leads(passages: Sequence[int], items: Sequence[RetrievedItem], *, decided: bool) -> list[Span]:
    """Return the first sentences of the passages by turns, or those that tell a decision, in their order."""
    found = [[(index, *span) for span in _telling(items[index].text)] for index in passages]
    if decided:
        decisions = [
            [one for one in spans if _DECIDED.search(plain_of(items[one[0]].text[one[1] : one[2]]))]
            for spans in found
        ]
        found = decisions if any(decisions) else found
    found = _spread([spans for spans in found if spans])
    longest = max(map(len, found), default=0)
    in_turn = [spans[at] for at in range(longest) for spans in found if at < len(spans)]
    chosen = in_turn[:_QUOTES]
    return sorted(chosen, key=lambda one: (passages.index(one[0]), one[1]))


def _spread(found: list[list[Span]]) -> list[list[Span]]:
    """Return as many passages as there are quotations, spread over the whole document."""
    last = len(found) - 1
    if last < _QUOTES:
        return found
    return [found[round(at * last / (_QUOTES - 1))] for at in range(_QUOTES)]


def _telling(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences that say something: no rows, references to tables, questions, letter heads, or lines of two words.

    Where there are whole sentences, nothing else: a line without a stop is a title, a date, or an item.
    """
    spans = list(quotable_spans(text))
    ended = [span for span in spans if is_ended(text[slice(*span)])]
    for start, end in ended or spans:
        sentence = text[start:end]
        long_enough = len(sentence) >= 10 if has_cjk(sentence) else len(sentence.split()) > 3
        is_field = _FIELD.match(sentence) and not _DECIDED.search(plain_of(sentence))
        if (
            not (is_row(sentence) or is_question(sentence))
            and long_enough
            and not is_field
            and not _POINTS_TO_TABLE.search(sentence)
        ):
            yield start, end
