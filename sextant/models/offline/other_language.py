"""Sentences in another language than the question's, ranked by meaning.

They share no words with the question but names such as `E47`, so that the cosine of an embedding model
has to find the one that answers. It is compared with what is usual for the two languages; three things
disturb it, and are taken away first: a question's own characters in a row of two languages, names that
are compared letter by letter anyway, and labels (`id: FAQ-009`) that say nothing.

The constants were set on the public half of xquad with question and passages in different languages,
and on questions of our own about the sample documents: docs/evaluation.md has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import (
    is_row,
    item_titles,
    names_above,
    quotable_spans,
    table_heads,
    told_by_documents,
)
from sextant.models.offline.sentence_form import SentenceForm
from sextant.models.offline.wording import (
    asks_for_number,
    content_words,
    holds_number,
    identifiers,
    is_question,
    terms,
)
from sextant.tables.query.dates import without_dates
from sextant.tables.query.parsing import without_asking
from sextant.text.characters import IDEOGRAPHS, has_cjk, language_of, normalise
from sextant.text.disclaimers import disclaimer_pattern
from sextant.text.other_words import synonym_patterns, translate_words
from sextant.text.quantities import find_question_quantity
from sextant.text.reasons import asks_why, gives_reason
from sextant.text.sentences import code_spans
from sextant.text.stopwords import ENGLISH_STOP_WORDS

# So many sentences are embedded at most, half a second of CPU, and so many of one passage.
_MOST = 40
_MOST_OF_PASSAGE = 25
_WHOLE = re.compile(r"[.。!！;；][\"'”’)）]?$|\|")
# One word behind its name; twelve ideographs are a sentence.
_FIELD = re.compile(rf"[\w ]{{1,12}}[:：]\s*(?:[^\s{IDEOGRAPHS}]{{1,12}}|[{IDEOGRAPHS}]{{1,4}})$")
_CHINESE = re.compile(rf"[{IDEOGRAPHS}（）]+")
_FEWEST_WORDS = 3
_FEWEST_TOLD = 2
# "版本 3.2，2025 年 6 月" says next to nothing, and is near to whatever is short.
_FEWEST_IDEOGRAPHS = 4
_OF_DATES = re.compile("[年月日号號版本第]")
# "4 CARD32 MIME_TYPE_OFFSET" has none, and is near to whatever names one of its parts.
_PLAIN_WORD = re.compile(r"(?<![\w-])[A-Za-z][a-z]+(?![\w-])")
_NUMBERS = re.compile(r"\d+")
_RANK_COST = 0.008
_NUMBER_BONUS = 0.01
_NAMED_BONUS = 0.08
# A row that has the asked E47 as a cell says what it is, which may be all that is asked.
_CELL_BONUS, _DEFINITION_BONUS = 0.05, 0.15
_ASKS_WHAT_IT_IS = re.compile(
    r"是什么|是啥|什么意思|含义|含義|是什麼|什麼意思|\bmean(?:s|ing)?\b|\bwhat is\b"
)
_LABEL_COST = 0.03
_ROW_COST = 0.02
_QUESTION_COST = 0.1
# For each word of the question that a row has by the same letters or as its known translation: rows of a
# table differ by little else. For sentences it brings what is only near over the bar (xquad, of 60 three).
_TOLD_BONUS = 0.02
# What a sentence loses beside the question's own language if its document has none of the question's words whose
# translation is known, and of it for a part of them: a short one with a number is near to any "How much …?", one of
# the signs of an illness to any question about that.
_UNSPOKEN_COST = 0.04
# So few words have next to no meaning of their own: "How many pears?" is near to any sentence with a number. Where
# the question's own language was found as well, it is answered only by a document that has the word, by the same
# letters or as its known translation. Of xquad's 65 questions of one or two words, asked across languages, 34 are
# answered by meaning alone, and rightly, so that with nothing beside it remains so.
_SHORT = 1
# An answer stands out: the best one's lead over the median of what is offered counts as much as its cosine. All of a
# document that has nothing to do with the question is about equally near to it. Of few the median tells nothing.
_USUAL_LEAD, _FEWEST_OFFERED = 0.04, 4
# What the best must have over the usual cosine and lead where the question's own language was found as well. And
# besides: where a document in that has all the question's words, and is what it asks of (by the square of their
# share, for a stray word says little); where none in either language is known to have a word of it, and it may ask of
# something else altogether. How much less a further one may have, in the same passage and in another.
_SURPLUS_BESIDE, _SURPLUS_KNOWN, _SURPLUS_UNKNOWN = 0.03, 0.04, 0.02
_AS_NEAR, _AS_NEAR_ELSEWHERE = 0.015, 0.005


@dataclass(frozen=True, slots=True)
class Foreign:
    """A sentence in the other language: `passages[source].text[start:end] == text`.

    `meaning` is what to compare by meaning; `bonus` is added to its cosine. `named`: it is about
    what the question names by an identifier. `asks`: it is a question, which the sentence behind it
    answers. `told`: its document has a word of the question. `unspoken`: the share of the words with a known
    translation that it lacks. `reasoned`: it gives a reason, or none is asked
    for, or passages in the question's own language, which give none, were not found.
    """

    source: int
    start: int
    end: int
    text: str
    meaning: str
    bonus: float
    named: bool
    asks: bool
    told: bool
    unspoken: float
    reasoned: bool


def foreign_sentences(question: str, passages: Sequence[RetrievedItem]) -> list[Foreign]:
    """Return the sentences of `passages` that are not in the question's language, in their order.

    Where the question has identifiers, only what is about one of them. Code is in no language, and a name or a title
    in the other one is no sentence of it, so neither is taken from passages in the question's own.
    """
    own, asked = language_of(question), identifiers(question)
    shared, disclaimed, form = (
        TranslatedWords(question),
        disclaimer_pattern(question),
        SentenceForm(question),
    )
    documents = told_by_documents(passages)
    borne = [shared.by(text) > 0 for text in documents]
    unspoken = [shared.lacking(text) for text in documents]
    beside = any(language_of(passage.text) == own for passage in passages)
    words = content_words(without_asking(question))
    short = beside and not asked and len(words) <= _SHORT
    defining = _ASKS_WHAT_IT_IS.search(normalise(question)) is not None
    for_cell = _DEFINITION_BONUS if defining else _CELL_BONUS
    found = list[Foreign]()
    kind = find_question_quantity(question)
    dated = kind is not None and kind.of_sections
    # Of E47 or an incident that is named, whatever is said may be the cause; with nothing beside it the nearest is
    # enough.
    why = beside and not asked and asks_why(question)
    rank = 0
    for source, passage in enumerate(passages):
        if short and not borne[source]:
            continue
        at_home = language_of(passage.text) == own
        code = code_spans(passage.text)
        sentences = [
            one
            for one in _sentences(passage)
            if language_of(one[2]) != own
            and not (at_home and _is_name(one[2], own))
            and not any(begin <= one[0] < close for begin, close in code)
        ]
        for start, end, meaning in sentences[:_MOST_OF_PASSAGE]:
            text = passage.text[start:end]
            if (disclaimed and disclaimed.search(normalise(text))) or form.orders(text):
                continue
            if not dated and _tells_only_a_day(text):
                continue
            named = _named(asked, passage, text)
            bonus = _bonus(text, named, wants_number=asks_for_number(question)) - _RANK_COST * rank
            bonus += _TOLD_BONUS * (is_row(text) and shared.by(text))
            bonus += for_cell * (not set(asked).isdisjoint(normalise(text).split(" | ")))
            compared = _CHINESE.sub(" ", meaning) if own == "zh" else meaning
            found.append(
                Foreign(
                    source=source,
                    start=start,
                    end=end,
                    text=text,
                    meaning=compared,
                    bonus=bonus,
                    named=named > 0,
                    asks=is_question(text),
                    told=borne[source],
                    unspoken=unspoken[source],
                    reasoned=not why or gives_reason(text),
                )
            )
        rank += bool(sentences)
    about = [one for one in found if one.named or not asked]
    best = sorted(about, key=lambda one: -one.bonus)[:_MOST]
    return sorted(best, key=lambda one: (one.source, one.start))


class TranslatedWords:
    """The words of a question that a text in the other language may have: by the same letters, or translated."""

    def __init__(self, question: str) -> None:
        known = {word for word in content_words(question) if word.isascii() and len(word) > 1}
        self._letters = known.difference(identifiers(question))
        known_there = translate_words(question)
        self._otherwise = {
            word: form for word, form in synonym_patterns(question).items() if word in known_there
        }

    def by(self, text: str) -> int:
        """Return how many of them `text` has."""
        plain = normalise(text)
        same = self._letters.intersection(terms(text))
        return len(same.union(word for word, form in self._otherwise.items() if form.search(plain)))

    def lacking(self, text: str) -> float:
        """Return the share of the words with a known translation that `text` lacks; 0 where none has one."""
        plain = normalise(text)
        lacked = sum(not form.search(plain) for form in self._otherwise.values())
        return lacked / (len(self._otherwise) or 1)


def _is_name(text: str, own: str) -> bool:
    """Return whether `text` in a passage of the language `own` is but a name, or names in a sentence of it."""
    return own == "zh" and not is_row(text) and (has_cjk(text) or len(text.split()) < _FEWEST_WORDS)


def _bonus(text: str, named: float, *, wants_number: bool) -> float:
    """Return what the sentence's form adds to its cosine."""
    return (
        _NAMED_BONUS * named
        + _NUMBER_BONUS * (wants_number and holds_number(text))
        - _LABEL_COST * (_WHOLE.search(text) is None or _says_little(text))
        - _ROW_COST * (is_row(text) and not named)
    )


def _says_little(text: str) -> bool:
    """Return whether a Chinese text has hardly a word besides dates and versions."""
    words = "".join(_CHINESE.findall(text))
    return bool(words) and len(_OF_DATES.sub("", words)) < _FEWEST_IDEOGRAPHS


def _tells_only_a_day(text: str) -> bool:
    """Return whether an English text has a word besides a day at most: "Date: 2 June 2026." is near to any short question."""
    plain = normalise(text)
    rest = without_dates(plain)
    words = [word for word in _PLAIN_WORD.findall(rest) if word not in ENGLISH_STOP_WORDS]
    return not has_cjk(text) and rest != plain and len(words) < _FEWEST_TOLD


def without_identifiers(question: str) -> str:
    """Return what a question asks of the things that it names by `E47` or the like."""
    for name in identifiers(question):
        question = re.sub(re.escape(name), " ", question, flags=re.IGNORECASE)
    return " ".join(question.split())


def answering(
    sentences: Sequence[Foreign],
    cosines: Sequence[float],
    usual: float,
    *,
    known_beside: float | None,
) -> list[Foreign]:
    """Return the sentences that answer, best first; none where the best is not near enough, or no nearer than the others.

    Args:
        sentences: the candidates, in their order.
        cosines: of each to the question.
        usual: what a cosine between the two languages usually is.
        known_beside: passages in the question's own language were found, too, and do not answer: the
            share of its words that one of their documents has.
    """
    beside = known_beside is not None
    ranked = sorted(
        zip(_scores(sentences, cosines, beside=beside), sentences, strict=True),
        key=lambda one: -one[0],
    )
    best, first = ranked[0]
    surplus = 0.0
    if known_beside is not None:
        surplus = _SURPLUS_BESIDE + _SURPLUS_KNOWN * known_beside**2
        surplus += _SURPLUS_UNKNOWN * (not known_beside and not (first.unspoken or first.told))
    if best + _lead([score for score, _ in ranked]) < usual + _USUAL_LEAD + surplus:
        return []
    return [
        one
        for score, one in ranked
        if one.reasoned
        and best - score <= (_AS_NEAR if one.source == first.source else _AS_NEAR_ELSEWHERE)
    ]


def _lead(scores: Sequence[float]) -> float:
    """Return how far the best of some scores is before their median."""
    return max(scores) - median(scores) if len(scores) >= _FEWEST_OFFERED else _USUAL_LEAD


def _scores(sentences: Sequence[Foreign], cosines: Sequence[float], *, beside: bool) -> list[float]:
    """Return how well each sentence answers, on the scale of cosines; an answer has its question's."""
    found = list[float]()
    for place, (one, near) in enumerate(zip(sentences, cosines, strict=True)):
        before = sentences[place - 1] if place else None
        answers = before is not None and before.asks and before.source == one.source
        nearer = max(near, cosines[place - 1]) if answers else near
        unspoken = beside * one.unspoken
        found.append(nearer + one.bonus - _QUESTION_COST * one.asks - _UNSPOKEN_COST * unspoken)
    return found


def _sentences(passage: RetrievedItem) -> Iterator[tuple[int, int, str]]:
    """Yield each sentence's place, and it under what stands over it; no heads, titles, fields of one word, names in code."""
    heads = table_heads(passage)
    titles = item_titles(passage.text)
    for start, end in quotable_spans(passage.text):
        text = passage.text[start:end]
        if any(title.has(start) for title in titles):
            continue
        says = is_row(text) or has_cjk(text) or _PLAIN_WORD.search(text)
        if says and not _FIELD.match(text) and not any(text in head for head in heads):
            above = [title.text for title in titles if title.stands_over(start)]
            yield start, end, "\n".join([*heads, *above, text])


def _named(asked: Sequence[str], passage: RetrievedItem, text: str) -> float:
    """Return how far the sentence is about the question's identifiers, 0..1.

    What has such a name or stands under it is about it, what stands beside it half; a row speaks for itself, and what
    names E5 instead of E3 is about that.
    """
    if not asked:
        return 0.0
    row = is_row(text)
    said = normalise(text)
    about, beside = said if row else f"{names_above(passage)} {text}", normalise(passage.text)
    about = normalise(about)
    told = (
        0.0
        if _is_of_another(name, said)
        else 1.0
        if name in about
        else 0.5 * (not row and name in beside)
        for name in asked
    )
    return sum(told) / len(asked)


def _is_of_another(name: str, said: str) -> bool:
    """Return whether a sentence names what differs from `name` in numbers alone, and not that: E5, where E3 is asked of."""
    alike = {
        code for code in identifiers(said) if _NUMBERS.sub("0", code) == _NUMBERS.sub("0", name)
    }
    return bool(alike) and name not in alike
