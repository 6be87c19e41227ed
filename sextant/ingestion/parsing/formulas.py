"""Formulas as one line of text: `F = 0.5ρv^2 SC`, `p/100`, `√(a + b)`, `∑_(i=1)^n x_i` (much as UnicodeMath writes them)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Element = Any  # of lxml, which ships no types

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELATION = re.compile(r"\s*([=≠≈≡≤≥<>∈⊂⊆→⇒⇔∝≅±×÷]|:=)\s*")
_ONE = re.compile(r"-?(?:[\d.,]+|\w)['′!%]*")
_GLUE = re.compile(r"[\w)\]}!%′']")


def fraction(above: str, below: str) -> str:
    """Return `a/b`, with parentheses around what is more than one figure, letter or word."""
    return f"{_group_term(above)}/{_group_term(below)}" if below else above


def script(base: str, below: str = "", above: str = "") -> str:
    """Return a base with what stands low and high behind it: `x_i^2`."""
    low = f"_{_group_term(below)}" if below else ""
    high = f"^{_group_term(above)}" if above else ""
    return f"{base}{low}{high}"


def root(under: str, degree: str = "") -> str:
    """Return `√(x)`, or `(x)^(1/3)` of a root of another degree."""
    return f"({under})^(1/{_group_term(degree)})" if degree and degree != "2" else f"√({under})"


def join_formula(parts: Iterable[str]) -> str:
    """Join what stands side by side, so that an index or denominator ends where it ends: `v^2 S`, `a/b c`."""
    joined = ""
    for part in filter(None, parts):
        ends_low = re.search(r"[\^_/]\S*$", joined) is not None
        begins_high = re.match(r"[^\s(]*[/]", part) is not None
        if joined and (ends_low or begins_high) and _GLUE.match(part) and _GLUE.match(joined[-1]):
            joined += " "
        joined += part
    return joined


def space_operators(formula: str) -> str:
    """Return a formula with blanks around its signs of relation, and no others in a row."""
    return " ".join(_RELATION.sub(r" \1 ", formula).split())


def read_omml(element: Element) -> str:
    """Return a formula of Office (`m:oMath`, `m:oMathPara`; ECMA-376 part 1, 22.1) as text; lines stay lines."""
    if element.tag == f"{_MATH}oMathPara":
        lines = [read_omml(one) for one in element.iterchildren(f"{_MATH}oMath")]
        return "\n".join(filter(None, lines))
    return space_operators(_content(element))


def _group_term(text: str) -> str:
    text = text.strip()
    return text if _ONE.fullmatch(text) or (text.isalnum() and text.isascii()) else f"({text})"


def _content(element: Element | None) -> str:
    if element is None:
        return ""
    return join_formula(_node(child) for child in element.iterchildren())


def _child(element: Element, name: str) -> str:
    return _content(element.find(f"{_MATH}{name}"))


def _node(element: Element) -> str:
    tag = element.tag
    if tag.startswith(_MATH):
        name = tag.removeprefix(_MATH)
        reader = _READERS.get(name)
        if reader is not None:
            return reader(element)
        return "" if name.endswith("Pr") else _content(element)
    if tag in {f"{_WORD}del", f"{_WORD}moveFrom", f"{_WORD}rPr"}:
        return ""
    return element.text or "" if tag == f"{_WORD}t" else _content(element)


def _property(element: Element, name: str, default: str) -> str:
    """Return a value of an element's properties; "" where it is given and empty."""
    for properties in element.iterchildren():
        if properties.tag.endswith("Pr"):
            found = properties.find(f"{_MATH}{name}")
            if found is not None:
                return str(found.get(f"{_MATH}val") or "")
    return default


def _read_fraction(element: Element) -> str:
    above, below = _child(element, "num"), _child(element, "den")
    if _property(element, "type", "bar") == "noBar":
        return f"{above}; {below}"
    return fraction(above, below)


def _read_delimiters(element: Element) -> str:
    between = _property(element, "sepChr", "|")
    inner = between.join(_content(part) for part in element.iterchildren(f"{_MATH}e"))
    return f"{_property(element, 'begChr', '(')}{inner}{_property(element, 'endChr', ')')}"


def _read_operator(element: Element) -> str:
    sign = script(_property(element, "chr", "∫"), _child(element, "sub"), _child(element, "sup"))
    return f"{sign} {_child(element, 'e')}".strip()


def _read_function(element: Element) -> str:
    name, argument = _child(element, "fName"), _child(element, "e")
    return f"{name}{argument}" if argument.startswith("(") else f"{name} {argument}"


def _read_matrix(element: Element) -> str:
    rows = (
        ", ".join(_content(cell) for cell in row.iterchildren(f"{_MATH}e"))
        for row in element.iterchildren(f"{_MATH}mr")
    )
    return f"[{'; '.join(rows)}]"


def _read_lines(element: Element) -> str:
    return "; ".join(_content(line) for line in element.iterchildren(f"{_MATH}e"))


def _read_accent(element: Element) -> str:
    sign = _property(element, "chr", "\u0302")
    base = _child(element, "e")
    return f"{base}{sign}" if len(base) == 1 else f"({base}){sign}"


def _read_bar(element: Element) -> str:
    base = _child(element, "e")
    return f"{base}\u0305" if len(base) == 1 else f"({base})\u0305"


_READERS: Mapping[str, Callable[[Element], str]] = {
    "t": lambda element: element.text or "",
    "f": _read_fraction,
    "d": _read_delimiters,
    "nary": _read_operator,
    "func": _read_function,
    "m": _read_matrix,
    "eqArr": _read_lines,
    "acc": _read_accent,
    "bar": _read_bar,
    "rad": lambda element: root(_child(element, "e"), _child(element, "deg")),
    "sSup": lambda element: script(_child(element, "e"), above=_child(element, "sup")),
    "sSub": lambda element: script(_child(element, "e"), _child(element, "sub")),
    "sSubSup": lambda element: script(
        _child(element, "e"), _child(element, "sub"), _child(element, "sup")
    ),
    "sPre": lambda element: (
        f"{script('', _child(element, 'sub'), _child(element, 'sup'))}{_child(element, 'e')}"
    ),
    "limLow": lambda element: script(_child(element, "e"), _child(element, "lim")),
    "limUpp": lambda element: script(_child(element, "e"), above=_child(element, "lim")),
}
