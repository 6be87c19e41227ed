"""MathML to a line of text: what its author gives for that, else its signs one behind the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from selectolax.lexbor import LexborNode

from sextant.ingestion.parsing.formulas import fraction, join_formula, root, script, space_operators

_MAX_DEPTH = 100
_STYLE = re.compile(r"^\{\\(?:displaystyle|textstyle)\s*(.*)\}$", re.DOTALL)


def read_mathml(math: LexborNode) -> str:
    """Return a formula as text: LaTeX where the page has it (`alttext`, an annotation), else `r^2`, `a/b`, `√(x)`."""
    annotation = math.css_first("annotation[encoding='application/x-tex']")
    given = math.attributes.get("alttext") or (annotation.text() if annotation else "")
    if latex := " ".join(given.split()):
        styled = _STYLE.match(latex)
        return styled[1].strip() if styled else latex
    return space_operators(_read(math, 0))


def _read(node: LexborNode, depth: int) -> str:
    tag = node.tag or ""
    if tag.startswith("annotation") or depth > _MAX_DEPTH:
        return ""
    children = [child for child in node.iter() if child.is_element_node]
    if not children:
        return " ".join((node.text() or "").split())
    if tag == "semantics":
        children = children[:1]
    parts = [_read(child, depth + 1) for child in children]
    write = _WRITERS.get(tag)
    return write(parts) if write else join_formula(parts)


def _at(parts: Sequence[str], index: int) -> str:
    return parts[index] if index < len(parts) else ""


_Writer = Callable[[Sequence[str]], str]
_WRITERS: Mapping[str, _Writer] = {
    "msup": lambda parts: script(parts[0], above=_at(parts, 1)),
    "mover": lambda parts: script(parts[0], above=_at(parts, 1)),
    "msub": lambda parts: script(parts[0], below=_at(parts, 1)),
    "munder": lambda parts: script(parts[0], below=_at(parts, 1)),
    "msubsup": lambda parts: script(parts[0], _at(parts, 1), _at(parts, 2)),
    "munderover": lambda parts: script(parts[0], _at(parts, 1), _at(parts, 2)),
    "mfrac": lambda parts: fraction(parts[0], _at(parts, 1)),
    "msqrt": lambda parts: root(join_formula(parts)),
    "mroot": lambda parts: root(parts[0], _at(parts, 1)),
    "mfenced": lambda parts: f"({', '.join(parts)})",
    "mtr": ", ".join,
    "mtable": "; ".join,
}
