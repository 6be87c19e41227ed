"""Forms of a word, other words that mean the same, and lists of phrases with their meanings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice, product

from sextant.text.characters import plain_of, remember_short
from sextant.text.stopwords import ENGLISH_STOP_WORDS

# organise, colour, centre, licence, catalogue: each with what may follow.
_BRITISH_FORMS = {
    r"(?<=\w{3}[^\Waeiou])is(?=(?:e[drs]?|ers|ing|ations?)$)": "iz",
    r"(?<=al)ys(?=(?:e[drs]?|ing)$)": "yz",
    r"(?<=\w{2}[^\Waeiou])our(?=(?:s|ed|ing|ful|ite|ites|able|al)?$)": "or",
    r"(?<=\w{2})tre(?=s?$)": "ter",
    r"(?<=\w{2})nce(?=[sd]?$)": "nse",
    r"(?<=\w{2})ogue(?=s?$)": "og",
}
_BRITISH = [(re.compile(form), american) for form, american in _BRITISH_FORMS.items()]
_MAYBE_BRITISH = re.compile(r"is|ys|our|tre|nce|ogue")
# What a word may end in; the first that fits is taken off.
_SUFFIX = re.compile(
    r"""
    (?<=\w{3}) (?:
        (?<!^s[^\Waeiou]r) ing          # asking; not spring
      | ied | ies                       # supplied, bodies: as in supply, body
      | (?<!e)(?<!^s[^\Waeiou]r) ed     # asked; not speed
      | es                              # processes
      | (?<!s) s                        # rooms; not glass
    ) $
  | (?: (?<=[aeiou][rt]e) | (?<=[aeiou][^\Waeiou][rt]e) ) ed $    # guaranteed, agreed
  | (?<=^free) d $                      # freed
  | (?<=\w{4}) e $                      # machine
  | (?<=\w{2}[^\We]) e $                # page; not free
  | (?<=\w{2}[^\Waeiou]) y $            # supply, body
    """,
    re.VERBOSE,
)


_INFLECTIONS = ("ing", "edly", "ed", "es", "s", "ly")
_SHORTEST_STEM = 4


def cut_inflection(word: str) -> str:
    """Return the word without one inflection of English, if at least four letters stay: less than `stem` cuts off."""
    for suffix in _INFLECTIONS:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word[: -len(suffix)]
    return word


def stem(word: str) -> str:
    """Return the word without an ending of number, person or tense: `supply`, `supplies` and `supplied` as `suppl`."""
    return _SUFFIX.sub("", word)


def american(word: str) -> str:
    """Return an American spelling, the same for "licence" and "license"; only to compare words."""
    if _MAYBE_BRITISH.search(word):
        for british, spelt in _BRITISH:
            word = british.sub(spelt, word)
    return word


_WORD = re.compile(r"(?<![\w.'’&-])[a-z]{3,}(?![\w.'’&-]*\w)")
# Verbs and nouns whose forms no ending makes; not those that are words of something else (left, found, saw, ground).
_IRREGULAR = """
arise arose arisen, awake awoke awoken, become became, begin began begun, bend bent, bite bit bitten, bleed bled,
blow blew blown, break broke broken, bring brought, build built, burn burnt, buy bought, catch caught,
choose chose chosen choice, deal dealt, die death, dig dug, draw drew drawn, dream dreamt, drink drank drunk,
drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, flee fled, fly flew flown,
forbid forbade forbidden, forget forgot forgotten, freeze froze frozen, grow grew grown growth, hang hung, hear heard,
hide hid hidden, hold held, keep kept, know knew known, lay laid, lead led, learn learnt, lend lent, lose lost loss,
mean meant, meet met, overcome overcame, pay paid, ride rode ridden, ring rang rung, rise risen, run ran, seek sought,
sell sold sale, send sent, shake shook shaken, shoot shot, show shown, shrink shrank shrunk, sing sang sung,
sink sank sunk, sit sat, sleep slept, speak spoken, spend spent, stand stood, steal stole stolen, stick stuck,
strike struck, swear sworn, sweep swept, swim swam swum, take took taken, teach taught, tear tore torn, tell told,
think thought, throw threw thrown, understand understood, wake woke woken, wear wore worn, win won,
withdraw withdrew withdrawn, write wrote written
"""
_FORMS = defaultdict[str, tuple[str, ...]](tuple)
for _line in _IRREGULAR.split(","):
    for _form in dict.fromkeys([*_line.split(), stem(_line.split()[0])]):
        _FORMS[_form] += tuple(_line.split())
_INFLECTED = "(?:e|es|s|ed|d|ing|y|ies|ied)?"
# Verbs that double their last letter: stop, stopped.
_SHORT = re.compile(r"[^aeiou][aeiou][bdglmnprt]$")
_DOUBLED = re.compile(r"([bdglmnprt])\1$")


def inflection_patterns(question: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return each English word of a normalised question with a pattern of its other forms.

    The word itself behind a hyphen counts (co-founded); ahead of one or within a dotted name it says something else
    (fast-track, order.cancelled).
    """
    words = dict.fromkeys(_WORD.findall(question))
    return [(word, _forms_of(word)) for word in words if word not in ENGLISH_STOP_WORDS]


def _forms_of(word: str) -> re.Pattern[str]:
    base = stem(_FORMS[word][0] if word in _FORMS else word)
    verbs = [] if base == stem(word) else [base]
    if _DOUBLED.search(base):
        verbs.append(base[:-1])
    forms = [f"(?<=-){base}{_INFLECTED}", *(f"{verb}{_INFLECTED}" for verb in verbs)]
    for verb in (base, *verbs):
        forms += _FORMS.get(verb, ())
        if _SHORT.search(verb):
            forms.append(f"{verb}{verb[-1]}(?:ed|ing)")
    return re.compile(rf"(?<![\w.])(?:{'|'.join(dict.fromkeys(forms))})(?![\w-]|\.\w)")


Otherwise = Sequence[tuple[str, re.Pattern[str]]]
"""Words of a question, and where a text says the same otherwise."""

# So many names are made at the most of one, whose words have several translations each.
_MOST_WAYS = 24
_MEANING = defaultdict[str, list[str]](list)
for _line in (files("sextant.text") / "other_words.txt").read_text(encoding="utf-8").split("\n"):
    if _line and not _line.startswith("#"):
        for _word in _line.split(", "):
            _MEANING[_word] += _line.split(", ")


def _wherever(words: Collection[str]) -> re.Pattern[str]:
    """Return any of the words in a normalised text, English ones whole and with their plural."""
    english = "|".join(re.escape(word) for word in words if word.isascii())
    chinese = "|".join(word for word in words if not word.isascii())
    forms = [rf"\b(?P<en>{english})s?(?!\w)"] if english else []
    return re.compile("|".join([*forms, *([f"(?P<zh>{chinese})"] if chinese else [])]))


_KNOWN = _wherever(sorted(_MEANING, key=len, reverse=True))


def _inflected(words: Sequence[str]) -> re.Pattern[str]:
    """Return any of the words in a normalised text, English ones with their regular endings."""
    english = "|".join(word for word in words if word.isascii())
    chinese = "|".join(word for word in words if not word.isascii())
    return re.compile(rf"\b(?:{english})(?:e?s|e?d|ing)?\b|{chinese}")


def synonym_patterns(question: str) -> dict[str, re.Pattern[str]]:
    """Return for each listed word of `question` where a normalised text has it in other words."""
    return {word: _wherever(others) for word, others in synonyms(question).items()}


def synonyms(question: str) -> dict[str, list[str]]:
    """Return for each listed word of `question` what else it is called, in either language."""
    words = dict.fromkeys(
        match["en"] or match["zh"] for match in _KNOWN.finditer(plain_of(question))
    )
    return {word: [one for one in _MEANING[word] if one != word] for word in words}


def as_tables_say(question: str) -> str:
    """Return a question with the synonyms that columns and cells may have; "" where none are known.

    "How much does the Heron 3 cost?" shares no word with the head of a price list.
    """
    known = [other for others in synonyms(question).values() for other in others]
    return f"{question} {' '.join(dict.fromkeys(known))}" if known else ""


def other_names(name: str) -> list[str]:
    """Return what else a name may be called, where each of its words is listed: 最低库存 for "minimum stock"."""
    plain = plain_of(name)
    found = list(_KNOWN.finditer(plain))
    if not found or any(map(str.isalnum, _KNOWN.sub(" ", plain))):
        return []
    meanings = [_MEANING[match["en"] or match["zh"]] for match in found]
    ways = list[str]()
    for english, gap in ((True, " "), (False, "")):
        words = [[word for word in meant if word.isascii() is english] for meant in meanings]
        ways += [gap.join(way) for way in islice(product(*words), _MOST_WAYS)]
    return [way for way in dict.fromkeys(ways) if way != plain]


def translate_words(question: str) -> dict[str, list[str]]:
    """Return for each listed word of `question` what it is in the other language: Shanghai for 上海."""
    words = {match["en"] or match["zh"] for match in _KNOWN.finditer(plain_of(question))}
    others = {
        word: [one for one in _MEANING[word] if one.isascii() is not word.isascii()]
        for word in sorted(words)
    }
    return {word: known for word, known in others.items() if known}


def name_synonyms(question: str) -> Otherwise:
    """Return the words of `question`, each with where a normalised text has a synonym or another form of it."""
    plain = plain_of(question)
    return [*synonym_patterns(question).items(), *inflection_patterns(plain)]


@cache
def opposites(marks: str) -> list[list[list[str]]]:
    """Return the lines of `opposites.txt` that begin with one of `marks`, each as the words of its sides."""
    lines = (files("sextant.text") / "opposites.txt").read_text(encoding="utf-8").split("\n")
    return [
        [side.split(", ") for side in line[2:].split(" / ")]
        for line in filter(None, lines)
        if line[0] in marks
    ]


@cache
def _opposite_patterns() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    return [(_inflected(one), _inflected(other)) for one, other, *_ in opposites("-*")]


def same_sides(plain: str) -> Otherwise:
    """Return the words of a normalised text that have opposites, each with what is said on its side: fell, dropped."""
    return [
        (found[0], side)
        for sides in _opposite_patterns()
        for side in sides
        if (found := side.search(plain))
    ]


def is_opposite(text: str, other: str) -> bool:
    """Return whether one text has a word, and the other instead of it one that says the opposite: rose, fell."""
    one, two = plain_of(text), plain_of(other)
    return any(
        bool(up.search(one)) is bool(down.search(two)) is not bool(down.search(one))
        and bool(down.search(one)) is bool(up.search(two))
        for up, down in _opposite_patterns()
    )


Meaning = tuple[str, str]
"""What a phrase is in the grammar, and what it is of: `max`, `price` for "most expensive"."""


class Lexicon:
    """Phrases with their meanings, from files with a line each: `kind/sense: phrase, phrase`.

    English phrases are found as whole words with their plural, Chinese ones anywhere, the longest first; one that ends in `$` only at
    the end of a text.
    """

    def __init__(self, package: str, *names: str, plurals: bool = False) -> None:
        meanings = defaultdict[str, list[Meaning]](list)
        for name in names:
            text = (files(package) / name).read_text(encoding="utf-8")
            for line in text.splitlines():
                head, _, phrases = line.partition(": ")
                kind, _, sense = head.partition("/")
                for phrase in () if line.startswith("#") else phrases.split(", "):
                    meanings[phrase].append((kind, sense))
        self._meanings = dict(meanings)
        longest_first = sorted(meanings, key=len, reverse=True)
        self._form = re.compile("|".join(_pattern(one, plurals=plurals) for one in longest_first))
        self._found = remember_short(512)(self._find)

    def find(self, text: str) -> Sequence[tuple[tuple[int, int], Sequence[Meaning]]]:
        """Return where phrases stand in a text in plain spelling, and what each means."""
        return self._found(text)

    def _find(self, text: str) -> Sequence[tuple[tuple[int, int], Sequence[Meaning]]]:
        return [(one.span(), self._meanings_of(one)) for one in self._form.finditer(text)]

    def _meanings_of(self, match: re.Match[str]) -> Sequence[Meaning]:
        phrase = " ".join(match[0].split())
        at_end = f"{phrase}$" if match.end() == len(match.string) else phrase
        forms = (phrase, at_end, phrase.removesuffix("s"))
        return next(self._meanings[one] for one in forms if one in self._meanings)

    def phrases(self, kind: str) -> set[str]:
        """Return the phrases of a kind."""
        return {one for one, meant in self._meanings.items() if kind in {of for of, _ in meant}}

    def collect_kinds(self, text: str) -> set[str]:
        """Return the kinds of all phrases of a text."""
        return {kind for _, meanings in self.find(text) for kind, _ in meanings}


def _pattern(phrase: str, *, plurals: bool) -> str:
    end = "$" if phrase.endswith("$") else ""
    form = re.escape(phrase.removesuffix("$")).replace(r"\ ", r"\s+")
    if phrase[0].isascii() and phrase[0].isalpha():
        form = rf"(?<![a-z\d]){form}{'s?' * (plurals and not end)}(?![a-z\d])"
    return form + end
