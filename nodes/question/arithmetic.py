"""Plain arithmetic: a question that is nothing but a term, and its value."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, localcontext

from sextant.text.characters import normalise

# A whole question. `-` and `/` without spaces also write dates, years and names of standards.
_ARITHMETIC = re.compile(
    r"(?:what is|what's|calculate|compute|how much is|请?计算|算一下)?\s*"
    r"(?=.*\d\s*(?:[+*×÷^]|\s[-/]\s|[-/].*(?:=|多少|几)$)\s*[\d(])[\s\d.()+\-*/×÷^%]+"
    r"=?\s*(?:(?:等于|是)(?:几|多少))?"
)
_SIGNS = str.maketrans("×÷", "*/")
_TERM = re.compile(r"[\d(][\d\s.()+\-*/×÷^%]*")
_OPERATIONS: dict[type[ast.AST], Callable[..., Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_MARKS = " \t\r\n.!?~。！？～…"
# Enough for any sum that a person types, and a result that takes no time.
_MOST_CHARS, _DIGITS, _LARGEST = 200, 28, 64


def is_arithmetic(question: str) -> bool:
    """Return whether a question is nothing but a term to be computed."""
    return _ARITHMETIC.fullmatch(normalise(question).strip(_MARKS)) is not None


def compute_term(question: str) -> str | None:
    """Return the term of a plain question with its value, `1+1 = 2`; None where there is none, or no value."""
    found = _TERM.search(normalise(question))
    if found is None or len(question) > _MOST_CHARS or not is_arithmetic(question):
        return None
    term = found[0].strip()
    try:
        tree = ast.parse(term.replace("^", "**").translate(_SIGNS), mode="eval")
        with localcontext(Context(prec=_DIGITS)):
            value = _value(tree.body)
    except (SyntaxError, ValueError, DecimalException, RecursionError, MemoryError):
        return None
    if not value.is_finite() or abs(value.adjusted()) > _LARGEST:
        return None
    shown = f"{value.normalize():f}" if value else "0"
    about = "=" if len(value.as_tuple().digits) < _DIGITS else "≈"
    return f"{term} {about} {shown}"


def _value(node: ast.expr) -> Decimal:
    """Return the value of a term.

    Raises:
        ValueError: it holds something else than numbers and the five operations.
        DecimalException: it has no value.
    """
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Decimal(str(node.value))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.operand))
    raise ValueError(ast.dump(node))
