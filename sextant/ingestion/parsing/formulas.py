"""Formulas as one line of text: `F = 0.5ρv^2 SC`, `p/100`, `√(a + b)`, `∑_(i=1)^n x_i` (much as UnicodeMath writes them)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice
from typing import Any, TypeVar

from lxml import etree
from selectolax.lexbor import LexborNode

Element = Any  # of lxml, which ships no types
T = TypeVar("T")

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_RELATION = re.compile(r"\s*([=≠≈≡≤≥<>∈⊂⊆→⇒⇔∝≅±×÷]|:=)\s*")
_ONE = re.compile(r"-?(?:[\d.,]+|\w|∞)['′!%]*")
_INDEX = re.compile(r"[\^_/](?:[\w.,∞'′!%]+|\(.*\))$")  # or a denominator
_OPERATORS = frozenset("-+/=<>±× ")
_MAX_DEPTH = 100
_STYLES = ("{\\displaystyle", "{\\textstyle")
_GLUE = frozenset("_)]}!%′'")


Sign = Callable[[str, str], str]
"""Returns the sign that a formula has for something, by what Office calls it, and a default."""


def write_formula(kind: str, parts: Sequence[str], sign: Sign = lambda _, default: default) -> str:
    """Return the text of an element of Office or MathML from the texts of its parts; unknown elements join them.

    Args:
        kind: the element's name.
        parts: in their order; Office and MathML have most in the same.
        sign: what its properties say.
    """
    if join := _JOINED.get(kind):
        return join(parts, sign)
    write = _WRITERS.get(kind)
    if write is None:
        return join_formula(parts)
    one, two, three = [*parts, "", "", ""][:3]
    return write(one, two, three, sign)


def _fraction(above: str, below: str, sign: Sign) -> str:
    """Return `a/b`, with parentheses around what is more than one figure, letter or word."""
    if sign("type", "bar") == "noBar":
        return f"{above}; {below}"
    return f"{_group_term(above)}/{_group_term(below)}" if below else above


def _script(base: str, below: str = "", above: str = "") -> str:
    """Return a base with what stands low and high behind it: `x_i^2`."""
    low = f"_{_group_term(below)}" if below else ""
    high = f"^{_group_term(above)}" if above else ""
    return f"{_group_term(base) if '/' in base else base}{low}{high}"


def _root(under: str, degree: str = "") -> str:
    """Return `√(x)`, or `(x)^(1/3)` of a root of another degree."""
    return f"({under})^(1/{_group_term(degree)})" if degree and degree != "2" else f"√({under})"


def _function(name: str, of: str) -> str:
    """Return `log(x)`, `sin x` or `cos(a/b)`."""
    if _is_grouped(of):
        return f"{name}{of}"
    return f"{name}({of})" if _OPERATORS.intersection(of) else f"{name} {of}"


def _accent(base: str, sign: str) -> str:
    return f"{base}{sign}" if len(base) == 1 else f"({base}){sign}"


def _by_name(writers: Mapping[str, T]) -> dict[str, T]:
    return {name: write for names, write in writers.items() for name in names.split()}


# Of elements with a fixed number of parts.
_WRITERS: Mapping[str, Callable[[str, str, str, Sign], str]] = _by_name(
    {
        "f mfrac": lambda above, below, _, sign: _fraction(above, below, sign),
        "sSup limUpp msup mover": lambda base, high, *_: _script(base, above=high),
        "sSub limLow msub munder": lambda base, low, *_: _script(base, low),
        "sSubSup msubsup munderover": lambda base, low, high, _: _script(base, low, high),
        "sPre": lambda low, high, base, _: _script("", low, high) + base,
        "rad": lambda degree, under, *_: _root(under, degree),
        "mroot": lambda under, degree, *_: _root(under, degree),
        "func": lambda name, of, *_: _function(name, of),
        "nary": lambda low, high, of, sign: f"{_script(sign('chr', '∫'), low, high)} {of}".strip(),
        "acc": lambda base, _, __, sign: _accent(base, sign("chr", "\u0302")),
        "bar": lambda base, *_: _accent(base, "\u0305"),
    }
)
# Of those with any number.
_JOINED: Mapping[str, Callable[[Sequence[str], Sign], str]] = _by_name(
    {
        "d": lambda parts, sign: (
            f"{sign('begChr', '(')}{sign('sepChr', '|').join(parts)}{sign('endChr', ')')}"
        ),
        "mfenced": lambda parts, _: f"({', '.join(parts)})",
        "msqrt": lambda parts, _: _root(join_formula(parts)),
        "m": lambda rows, _: f"[{'; '.join(rows)}]",
        "eqArr mtable": lambda rows, _: "; ".join(rows),
        "mr mtr": lambda cells, _: ", ".join(cells),
    }
)


def join_formula(parts: Iterable[str]) -> str:
    """Join what stands side by side, so that an index or denominator ends where it ends: `v^2 S`, `a/b c`."""
    joined = ""
    for part in filter(None, parts):
        ends_low = _INDEX.search(joined) is not None
        begins_high = re.match(r"[^\s(]*[/]", part) is not None
        if joined and (ends_low or begins_high) and _sticks(part[0]) and _sticks(joined[-1]):
            joined += " "
        joined += part
    return joined


def _sticks(char: str) -> bool:
    return char.isalnum() or char in _GLUE


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
    is_one = _ONE.fullmatch(text) or (text.isalnum() and text.isascii()) or _is_grouped(text)
    return text if is_one else f"({text})"


def _is_grouped(text: str) -> bool:
    """Return whether the parenthesis that begins a text ends with it."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depths = accumulate((one == "(") - (one == ")") for one in text)
    return all(depth > 0 for depth in islice(depths, len(text) - 1))


def _content(element: Element) -> str:
    return join_formula(_node(child) for child in element.iterchildren())


def _node(element: Element) -> str:
    """Return the text of an element; the parts of a formula are child elements behind its properties."""
    space, _, name = element.tag.rpartition("}")
    is_math = f"{space}}}" == _MATH
    if name.endswith("Pr") or name in {"del", "moveFrom"}:
        return ""
    if name == "t":
        return element.text or ""
    if not is_math or name not in {*_WRITERS, *_JOINED}:
        return _content(element)
    parts = [_node(child) for child in element.iterchildren() if not child.tag.endswith("Pr")]
    return write_formula(name, parts, partial(_property, element))


def _property(element: Element, name: str, default: str) -> str:
    """Return a value of an element's properties; "" where it is given and empty."""
    found = element.find(f"{{*}}{etree.QName(element).localname}Pr/{_MATH}{name}")
    return default if found is None else str(found.get(f"{_MATH}val") or "")


def formulas_of(node: LexborNode, is_hidden: Callable[[LexborNode], bool]) -> str:
    """Return the formulas of an element: its own, or hidden ones, as pages have them beside pictures of formulas."""
    if node.tag == "math":
        return read_mathml(node)
    if node.tag == "script" and (node.attributes.get("type") or "").startswith("math/tex"):
        return " ".join(node.text().split())
    return " ".join(map(read_mathml, node.css("math"))) if is_hidden(node) else ""


def read_mathml(math: LexborNode) -> str:
    """Return a formula as text: LaTeX where the page has it (`alttext`, an annotation), else `r^2`, `a/b`, `√(x)`."""
    annotation = math.css_first("annotation[encoding='application/x-tex']")
    given = math.attributes.get("alttext") or (annotation.text() if annotation else "")
    if latex := " ".join(given.split()):
        style = next(filter(latex.startswith, _STYLES), "")
        return latex[len(style) : -1].strip() if style else latex
    return space_operators(_read_node(math, 0))


def _read_node(node: LexborNode, depth: int) -> str:
    tag = node.tag or ""
    if tag.startswith("annotation") or depth > _MAX_DEPTH:
        return ""
    children = [child for child in node.iter() if child.is_element_node]
    if not children:
        return " ".join((node.text() or "").split())
    if tag == "semantics":
        children = children[:1]
    parts = [_read_node(child, depth + 1) for child in children]
    return write_formula(tag, parts)
