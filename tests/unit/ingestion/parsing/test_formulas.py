"""Formulas of Office as one line of text."""

from __future__ import annotations

import pytest
from lxml import etree

from sextant.ingestion.parsing.formulas import read_omml
from tests.unit.ingestion.parsing.office_files import xml


def text(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


def part(name: str, words: str) -> str:
    return f"<m:{name}>{text(words)}</m:{name}>"


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        (
            text("F=0.5ρ") + f"<m:sSup>{part('e', 'v')}{part('sup', '2')}</m:sSup>" + text("SC"),
            "F = 0.5ρv^2 SC",
        ),
        (text("I=K") + f"<m:f>{part('num', 'p')}{part('den', '100')}</m:f>", "I = K p/100"),
        (f"<m:f>{part('num', 'a+b')}{part('den', '2c')}</m:f>", "(a+b)/2c"),
        (f"<m:rad><m:deg/>{part('e', 'x+1')}</m:rad>", "√(x+1)"),
        (f"<m:rad>{part('deg', '3')}{part('e', 'x')}</m:rad>", "(x)^(1/3)"),
        (
            '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>'
            + part("sub", "i=1") + part("sup", "n") + part("e", "i") + "</m:nary>",
            "∑_(i = 1)^n i",
        ),
        (f"<m:d><m:dPr/>{part('e', 'x')}</m:d>", "(x)"),
        (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr>{part("e", "x")}</m:d>', "[x"),
        (f"<m:func>{part('fName', 'sin')}{part('e', 'x')}</m:func>", "sin x"),
        (
            f"<m:m><m:mr>{part('e', 'a')}{part('e', 'b')}</m:mr><m:mr>{part('e', 'c')}{part('e', 'd')}</m:mr></m:m>",
            "[a, b; c, d]",
        ),
        (f"<m:sSubSup>{part('e', 'x')}{part('sub', 'i')}{part('sup', '2')}</m:sSubSup>", "x_i^2"),
        (
            f"<m:sSup><m:e><m:f>{part('num', '(x-c)')}{part('den', 'v')}</m:f></m:e>{part('sup', '2')}</m:sSup>",
            "((x-c)/v)^2",
        ),
        (
            f"<m:func>{part('fName', 'cos')}<m:e><m:f>{part('num', 'nx')}{part('den', 'L')}</m:f></m:e></m:func>",
            "cos(nx/L)",
        ),
        (f"<m:sSup>{part('e', 'b')}{part('sup', '2')}</m:sSup>" + text("-4") + text("ac"), "b^2-4ac"),
        (f"<m:acc>{part('e', 'x')}</m:acc>", "x\u0302"),
    ],
)  # fmt: skip
def test_a_formula_is_one_line_in_which_each_part_ends_where_it_ends(
    inner: str, shown: str
) -> None:
    assert read_omml(etree.fromstring(xml("m:oMath", inner))) == shown


def test_formulas_below_each_other_are_lines() -> None:
    lines = f"<m:oMath>{text('a=b')}</m:oMath><m:oMath>{text('c=d')}</m:oMath>"

    assert read_omml(etree.fromstring(xml("m:oMathPara", lines))) == "a = b\nc = d"
