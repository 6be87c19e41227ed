"""Mentions by which a sentence says that it is not about something: "unlike E42", 与 E42 无关.

Such a sentence has the name that a question asks by, and answers nothing about it.
"""

from __future__ import annotations

import re

from sextant.text.identifiers import find_codes, spelling_of

_CHINESE = (
    r"(?:[与與和跟同][^，。；,;|]{{0,12}}?{name}[^，。；,;|]{{0,14}}?(?:无关|無關|不同|不一样|不一樣|没有关系|沒有關係|不是一回事|混淆|混为一谈)"
    r"|(?:不同|有别|有別|区别|區別)[于於]\s*{name})"
)
_ENGLISH = (
    r"\b(?:unlike|unrelated to|nothing to do with|(?:different|distinct|differs?|differently) from|confused? with)"
    r"\s+(?:(?:the|an?|error|fault|code|model|type)\s+){{0,3}}{name}"
)


def disclaimer_pattern(question: str) -> re.Pattern[str] | None:
    """Return where a normalised text disclaims the one thing that `question` names by a code or a number.

    None where it names none, or several: how two differ is told by such sentences.
    """
    names = find_codes(question)
    if len(names) != 1:
        return None
    name = spelling_of(names[0])
    return re.compile("|".join(form.format(name=name) for form in (_CHINESE, _ENGLISH)))
