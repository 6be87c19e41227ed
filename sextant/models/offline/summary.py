"""A summary of one document that the question names: what its sections say first, quoted in their order.

"Summarise the incident of 11 February" and 总结一下员工手册 ask for no sentence in particular, so none shares words
with them but the title. The sentences that open a text or a section tell best what it is about (Brandow et al. 1995,
doi:10.1016/0306-4573(95)00052-I).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidates import Sentence
from sextant.models.offline.passages import (
    Span,
    document_of,
    is_row,
    names_of_document,
    quotable_spans,
    section_of,
)
from sextant.models.offline.wording import content_words, is_question, split_borrowed
from sextant.text.analysis import codes_and_versions_in, codes_in
from sextant.text.characters import has_cjk, plain_of, simplify
from sextant.text.sentences import is_ended

_ASKS = re.compile(
    r"\b(?:summari[sz]e|summary|sum up|overview|outline|gist"
    r"|(?:key|main) (?:points|takeaways|content|contents|topics))\b"
    r"|总结|概括|概述|归纳|梳理|综述|摘要|概要|要点|主要(?:内容|讲|说)"
)
# The name of the document has to be all that is left of such a question.
_ASKS_OF_WHOLE = re.compile(
    r"\bwhat (?:is|was|does|do|did)\b.*\b(?:about|say|cover)\b|(?:讲|说|谈)了?(?:些|的)?(?:是)?(?:什么|哪些)"
)
# Words that a request for a summary has beside the name of the document.
_FILLERS = re.compile(
    r"\b(?:about|says?|covers?|of|give|please|brief(?:ly)?|short|document|report|file|text|thread)\b"
    r"|讲|说|谈|了|内容|一下|简要|简单|什么|哪些|主要|文档|文件|全文"
)
_NUMBER = re.compile(r"\d+")
_ENOUGH = 0.6  # of the words of a question that a name must have
_QUOTES = 6
_AFTER_LABEL = ":：–—-|"
_CHARACTERS, _WORDS = 10, 4  # of a sentence that says something


def summary_of_named(question: str, items: Sequence[RetrievedItem]) -> list[Span]:
    """Return the quotations that sum up the document which `question` asks a summary of; none where it asks for none.

    Args:
        question: the question.
        items: the passages found, best first.
    """
    named = named_for_summary(question, items)
    passages = [index for index, item in enumerate(items) if document_of(item) == named]
    return _read_leads(items, passages)


def named_for_summary(question: str, items: Sequence[RetrievedItem]) -> str | None:
    """Return the id of the one document that `question` asks a summary of; None for any other question."""
    plain = plain_of(question)
    is_summary = _ASKS.search(plain) is not None
    if not (is_summary or _ASKS_OF_WHOLE.search(plain)):
        return None
    words = content_words(_FILLERS.sub(" ", _ASKS.sub(" ", plain)))
    found = {document_of(item): _share_of_words(words, item) for item in items if words}
    most = max(found.values(), default=0.0)
    named = [document for document, share in found.items() if share == most]
    return named[0] if len(named) == 1 and most >= (_ENOUGH if is_summary else 1.0) else None


def read_named_section(
    question: str, items: Sequence[RetrievedItem], sentences: Sequence[Sentence]
) -> list[Span]:
    """Return the sentences of the one section whose title is all that `question` names: "What happens in week 3?".

    A code in the title is enough ("How do I fix ORA-00942?"), and of such a section those sentences that have another
    word of the question, if any do. Of a long section the first sentences are returned where a code names it, else none.
    A code that labels a sentence titles what follows in its paragraph, too ("E25 The cover is loose. Press it."), and
    the code of a row titles that where nothing else is asked.
    """
    stated = simplify(split_borrowed(question)[0])
    words, codes = set(content_words(stated)), _read_codes(stated)
    words_of_codes = set(content_words(" ".join(codes)))
    sections = defaultdict[tuple[str, ...], list[Sentence]](list)
    for one, label in zip(sentences, _read_labels(items, sentences), strict=True):
        title = simplify(section_of(items[one.source]))
        labels = [title, label] if words == words_of_codes or not is_row(one.text) else [title]
        is_named_by_code = codes and codes in map(_read_codes, labels)
        if is_named_by_code or words == set(content_words(title)):
            path = items[one.source].metadata.get("section_path") or ()
            sections[document_of(items[one.source]), *path].append(one)
    found = next(iter(sections.values())) if len(sections) == 1 and words else []
    if not found or (len(found) > _QUOTES and not codes):
        return []
    others = words - words_of_codes - set(content_words(section_of(items[found[0].source])))
    found = [one for one in found if others.intersection(content_words(one.text))] or found
    found.sort(key=lambda one: (items[one.source].metadata.get("start", 0), one.start))
    return [one.span for one in found[:_QUOTES]]


def _read_labels(items: Sequence[RetrievedItem], sentences: Sequence[Sentence]) -> Iterator[str]:
    """Yield the code that labels each sentence, or one ahead of it in its paragraph; "" for none."""
    label, source, end = "", -1, 0
    for one in sentences:
        between = items[one.source].text[end : one.start].strip(" ")
        goes_on = one.source == source and between in ("", "\n")
        label = _read_label(one.text) or (label if goes_on else "")
        source, end = one.source, one.end
        yield label


def _read_label(sentence: str) -> str:
    """Return the code that a sentence opens with and does not go on from: "E9: …", "E9 The …", not "E9 has …"."""
    sentence = sentence.lstrip("*_ ")
    code = next(iter(codes_in(sentence)), "")
    rest = sentence.removeprefix(code).lstrip(" *_")
    is_label = sentence.startswith(code) and (rest[:1] in _AFTER_LABEL or rest[:1].isupper())
    return code if is_label else ""


def _read_codes(text: str) -> set[str]:
    return set(map(plain_of, codes_and_versions_in(text)))


def is_summary_of_topic(question: str, items: Sequence[RetrievedItem]) -> bool:
    """Return whether `question` asks to sum up a topic, and not one document."""
    return bool(_ASKS.search(plain_of(question))) and named_for_summary(question, items) is None


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
    for indices in passages.values():
        rows = ((indices[0], *span) for span in quotable_spans(items[indices[0]].text))
        opened += _read_leads(items, indices)[:each] or islice(rows, 1)
    return opened


def _share_of_words(words: Sequence[str], item: RetrievedItem) -> float:
    """Return the share of `words` that the names of a passage's document have, numbers as numbers."""
    names = plain_of(names_of_document(item))
    numbers = {int(number) for number in _NUMBER.findall(names)}
    found = [
        int(word) in numbers
        if word.isdecimal()
        else bool(re.search(rf"(?<![a-z\d]){re.escape(word)}", names))
        for word in words
    ]
    return sum(found) / len(found)


def _read_leads(items: Sequence[RetrievedItem], passages: Sequence[int]) -> list[Span]:
    """Return the first sentences of passages by turns, in the order of the document, over which they are spread."""
    order = sorted(passages, key=lambda at: items[at].metadata.get("start", 0))
    found = [[(at, *span) for span in _read_telling(items[at].text)] for at in order]
    found = list(filter(None, found))
    if (last := len(found) - 1) >= _QUOTES:
        found = [found[round(at * last / (_QUOTES - 1))] for at in range(_QUOTES)]
    in_turn = filter(None, chain.from_iterable(zip_longest(*found)))
    return sorted(islice(in_turn, _QUOTES), key=lambda one: (order.index(one[0]), one[1]))


def _read_telling(text: str) -> list[tuple[int, int]]:
    """Return the sentences that say something: no rows, questions or lines of two words.

    Where there are whole sentences, nothing else: a line without a stop is a title, a date, or an item.
    """
    spans = [
        span
        for span in quotable_spans(text)
        if not (is_row(line := text[slice(*span)]) or is_question(line))
        and (len(line) >= _CHARACTERS if has_cjk(line) else len(line.split()) >= _WORDS)
    ]
    ended = [span for span in spans if is_ended(text[slice(*span)])]
    return ended or spans
