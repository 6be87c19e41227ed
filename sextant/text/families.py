"""English words of one family: a verb, its noun (decide, decision), and forms that no ending makes (tear, tore, torn).

`sextant.text.stems` takes endings off; what changes the word itself is paired or listed here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from sextant.text.stems import stem
from sextant.text.stopwords import ENGLISH_STOP_WORDS

_WORD = re.compile(r"(?<![\w.'’&-])[a-z]{3,}(?![\w.'’&-]*\w)")
# How the stem of a verb ends, and how its noun does.
_ENDINGS = (
    ("", "ment"),  # pay
    ("", "ation"),  # resign
    ("at", "ation"),  # migrate
    ("if", "ification"),  # notify
    ("ppl", "pplication"),
    ("ister", "istration"),
    ("ct", "ction"),  # inspect
    ("duc", "duction"),  # reduce
    ("ss", "ssion"),  # discuss
    ("mit", "mission"),
    ("cid", "cision"),  # decide
    ("clud", "clusion"),
    ("pand", "pansion"),
    ("tend", "tension"),
    ("pend", "pension"),
    ("et", "etion"),  # delete
    ("ut", "ution"),  # distribute
    ("olv", "olution"),  # resolve
    ("pt", "ption"),  # encrypt
    ("crib", "cription"),  # subscribe
    ("ov", "oval"),  # approve
    ("ew", "ewal"),
    ("os", "osal"),  # propose
    ("riv", "rival"),
    ("miss", "missal"),
    ("maintain", "maintenance"),
    ("tend", "tendance"),
    ("sur", "surance"),
    ("cept", "ceptance"),
    ("sist", "sistance"),
    ("form", "formance"),
    ("compl", "compliance"),
    ("ver", "very"),  # deliver
    ("ail", "ailure"),
    ("los", "losure"),  # close
)
# What looks like such a noun and is none, or means something else than the verb; and nouns that look like their verbs.
_NONE = """
apartment basement compartment department formation plantation commission mission passion pension tension session
section option caption product
"""
_NO_FAMILY = frozenset(_NONE.split())
_SHORTEST_VERB = 3
_SHORTEST_BEFORE_ATION = 5  # form and formation, state and station are two things
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


def kin_of(question: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return each English word of a normalised question, and where a text has another word of its family.

    Or has the word itself behind a hyphen, for whoever co-founds something founds it; before one, or within a dotted
    name, it says something else (fast-track, order.cancelled).
    """
    words = dict.fromkeys(_WORD.findall(question))
    return [(word, _kin(word)) for word in words if word not in ENGLISH_STOP_WORDS]


def _kin(word: str) -> re.Pattern[str]:
    base = stem(_FORMS[word][0] if word in _FORMS else word)
    noun = word.removesuffix("s")
    verbs = [] if base == stem(word) else [base]
    if noun not in _NO_FAMILY:
        verbs += _verbs_of(noun)
    if _DOUBLED.search(base):
        verbs.append(base[:-1])
    forms = [f"(?<=-){base}{_INFLECTED}", *(f"{verb}{_INFLECTED}" for verb in verbs)]
    if noun not in _NO_FAMILY:
        forms += [form for verb in (base, *verbs) for form in _forms_of(verb)]
    return re.compile(rf"(?<![\w.])(?:{'|'.join(dict.fromkeys(forms))})(?![\w-]|\.\w)")


def _verbs_of(noun: str) -> Iterator[str]:
    """Yield the stems of the verbs that it may be the noun of: "resignation" of "resign"."""
    for ending, of_noun in _ENDINGS:
        verb = noun.removesuffix(of_noun) + ending
        if noun.endswith(of_noun) and _makes(verb, of_noun):
            yield verb


def _forms_of(verb: str) -> Iterator[str]:
    """Yield what a verb is in a text besides its plain inflections, as patterns."""
    yield from _FORMS.get(verb, ())
    if _SHORT.search(verb):
        yield f"{verb}{verb[-1]}(?:ed|ing)"
    for ending, noun in _ENDINGS:
        made = verb.removesuffix(ending) + noun
        if verb.endswith(ending) and _makes(verb, noun) and made not in _NO_FAMILY:
            yield f"{made}s?"


def _makes(verb: str, noun: str) -> bool:
    """Return whether a verb is long enough for such a noun to be of it."""
    shortest = _SHORTEST_BEFORE_ATION if noun == "ation" else _SHORTEST_VERB
    return len(verb) >= shortest
