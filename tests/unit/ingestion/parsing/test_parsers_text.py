"""Text, Markdown, HTML, CSV and JSON: what becomes a heading, a paragraph, a table."""

from __future__ import annotations

import json
from dataclasses import replace
from email.message import EmailMessage

import pytest

from sextant.domain.errors import FileBroken, FileUnsafe
from sextant.ingestion.parsing.blocks import Block, HeadingBlock, Image, Paragraph, Table, TextKind
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import close_divided
from sextant.ingestion.parsing.structure import build_structure

LIMITS = Limits()


def blocks(file_type: FileType, text: str | bytes, limits: Limits = LIMITS) -> list[Block]:
    content = text.encode() if isinstance(text, str) else text
    return list(parser_for(file_type)(content, limits).blocks)


def headings(found: list[Block]) -> list[tuple[int, str]]:
    return [(block.level, block.text) for block in found if isinstance(block, HeadingBlock)]


def prose(found: list[Block]) -> list[str]:
    return [block.text for block in found if isinstance(block, Paragraph)]


def prose_of(file_type: FileType, content: str) -> list[str]:
    return prose(blocks(file_type, content))


def table(found: list[Block]) -> list[list[str]]:
    [only] = [block for block in found if isinstance(block, Table)]
    return [list(row) for row in only.rows]


class TestPlainText:
    def test_a_contract_gets_its_title_chapters_and_articles(self) -> None:
        found = blocks(
            FileType.TXT,
            "软件开发合同\n\n第一章 总则\n第一条 定义\n本合同所称平台，指慢病管理平台。\n"
            "第二条 付款\n\n甲方应在收到发票后30日内付款。\n\n第二章 验收\n\n（一）验收程序\n\n按附件执行。",
        )

        assert headings(found) == [
            (0, "软件开发合同"), (2, "第一章 总则"), (4, "第一条 定义"), (4, "第二条 付款"),
            (2, "第二章 验收"), (6, "（一）验收程序"),
        ]  # fmt: skip

    def test_an_article_whose_text_follows_on_its_line_is_prose(self) -> None:
        found = blocks(
            FileType.TXT, "第一条 甲方应当在收到发票后三十日内付款。\n第二条 乙方应当开具发票。"
        )

        assert headings(found) == []

    def test_numbered_lines_that_follow_each_other_at_once_are_a_list(self) -> None:
        text = "会议记录：\n一、时间：3 月 24 日\n二、地点：演讲厅\n三、主席：陈明"
        found = blocks(FileType.TXT, text)

        assert headings(found) == []
        assert prose(found) == [text]

    def test_numbers_in_running_text_make_no_heading(self) -> None:
        found = blocks(
            FileType.TXT,
            "The window was\n50 ms wide and\n3.5 mm high,\n\n1. apples\n2. pears\n3. plums",
        )

        assert headings(found) == []

    def test_roman_numbers_make_headings_where_there_are_two_and_none_of_initials(self) -> None:
        text = "Report\n\nI. Scope\nIt covers pumps.\n\nII. Payment\nIn 30 days.\n\nIX. Law\nSwiss."
        assert headings(blocks(FileType.TXT, text)) == [
            (0, "Report"),
            (5, "I. Scope"),
            (5, "II. Payment"),
            (5, "IX. Law"),
        ]
        assert headings(blocks(FileType.TXT, "Signed by\n\nI. Newton\n\nV. Woolf\n\nToday.")) == [
            (0, "Signed by")
        ]

    def test_underlined_lines_are_headings(self) -> None:
        found = blocks(
            FileType.TXT, "Report\n======\n\nText here.\n\nPart one\n--------\n\nMore text."
        )

        assert headings(found) == [(0, "Report"), (2, "Part one")]

    @pytest.mark.parametrize("first", ["# Pump manual", "## Pump manual", "Pump manual"])
    def test_the_marks_of_a_single_heading_are_no_part_of_the_title(self, first: str) -> None:
        assert headings(blocks(FileType.TXT, f"{first}\n\nText here.")) == [(0, "Pump manual")]

    def test_wrapped_lines_are_joined_and_short_lines_stay(self) -> None:
        wrapped = (
            "The torque filter of the motion controller used a window of five milli-\n"
            "seconds instead of fifty, which was changed by mistake when the control\n"
            "loop was rewritten.\n\nOwner: Lin\nDue: April\n\n"
            "患者在确诊后应当每三个月复查一次糖化血红蛋白，达标后可以改为每半年\n复查一次。"
        )

        first, fields, chinese = close_divided(blocks(FileType.TXT, wrapped))

        assert isinstance(first, Paragraph)
        assert first.text.startswith(
            "The torque filter of the motion controller used a window of five milliseconds"
        )
        assert first.text.endswith("when the control loop was rewritten.")
        assert isinstance(fields, Paragraph)
        assert fields.text == "Owner: Lin\nDue: April"
        assert isinstance(chinese, Paragraph)
        assert chinese.text.endswith("达标后可以改为每半年复查一次。")

    def test_lines_that_are_one_long_word_each_stay_lines(self) -> None:
        key = "MIIBIjANBgkqhkiGw0BAQEFAAOCAQAMIIBCgKCAQEAuq9xkTnLk\nwe5hGbVt8sQmVw0yLrXpK2cNf7dJ3aZoU1iEoRbMzTqYwSxHgCvFk"

        assert prose_of(FileType.TXT, f"The key:\n\n{key}") == ["The key:", key]

    def test_lines_of_an_item_and_of_an_indented_text_are_joined(self) -> None:
        text = (
            "   This memo tells how frobs are moved from one host to the next\n"
            "   one, and limits their length.\n\n"
            "  1. No food is allowed in the\n     reading rooms.\n  2. Nor are drinks.\n\n"
            "    result = compute_the_total(of_all_the_rows, that_are_listed)\n    other = 2"
        )

        assert prose_of(FileType.TXT, text) == [
            "This memo tells how frobs are moved from one host to the next one, and limits their length.",
            "1. No food is allowed in the reading rooms.\n2. Nor are drinks.",
            "result = compute_the_total(of_all_the_rows, that_are_listed)\nother = 2",
        ]

    def test_a_numbered_line_as_wide_as_the_text_goes_on_in_the_next_one(self) -> None:
        text = (
            "一、本制度适用于公司全体员工，包括正式员工、试用期员工以及外\n聘人员。\n"
            "二、报销须在费用发生后三十日内提出。"
        )

        assert prose_of(FileType.TXT, text) == [
            "一、本制度适用于公司全体员工，包括正式员工、试用期员工以及外聘人员。\n二、报销须在费用发生后三十日内提出。"
        ]

    def test_quoted_lines_are_joined_without_their_marks(self) -> None:
        text = "> Which day is the meeting of the board that you wrote about in\n> your last mail?\nIt is May 2."

        assert prose_of(FileType.TXT, text) == [
            "> Which day is the meeting of the board that you wrote about in your last mail?\nIt is May 2."
        ]

    def test_an_underlined_heading_needs_no_blank_line(self) -> None:
        found = blocks(
            FileType.TXT, "Part one\n--------\nIts text.\n\nItem  Price\n------------------\nNut  5"
        )

        assert headings(found) == [(2, "Part one")]

    def test_pipe_rows_are_a_table(self) -> None:
        found = blocks(FileType.TXT, "| 名称 | 价格 |\n| --- | --- |\n| 电机 | 4860 |")

        assert table(found) == [[" 名称 ", " 价格 "], [" 电机 ", " 4860 "]]


class TestMarkdown:
    def test_headings_prose_lists_code_and_tables(self) -> None:
        found = blocks(
            FileType.MARKDOWN,
            "# Rust *所有权*\n\nA [link](http://x) and `code`,\nwrapped. 中文\n换行。\n\n- one\n- two\n  1. inner\n\n"
            "  more of two\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\nSetext\n---\n",
        )

        assert headings(found) == [(1, "Rust 所有权"), (2, "Setext")]
        prose = [block.text for block in found if isinstance(block, Paragraph)]
        assert prose == [
            "A link (http://x) and code, wrapped. 中文换行。",
            "- one\n- two\n  1. inner\n  more of two",
            "```rust\nlet a = 1;\n\nlet b = 2;\n```",
        ]
        assert table(found) == [["a", "b"], ["1", "2"]]

    def test_fields_below_each_other_are_lines_of_their_own(self) -> None:
        found = blocks(
            FileType.MARKDOWN,
            "时间：10月12日\n出席：周敏、\n何志远\n缺席：吴倩\n\nWe met.\nNote: it rained.\n",
        )

        assert [block.text for block in found if isinstance(block, Paragraph)] == [
            "时间：10月12日\n出席：周敏、何志远\n缺席：吴倩",
            "We met. Note: it rained.",
        ]

    def test_formulas_are_read_as_they_are_written(self) -> None:
        text = "Take $a*b*c$ and $\\{x_1\\}$ for $5 or $6.\n\n$$\na_1 * b_2 < *c*\n$$\n"
        assert prose_of(FileType.MARKDOWN, text) == [
            "Take $a*b*c$ and $\\{x_1\\}$ for $5 or $6.", "$$a_1 * b_2 < *c*$$",
        ]  # fmt: skip

    def test_front_matter_gives_the_title_and_fields(self) -> None:
        parsed = parser_for(FileType.MARKDOWN)(
            b"---\ntitle: 'The Guide'\nowner: Dana\ntags: [a, \"b\"]\nread by:\n  - Ann\n  - Bob\n"
            b"summary: >\n  Two\n  lines.\n# no field\n---\n\n# Plan\n\nBody.\n",
            LIMITS,
        )

        assert parsed.title == "The Guide"
        assert [*parsed.blocks] == [
            HeadingBlock("Plan", 1),
            Paragraph("owner: Dana\ntags: a, b\nread by: Ann, Bob\nsummary: Two lines."),
            Paragraph("Body."),
        ]

    @pytest.mark.parametrize(
        ("front", "fields"),
        [
            ('+++\ntitle = "Plan"\nowner = "Dana"\n[limits]\ndays = 3\n+++', "owner: Dana\nlimits: days: 3"),
            ("---\nowner: {name: Dana, code: 007}\n---", "owner: name: Dana, code: 007"),
            ("---\nowner: Team: Dana\nstate: *draft\n---", "owner: Team: Dana\nstate: *draft"),
            ("---\nmany: &a [x, x]\nmore: [*a, *a]\n---", "many: &a [x, x]\nmore: [*a, *a]"),
        ],
    )  # fmt: skip
    def test_front_matter_is_read_as_what_it_is_written_in(self, front: str, fields: str) -> None:
        assert prose_of(FileType.MARKDOWN, f"{front}\nBody.\n") == [fields, "Body."]

    def test_links_notes_and_tags_within_a_line(self) -> None:
        assert prose_of(
            FileType.MARKDOWN,
            "See [here](https://a.example/b) or <it@a.example>. 10<sup>6</sup> of 25[^1] days, <user>@host.<br>Next"
            "\n\n[^1]: Probation.\n[^2]: Second.\n",
        ) == [
            "See here (https://a.example/b) or it@a.example. 10^6 of 25 days [note 1], <user>@host.\nNext",
            "[note 1] Probation.\n[note 2] Second.",
        ]  # fmt: skip

    def test_struck_text_is_left_out_and_counted(self) -> None:
        parsed = parser_for(FileType.MARKDOWN)(b"~~Fee 99~~ Fee 79 <s>or 9</s>", LIMITS)
        assert [*parsed.blocks] == [Paragraph("Fee 79")]
        assert "8 struck through" in str(parsed.warnings[0])

    def test_items_have_the_numbers_that_a_reader_sees(self) -> None:
        assert prose_of(FileType.MARKDOWN, "1. a\n1. b\n1. c\n\n# H\n\n5. e\n6. f\n") == [
            "1. a\n2. b\n3. c",
            "5. e\n6. f",
        ]

    def test_a_heading_in_a_list_parts_the_items(self) -> None:
        found = blocks(FileType.MARKDOWN, "- one\n\n  ## Sub\n\n  Below.\n\n- two\n")
        assert [type(block) for block in found] == [Paragraph, HeadingBlock, Paragraph]
        assert prose_of(FileType.MARKDOWN, "- one\n\n  ## Sub\n\n  Below.\n") == [
            "- one",
            "  Below.",
        ]

    def test_html_inside_is_read_as_html(self) -> None:
        found = blocks(
            FileType.MARKDOWN,
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>\n",
        )

        assert table(found) == [["a", "b"], ["1", "2"]]

    @pytest.mark.parametrize(
        ("text", "read"),
        [
            (
                '!!! note "Licence"\n    It lasts 30 days.\n\n    - one\n',
                ["Licence", "It lasts 30 days.", "- one"],
            ),
            ("??? tip\n    Ask the desk.", ["Tip", "Ask the desk."]),
            (":::tip Keys\nNever share them.\n:::\nMore.", ["Keys", "Never share them.", "More."]),
            ("::: {.warning}\nNever share them.\n:::", ["Never share them."]),
            ("> [!IMPORTANT]\n> Back up daily.", ["Important", "Back up daily."]),
            ("Trial\n:   Lasts 30 days.", ["Trial: Lasts 30 days."]),
            ("/// the path\nIt is kept.", ["/// the path It is kept."]),
        ],
        ids=[
            "MkDocs",
            "folded",
            "Docusaurus",
            "Pandoc",
            "GitHub",
            "definition",
            "no box",
        ],
    )
    def test_boxes_and_definitions_are_text(self, text: str, read: list[str]) -> None:
        assert prose_of(FileType.MARKDOWN, text) == read

    def test_the_attributes_of_a_heading_are_no_text(self) -> None:
        found = blocks(
            FileType.MARKDOWN, "# Install {#install .big}\n\n## 安装 { #setup }\n\n## Use {x}"
        )

        assert [text for _, text in headings(found)] == ["Install", "安装", "Use {x}"]


class TestHtml:
    def test_translations_and_links_to_edit_a_wiki_are_menus(self) -> None:
        edit = "<span class=mw-editsection>[<a href=/edit>edit</a>]</span>"
        languages = "<ul><li class='interlanguage-link interwiki-de'><a hreflang=de href=/de>Deutsch</a></ul>"
        page = f"<main>{edit}<p>The mill was built in 1790.</p>{languages}</main>"

        assert prose(blocks(FileType.HTML, page)) == ["The mill was built in 1790."]

    def test_navigation_scripts_and_hidden_parts_are_left_out(self) -> None:
        found = blocks(
            FileType.HTML,
            "<html><head><title> The  page </title><script>x()</script></head><body><nav>Home</nav>"
            "<header><h1>Big <em>title</em></h1></header><p>First<br>line.</p><div>Loose <b>text</b><p>inner</p> tail</div>"
            "<p hidden>no</p><p style='display: none'>no</p><aside>no</aside><footer>no</footer></body></html>",
        )

        assert headings(found) == [(1, "Big title")]
        assert [b.text for b in found if isinstance(b, Paragraph)] == [
            "First\nline.",
            "Loose text",
            "inner",
            "tail",
        ]

    @pytest.mark.parametrize("style", ["visibility: hidden; opacity: 0", "VISIBILITY:HIDDEN"])
    @pytest.mark.parametrize("tag", ["body", "div"])
    def test_a_page_that_a_script_shows_is_read(self, tag: str, style: str) -> None:
        page = f"<body><p>Staff</p><{tag} style='{style}'><p>The bus leaves at 7:15.</p></{tag}>"
        found = blocks(FileType.HTML, page + "<script>show(document.body, {once: true})</script>")
        assert "The bus leaves at 7:15." in [b.text for b in found if isinstance(b, Paragraph)]

    def test_tasks_of_wikis_keep_their_ticks(self) -> None:
        found = blocks(
            FileType.HTML,
            "<ul><li><div class='checkbox checkbox-on'></div> <span>Badge</span></li></ul><p>or</p>"
            "<ul><li class='checked' data-inline-task-id='1'>Space</li><li data-inline-task-id='2'>Mail</li></ul>",
        )
        texts = [b.text for b in found if isinstance(b, Paragraph)]
        assert texts == ["- ☒ Badge", "or", "- ☒ Space\n- ☐ Mail"]

    @pytest.mark.parametrize("tag", ["span", "div"])
    def test_cells_by_role_are_words_apart(self, tag: str) -> None:
        cells = f"<{tag} role=rowheader>Hose</{tag}><{tag} role=gridcell>14 EUR</{tag}>"
        found = prose_of(FileType.HTML, f"<div role=grid><div role=row>{cells}</div></div>")
        assert " ".join(found) == "Hose 14 EUR"

    def test_code_beside_the_numbers_of_its_lines_keeps_them(self) -> None:
        found = blocks(
            FileType.HTML,
            "<table><tr><td><pre>1\n2</pre></td><td><pre>a = 1\nb = 2</pre></td></tr></table>",
        )
        assert "```\na = 1\nb = 2\n```" in [b.text for b in found if isinstance(b, Paragraph)]

    def test_only_the_main_part_is_read_where_the_page_has_one(self) -> None:
        found = blocks(
            FileType.HTML, "<body><div>Cookie banner</div><main><p>Content.</p></main></body>"
        )

        assert [b.text for b in found if isinstance(b, Paragraph)] == ["Content."]

    def test_lists_nest_and_keep_their_numbers(self) -> None:
        found = blocks(
            FileType.HTML,
            "<ol><li>one<ul><li>inner</li></ul></li><li><p>two</p><p>more</p></li></ol>after",
        )

        assert [b.text for b in found if isinstance(b, Paragraph)] == [
            "1. one\n  - inner\n2. two\n  more",
            "after",
        ]

    def test_merged_cells_stand_in_every_row_and_column_they_span(self) -> None:
        found = blocks(
            FileType.HTML,
            "<table><caption>表 1 限额</caption><thead><tr><th rowspan=2>城市</th><th colspan=2>限额</th></tr>"
            "<tr><th>旺季</th><th>淡季</th></tr></thead>"
            "<tr><td>上海<br>北京</td><td colspan=2>650 元</td></tr></table>",
        )

        assert isinstance(found[0], Paragraph)
        assert found[0].text == "表 1 限额"
        assert isinstance(found[1], Table)
        assert found[1].header_rows == 2
        assert table(found) == [
            ["城市", "限额", "限额"],
            ["城市", "旺季", "淡季"],
            ["上海\n北京", "650 元", "650 元"],
        ]

    def test_a_table_used_for_layout_is_read_as_text(self) -> None:
        found = blocks(
            FileType.HTML,
            "<table><tr><td><h2>Left</h2><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>",
        )

        assert headings(found) == [(2, "Left")]
        assert table(found) == [["a", "b"]]

    def test_the_encoding_that_the_page_names_is_used(self) -> None:
        page = '<meta charset="gbk"><p>糖</p>'.encode("gbk")

        assert [b.text for b in blocks(FileType.HTML, page) if isinstance(b, Paragraph)] == ["糖"]

    def test_elements_nested_deeper_than_the_stack_of_calls_are_walked(self) -> None:
        found = blocks(FileType.HTML, "<div>" * 5_000 + "deep" + "</div>" * 5_000)

        assert [b.text for b in found if isinstance(b, Paragraph)] == ["deep"]

    def test_a_span_that_makes_too_many_cells_is_refused(self) -> None:
        rows = "<tr><td colspan=1000>a</td><td>b</td></tr>" * 200

        with pytest.raises(FileUnsafe):
            blocks(FileType.HTML, f"<table>{rows}</table>")

    def test_a_cell_spans_no_more_rows_than_there_are(self) -> None:
        html = "<table><tr><th>n</th><th>m</th></tr><tr><td rowspan=65534>1</td><td>2</td></tr></table>"

        assert table(blocks(FileType.HTML, html)) == [["n", "m"], ["1", "2"]]

    def test_a_cell_may_span_the_rest_of_its_group(self) -> None:
        rows = (
            "<tbody><tr><td rowspan=0>Red<td>Ann<tr><td>Bob</tbody><tbody><tr><td rowspan=9>Blue<td>Cy</tbody>"
            "<tbody><tr><td>Grey<td>Di</tbody>"
        )

        found = table(blocks(FileType.HTML, f"<table><tr><th>Team<th>Name</tr>{rows}</table>"))

        assert [row[0] for row in found[1:]] == ["Red", "Red", "Blue", "Grey"]

    def test_where_all_rows_are_marked_as_names_the_first_one_is(self) -> None:
        rows = "<tr><th>Item<th>Price</tr><tr><th>Nut<th>5</tr>"

        structure = build_structure(blocks(FileType.HTML, f"<table>{rows}</table>"))

        assert structure.text.splitlines()[-1] == "| Nut | 5 |"

    def test_what_stands_outside_the_main_part_is_kept_where_it_is_no_menu(self) -> None:
        page = (
            "<body><div><a href='/'>Home</a> <a href='/b'>All about us and the others.</a></div><h1>Pump</h1>"
            "<p>The pump weighs 14 kg and runs at 230 V.</p><button>Buy</button>{}</body>"
        )
        teaser = "<article><h3>Other</h3><p>Short.</p></article>"
        long = f"<article><p>{'The article goes on. ' * 20}</p></article>"

        assert "The pump weighs 14 kg and runs at 230 V." in prose_of(
            FileType.HTML, page.format(teaser)
        )
        assert prose_of(FileType.HTML, page.format(long))[0].startswith("The pump weighs")
        assert "Home" not in " ".join(prose_of(FileType.HTML, page.format(long)))

    @pytest.mark.parametrize(
        "declared",
        [
            '<meta property="og:type" content="article">',
            '<script type="application/ld+json">{"@type": "NewsArticle"}</script>',
        ],
    )
    def test_of_a_page_that_says_it_is_an_article_labels_around_its_prose_are_none_of_it(
        self, declared: str
    ) -> None:
        prose = "".join(
            f"<p>{f'Sentence {n} of the article says a good deal. ' * 3}</p>" for n in range(4)
        )
        page = (
            "<head>{}</head><body><main><ul><li>Sport</li><li>Money</li></ul><div><h1>Rain</h1>{}<ul><li>One</li></ul></div>"
            "<div><h3>More</h3><p>Markets today</p></div><p>Subscribers may read all of our archive.</p></main></body>"
        )
        stored = prose_of(FileType.HTML, page.format(declared, prose))
        assert len(stored) == 6
        assert stored[-2:] == ["- One", "Subscribers may read all of our archive."]
        assert "Markets today" in prose_of(FileType.HTML, page.format("", prose))

    def test_what_stands_between_the_title_of_an_article_and_its_text_is_part_of_it(self) -> None:
        prose = "".join(f"<p>{'It says a good deal about the rain. ' * 3}</p>" for _ in range(6))
        page = (
            "<head><title>Rain in May | The Post</title><meta property='og:type' content='article'></head><body>"
            "<h1>The Post</h1><ul><li><a href=/a>Sport</a></li><li><a href=/b>Money</a></li></ul>"
            "<header><h2>Rain in May</h2><h3>All of it fell on one day</h3><p>1 June, by Ada Lind</p>"
            "<ul><li><a href=/c>Send</a></li><li><a href=/d>Print</a></li></ul></header>"
            f"<div>{prose}</div><ul><li>Most read</li></ul></body>"
        )
        read = blocks(FileType.HTML, page)
        assert [one.text for one in read if isinstance(one, HeadingBlock)] == [
            "Rain in May", "All of it fell on one day",
        ]  # fmt: skip
        assert next(one.text for one in read if isinstance(one, Paragraph)) == "1 June, by Ada Lind"
        assert len(read) == 9

    def test_a_page_that_stands_within_noscript_is_read(self) -> None:
        page = "<p>Menu</p><noscript><div></noscript><h1>Bears</h1><p>Ten were born in the park this year.</p></div>"
        assert "Ten were born in the park this year." in prose_of(FileType.HTML, page)

    def test_comments_above_the_type_of_a_page_take_no_time(self) -> None:
        comments = "<!-- made by a program --><?xml version='1.0'?>" * 60
        assert prose_of(FileType.HTML, f"{comments}<!DOCTYPE html><p>Read.</p>") == ["Read."]
        assert prose_of(FileType.HTML, f"{comments}<html><p>Read.</p>") == ["Read."]

    def test_a_chinese_sentence_beside_the_page_counts_by_its_ideographs(self) -> None:
        page = "<body><h1>安装</h1><p>运行安装程序。</p><aside>拆机前必须断电。</aside><footer>版权所有。</footer></body>"
        stored = prose_of(FileType.HTML, page)
        assert "拆机前必须断电。" in stored
        assert "版权所有" not in stored

    def test_a_short_sentence_beside_the_page_is_left_out_with_a_warning(self) -> None:
        page = "<body><nav><a href=/>Home.</a></nav><h1>Office</h1><p>Opens at nine.</p><aside>Parking costs 3 EUR.</aside></body>"
        assert "Parking" not in " ".join(prose_of(FileType.HTML, page))
        [warning] = parser_for(FileType.HTML)(page.encode(), Limits()).warnings
        assert "17 in short sentences beside the main part" in str(warning)

    def test_forms_questions_asides_and_panels_are_read(self) -> None:
        assert prose_of(
            FileType.HTML,
            "<main><form><p>In a form.</p><label>Name <input value='Alice'></label><input type=submit value=Go></form>"
            "<button aria-expanded=false>How to reset?</button><div hidden role=tabpanel>Hold the key.</div>"
            "<button aria-controls=x>More</button><p id=x style='display: none'>Behind it.</p><button>Send</button>"
            "<h3><button aria-expanded=false>Where?</button></h3> <div hidden>In the shed.</div><p hidden>Secret.</p>"
            "<aside>Disconnect it first.</aside><details><summary>Why</summary>Because.</details></main>",
        ) == [
            "In a form.", "Name Alice", "How to reset?", "Hold the key.", "More", "Behind it.", "Where?", "In the shed.",
            "Disconnect it first.", "Why", "Because.",
        ]  # fmt: skip

    def test_a_form_says_what_is_filled_in_and_chosen(self) -> None:
        assert prose_of(
            FileType.HTML,
            "<main><p>Name <input value='Ann'> <input type=password value=secret><input type=hidden value=token></p>"
            "<p>Size <select><option>small<option selected>large</select></p>"
            "<p>Port <select><option>Oslo<option>Bergen</select></p>"
            "<p>Colour <select><option value=''>Choose …<option>red</select></p>"
            "<p>Days <select multiple><option selected>Mon<option>Tue<option selected>Wed</select></p>"
            "<p>Boats <select multiple><optgroup label=x><option>Canoe 18 EUR<option>Kayak</optgroup></select></p>"
            "<p>Hour <select size=3><option>9<option>10</select></p>"
            "<label>Remarks <textarea>Ring twice.\nThen wait.</textarea></label>"
            "<p><input type=checkbox checked> Gift <input type=checkbox> Express</p></main>",
        ) == [
            "Name Ann", "Size large", "Port Oslo", "Colour", "Days Mon, Tue, Wed",
            "Boats Canoe 18 EUR, Kayak", "Hour 9, 10", "Remarks Ring twice.\nThen wait.", "☒ Gift ☐ Express",
        ]  # fmt: skip

    def test_what_a_closed_list_does_not_show_is_told(self) -> None:
        page = (
            b"<main><p>Rent a boat.</p><select><option>Kayak 15<option>Canoe 18 EUR</select></main>"
        )

        parsed = parser_for(FileType.HTML)(page, LIMITS)

        assert [block.text for block in parsed.blocks if isinstance(block, Paragraph)] == [
            "Rent a boat.",
            "Kayak 15",
        ]
        assert "10 not chosen in a list" in str(parsed.warnings[0])
        assert "下拉列表中未选的文字 10 字" in parsed.warnings[0].in_language("zh")

    def test_open_lists_leave_nothing_out(self) -> None:
        page = b"<p>Days <select multiple><option>Mon<option>Tue</select></p>"

        assert parser_for(FileType.HTML)(page, LIMITS).warnings == ()

    def test_raised_lowered_struck_and_linked_text(self) -> None:
        page = (
            "<p>Take 25<sup>1</sup> days, 10<sup>6</sup> of H<sub>2</sub>O, <del>99</del><ins>79</ins> EUR"
            "<sup><a href='#fn2'>[2]</a></sup>, <a href='https://a.example/'>here</a>.</p><p><sup>1</sup> later</p>"
        )
        parsed = parser_for(FileType.HTML)(page.encode(), LIMITS)

        assert [block.text for block in parsed.blocks if isinstance(block, Paragraph)] == [
            "Take 25 days [note 1], 10^6 of H2O, 79 EUR [note 2], here (https://a.example/).",
            "[note 1] later",
        ]
        assert "2 struck through" in str(parsed.warnings[0])

    def test_remarks_and_ways_back_are_no_marks_of_notes(self) -> None:
        page = (
            "<p>They dive.<sup>[<a href='/help#c'>citation needed</a>]</sup> They fly.<sup><a href='#n2'>[nb 2]</a></sup></p>"
            "<p>它会飞<sup><a href='#n3'>[注 1]</a></sup>。</p>"
            "<p>^ <a href='#cite_ref-1'><sup>a</sup></a> <a href='#cite_ref-2'><sup>b</sup></a> Lee 1992.</p>"
        )
        assert prose_of(FileType.HTML, page) == [
            "They dive.[citation needed] They fly.[nb 2]",
            "它会飞 [注 1]。",
            "^ a b Lee 1992.",
        ]

    @pytest.mark.parametrize(
        ("math", "text"),
        [
            ("<math><msup><mi>r</mi><mn>2</mn></msup></math>", "r^2"),
            ("<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>", "a/b"),
            ("<math alttext='{\\displaystyle x_1}'><mi>x</mi></math>", "x_1"),
            ("<span style='display:none'><math alttext='y^2'></math></span><img aria-hidden=true>", "y^2"),
            ("<script type='math/tex'>E=mc^2</script>", "E=mc^2"),
            ("<img src=f.png alt='U = 2 π r'><img alt='logo.png'><img alt=icon>", "U = 2 π r"),
        ],
    )  # fmt: skip
    def test_formulas_are_text(self, math: str, text: str) -> None:
        assert (
            prose_of(FileType.HTML, f"<p>It is {math}.</p>")[0].split()
            == f"It is {text} .".replace(" .", "." if "img src" not in math else " .").split()
        )

    def test_blank_rows_part_no_table_from_its_names(self) -> None:
        rows = "<tr><td>Sales<td><td><tr><td><td><br><td><tr><td>Part<td>Sold<td>City<tr><td>A<td>1<td>Ulm<tr><td>B<td>2<td>Graz"
        assert blocks(FileType.HTML, f"<table>{rows}</table>") == [
            Table(
                [
                    ["Sales", "", ""],
                    ["Part", "Sold", "City"],
                    ["A", "1", "Ulm"],
                    ["B", "2", "Graz"],
                ],
                2,
            )
        ]

    def test_readings_and_formulas_keep_apart_from_their_neighbours(self) -> None:
        page = "<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby></p><math display=block><mi>a</mi></math><math><mi>b</mi></math>"
        assert prose_of(FileType.HTML, page) == ["漢字(かんじ)", "a b"]

    def test_what_a_style_raises_is_raised(self) -> None:
        page = "<p>5 m<span style='font-size:70%; vertical-align: super'>2</span>, H<span style='vertical-align:sub'>2</span>O</p>"
        assert prose_of(FileType.HTML, page) == ["5 m^2, H2O"]

    def test_the_markup_of_a_component_is_read_with_its_content(self) -> None:
        page = (
            "<p>Above.</p><price-card><template id=a shadowrootmode=open><p>A seat costs 19 EUR.</p><slot></slot></template>"
            "<p>A month.</p></price-card><template><p>Never shown.</p></template><p>Below.</p>"
        )
        assert prose_of(FileType.HTML, page) == [
            "Above.",
            "A seat costs 19 EUR.",
            "A month.",
            "Below.",
        ]

    def test_what_a_picture_that_stands_alone_shows_is_its_caption(self) -> None:
        page = b"<p><img alt='A red barn'></p><p><b>Note</b> <img alt='of this'> day</p><a href='/'><img alt='Back home'></a>"
        parsed = parser_for(FileType.HTML)(page, LIMITS)
        caption = Paragraph("A red barn", kind=TextKind.CAPTION)
        assert [*parsed.blocks] == [caption, Paragraph("Note of this day"), Paragraph("Back home")]

    def test_bold_lines_are_headings_where_the_page_marks_none(self) -> None:
        body = "<p>It says a thing of some length, and goes on for a while.</p>"
        page = f"<p><b>Item 1. Business</b></p>{body}{body}<p><b>Item 2. Risk</b></p>{body}<p><b>It</b> says so.</p>"

        assert headings(blocks(FileType.HTML, page)) == [
            (1, "Item 1. Business"),
            (1, "Item 2. Risk"),
        ]
        assert headings(blocks(FileType.HTML, f"<h2>H</h2>{page}")) == [(2, "H")]
        run_in = f"<p><b>1. Leave</b><br>{body}</p><p><b>2. Pay</b><br>{body}</p>"
        assert headings(blocks(FileType.HTML, run_in)) == [(1, "1. Leave"), (1, "2. Pay")]

    def test_headings_in_cells_name_columns_unless_a_page_hangs_below_them(self) -> None:
        page = "<table><tr><td><h3>Part</h3></td><td><h3>Price</h3></td></tr><tr><td>Nut</td><td>5 {}</td></tr></table>"
        assert table(blocks(FileType.HTML, page.format(""))) == [["Part", "Price"], ["Nut", "5"]]
        text = "<p>It says a good deal.</p>" * 20
        columns = f"<table><tr><td><h2>A</h2>{text}</td><td>x</td></tr><tr><td>y</td><td>z</td></tr></table>"
        assert headings(blocks(FileType.HTML, columns)) == [(2, "A")]

    def test_a_column_of_text_is_layout_but_for_one_with_a_name(self) -> None:
        rows = "<tr><td>Dear Bob,</td></tr><tr><td>The deadline is 17 June.</td></tr>"
        assert prose_of(FileType.HTML, f"<table>{rows}</table>") == [
            "Dear Bob,",
            "The deadline is 17 June.",
        ]
        assert table(blocks(FileType.HTML, f"<table><tr><th>Text</th></tr>{rows}</table>"))[0] == [
            "Text"
        ]

    def test_lists_of_terms_and_numbers_as_their_reader_sees_them(self) -> None:
        assert prose_of(
            FileType.HTML,
            "<dl><dt>Owner</dt><dd>Dana</dd><dt>State:</dt><dd>Draft</dd><dt>Soda</dt></dl><ol start=5 type=a><li>e<li value=9>i</ol>"
        ) == [
            "Owner: Dana\nState: Draft\nSoda:", "e. e\ni. i",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("rows", "header"),
        [
            ("<tr><td>Name<td>City<td>Hired<tr><td>Ann<td>Rome<td>2021-03-01", 1),
            ("<tr><td>Region<td>2023<td>2024<tr><td>North<td>120<td>150<tr><td>South<td>9<td>8", 1),
            ("<tr><td>Owner<td>Dana<tr><td>State<td>Draft", 0),
            ("<tr><td><b>Name</b><td><b>City</b><tr><td>Ann<td>Rome", 1),
            ("<tr><td>Name<td>Age<tr><td>Ann<td>31", 1),
            ("<tr><th>Owner<td>Dana<tr><th>State<td>Draft", 0),
            ("<tfoot><tr><td>Sum<td>3</tfoot><tr><th>Name<th>Age<tr><td>Ann<td>3", 1),
            ("<tr><th>Name<th>Age<tr><th colspan=2>Cats<tr><td>Tom<td>3", 1),
            ("<tr style='display: none'><td>Sum<td>3<tr><td>Name<td>Age<tr><td>Ann<td>31", 1),
            ("<tr><th colspan=2>Pets<tr><th>Name<th>Age<tr><td>Tom<td>3", 2),
            ("<tr><th colspan=2>Leeds<tr><th>Mayor<td>Dana<tr><th>River<td>Aire", 0),
            ("<tr><th colspan=3>May<tr><td>Mo<td>Tu<td>We<tr><td>1<td>2<td>3", 2),
        ],
    )  # fmt: skip
    def test_the_row_of_names_is_found_without_its_tags(self, rows: str, header: int) -> None:
        [found] = blocks(FileType.HTML, f"<table>{rows}</table>")
        assert isinstance(found, Table)
        assert found.header_rows == header
        assert found.rows[0][0] != "Sum"

    def test_a_table_within_a_cell_is_that_cells_text(self) -> None:
        html = (
            "<table><tr><th>Site</th><th>Details</th></tr><tr><td>Leeds</td><td><table><tr><td>Area</td><td>400</td>"
            "</tr><tr><td>Staff</td><td>12</td></tr></table></td></tr></table>"
        )
        assert table(blocks(FileType.HTML, html)) == [
            ["Site", "Details"],
            ["Leeds", "Area: 400; Staff: 12"],
        ]


def test_signs_without_width_are_no_part_of_a_word() -> None:
    text = "The data\u200bbase fail\u00adover\ufeff of Te\u200dst; نامه\u200cای 👩\u200d💻"
    assert (
        build_structure([Paragraph(text)]).text
        == "The database failover of Test; نامه\u200cای 👩\u200d💻"
    )


def test_words_in_a_drawing_are_read_and_those_for_old_browsers_are_counted() -> None:
    page = (
        "<p>See the plan.</p><svg><title>icon</title><text>Room 66</text></svg>"
        "<noscript>Call 0800.</noscript>"
    )
    parsed = parser_for(FileType.HTML)(page.encode(), LIMITS)
    assert [block.text for block in parsed.blocks if isinstance(block, Paragraph)] == [
        "See the plan.", "Room 66",
    ]  # fmt: skip
    assert parsed.omissions is not None
    assert parsed.omissions.left_out == {"out of sight": 9}


def test_links_that_only_styles_part_stand_apart() -> None:
    page = (
        "<p><a href='/'>Home</a><a href='/world'>World</a></p><p>Tags: <a href='https://e.org/t'>tea</a>"
        "<a href='https://e.org/c'>coffee</a></p><p>The <a href='https://e.org/g'>GPU</a>s fail.</p>"
        "<p><a href='/z'>中</a><a href='/g'>国</a></p>"
    )
    assert prose_of(FileType.HTML, page) == [
        "Home World",
        "Tags: tea (https://e.org/t) coffee (https://e.org/c)",
        "The GPUs (https://e.org/g) fail.",
        "中国",
    ]


def test_headings_beside_the_main_part_are_counted_as_left_out() -> None:
    page = (
        "<h3>Most read</h3><h3>Sponsored</h3><main><h1>Tides of the bay</h1><p>First the water falls, "
        "and then it rises again.</p></main><h3>Related</h3>"
    )
    parsed = parser_for(FileType.HTML)(page.encode(), LIMITS)
    assert headings(list(parsed.blocks)) == [(1, "Tides of the bay")]
    assert parsed.omissions is not None
    assert parsed.omissions.left_out == {
        "in menus and feet of the page": len("MostreadSponsoredRelated")
    }


def test_a_cell_without_words_says_what_its_icons_stand_for() -> None:
    page = (
        "<table><tr><th>Plan</th><th>SSO</th><th>API</th><th>Logs</th></tr>"
        "<tr><td>Basic</td><td><svg aria-label=Included></svg></td><td><img alt=no></td><td><img alt=a.png></td></tr>"
        "<tr><td>Plus</td><td><img alt=Node.js></td><td><b hidden><img alt=no></b></td><td><img alt='data:a b'></td></tr>"
        "<tr><td>Pro <img alt=star></td><td><svg><title>Included</title></svg></td><td><i title=yes></i></td></tr></table>"
    )
    [found] = blocks(FileType.HTML, page)
    assert isinstance(found, Table)
    assert found.rows[1:] == [
        ["Basic", "Included", "no", ""],
        ["Plus", "Node.js", "", ""],
        ["Pro", "Included", "yes", ""],
    ]


def test_names_that_stand_beside_rows_are_no_row_of_their_own() -> None:
    page = (
        "<table><tr><th>Year</th><th>Month</th><th>Sold</th></tr><tr><th rowspan=3>2025</th></tr>"
        "<tr><td>May</td><td>3</td></tr><tr><td>June</td><td>4</td></tr></table>"
    )
    [found] = blocks(FileType.HTML, page)
    assert isinstance(found, Table)
    assert found.rows == [["Year", "Month", "Sold"], ["2025", "May", "3"], ["2025", "June", "4"]]
    assert (found.header_rows, found.repeated) == (1, frozenset({(2, 0)}))


class TestCsv:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_the_delimiter_is_found(self, delimiter: str) -> None:
        text = (
            delimiter.join(["名称", "单价", "备注"])
            + "\n"
            + delimiter.join(["电机", "4860", '"大, 重; 贵"'])
        )

        assert table(blocks(FileType.CSV, text)) == [
            ["名称", "单价", "备注"],
            ["电机", "4860", "大, 重; 贵"],
        ]

    def test_a_first_row_with_numbers_is_no_header(self) -> None:
        [only] = blocks(FileType.CSV, "1,2\n3,4\n")

        assert isinstance(only, Table)
        assert only.header_rows == 0

    def test_line_breaks_inside_quotes_belong_to_the_cell(self) -> None:
        assert table(blocks(FileType.CSV, 'a,b\n"x\ny",z\n')) == [["a", "b"], ["x\ny", "z"]]

    def test_text_that_is_written_as_a_formula_is_that_text(self) -> None:
        assert table(blocks(FileType.CSV, 'Code,Qty\n="00123",5')) == [
            ["Code", "Qty"],
            ["00123", "5"],
        ]

    def test_the_limit_of_cells_holds_exactly(self) -> None:
        rows = "a,b\n" * 50

        assert len(table(blocks(FileType.CSV, rows, Limits(table_cells=100)))) == 50
        with pytest.raises(FileUnsafe, match="100 cells"):
            blocks(FileType.CSV, rows + "a,b\n", Limits(table_cells=100))


class TestJson:
    @pytest.mark.parametrize("between", ["", "\n"])
    def test_values_one_behind_the_other_are_read_on_however_many_lines(self, between: str) -> None:
        values = '{\n  "name": "a",\n  "n": 1\n}' + between + '{\n  "name": "b",\n  "n": 2\n}\n'
        assert table(blocks(FileType.JSON, values)) == [["name", "n"], ["a", "1"], ["b", "2"]]

    def test_objects_become_sections_and_flat_lists_tables(self) -> None:
        found = blocks(
            FileType.JSON,
            json.dumps(
                {
                    "title": "指南",
                    "version": 1.50,
                    "targets": [{"name": "HbA1c", "below": "7.0"}, {"name": "BMI", "below": "24"}],
                    "chapters": [{"title": "症状", "text": "第一行\n第二行", "tags": ["a", "b"]}],
                }
            ),
        )

        assert headings(found) == [(1, "targets"), (1, "chapters"), (2, "症状")]
        assert table(found) == [["name", "below"], ["HbA1c", "7.0"], ["BMI", "24"]]
        prose = [block.text for block in found if isinstance(block, Paragraph)]
        assert prose == ["title: 指南\nversion: 1.5", "第一行\n第二行", "title: 症状; tags: a, b"]

    def test_prose_of_records_is_read_below_their_names_without_keys(self) -> None:
        records = [
            {"id": "K1", "lang": "en", "product": "Otter", "question": "Can the otter swim?", "answer": "Yes. It swims for two hours."},
            {"id": "K2", "lang": "zh", "product": "Otter", "question": "坏了怎么办？", "answer": "更换。"},
        ]  # fmt: skip
        lines = "\n".join(json.dumps(record) for record in records)
        rows = "\n".join(";".join(record.values()) for record in records)
        for found in (
            blocks(FileType.JSON, json.dumps(records)),
            blocks(FileType.JSON, lines),
            blocks(FileType.CSV, f"{';'.join(records[0])}\n{rows}\n"),
        ):
            assert table(found) == [
                ["id", "lang", "product"],
                ["K1", "en", "Otter"],
                ["K2", "zh", "Otter"],
            ]
            assert headings(found) == [
                (1, "Can the otter swim? (Otter)"),
                (1, "坏了怎么办？ (Otter)"),
            ]
            assert [block.text for block in found if isinstance(block, Paragraph)] == [
                "Yes. It swims for two hours.",
                "更换。",
            ]

    def test_several_texts_of_a_record_keep_what_they_are_called(self) -> None:
        found = blocks(
            FileType.JSON,
            json.dumps([
                {
                    "name": "E42", "level": 3, "likely_cause": "The belt is jammed by a parcel.",
                    "remedy": "Stop the line and clear it.", "parts": [{"no": "1"}, {"no": "2"}],
                },
                {"name": "E43", "level": 1, "remedy": "Close the lid until it clicks."},
            ]),
        )  # fmt: skip
        assert headings(found) == [
            (1, "E42"), (2, "likely cause"), (2, "remedy"), (2, "parts"), (1, "E43"),
        ]  # fmt: skip
        assert [block.text for block in found if isinstance(block, Paragraph)] == [
            "name: E42; level: 3",
            "The belt is jammed by a parcel.",
            "Stop the line and clear it.",
            "Close the lid until it clicks.",
            "name: E43; level: 1",
        ]

    def test_a_column_of_prose_leaves_what_can_be_computed_whole(self) -> None:
        rows = "name,price,note\nBolt,4,Sold only in boxes of ten.\nNut,2,\nPin,3,Comes with a free washer.\n"
        found = blocks(FileType.CSV, rows)
        assert table(found) == [["name", "price"], ["Bolt", "4"], ["Nut", "2"], ["Pin", "3"]]
        assert headings(found) == [(1, "Bolt"), (1, "Pin")]

    def test_rows_without_names_stay_a_table(self) -> None:
        rows = "date,level,message\n2025-01-03,ERROR,The belt is torn.\n2025-01-04,INFO,The pump has started.\n"
        found = blocks(FileType.CSV, rows)
        assert headings(found) == []
        assert len(table(found)) == 3

    @pytest.mark.parametrize(
        "line",
        [
            {"type": "document", "id": "d1", "title": "Ports"},
            {"type": "chunk", "id": "c1", "text": "Zilda owns it."},
            {"type": "entity", "name": "Zilda"},
            {"type": "relation", "source": "Zilda", "target": "Korvo", "relationType": "OWNS"},
            {"type": "decision", "source": "WHO", "target": "W.H.O.", "same": True},
        ],
    )
    def test_lines_of_an_import_say_how_they_are_brought_in(self, line: dict[str, object]) -> None:
        """They were stored as text, without a word, and without their graph."""
        one = json.dumps(line).encode() + b"\n"
        for content in (one, one * 2):
            [warning] = parser_for(FileType.JSON)(content, LIMITS).warnings
            assert "`sextant import`" in str(warning)
            assert warning.code == "lines_not_imported"

    @pytest.mark.parametrize(
        "line",
        [{"type": "document"}, {"type": "entity", "label": "x"}, {"type": 5}, {"type": []}, {}],
    )
    def test_other_lines_with_a_type_are_text(self, line: dict[str, object]) -> None:
        assert parser_for(FileType.JSON)(json.dumps([line, "x"]).encode(), LIMITS).warnings == ()

    def test_numbers_stay_as_they_are_written(self) -> None:
        [only] = blocks(
            FileType.JSON, b'{"a": 1.50, "b": 123456789012345678901234567890, "c": true, "d": null}'
        )

        assert isinstance(only, Paragraph)
        assert only.text == "a: 1.50\nb: 123456789012345678901234567890\nc: true\nd: "

    def test_json_lines_are_read_line_by_line(self) -> None:
        found = blocks(
            FileType.JSON,
            b'{"question": "Q1", "answer": "'
            + b"x" * 90
            + b'"}\n\n{"question": "Q2", "answer": "y"}\n',
        )

        assert headings(found) == [(1, "Q1"), (1, "Q2")]

    def test_a_bad_line_is_named(self) -> None:
        with pytest.raises(FileBroken, match="line 2"):
            blocks(FileType.JSON, b'{"a": 1}\n{"a": }\n')

    def test_a_bad_line_among_others_costs_itself_alone(self) -> None:
        found = parser_for(FileType.JSON)(b'{"a": "x"}\n{"a": \n{"a": "y"}\n', Limits())

        [only] = found.blocks
        assert isinstance(only, Table)
        assert [list(row) for row in only.rows] == [["a"], ["x"], ["y"]]
        assert [str(warning) for warning in found.warnings] == ["Not read: 1 damaged line (line 2)"]

    @pytest.mark.parametrize("sign", ["/* ", '\\"'])
    def test_comments_and_strings_that_nothing_closes_take_no_time(self, sign: str) -> None:
        with pytest.raises(FileBroken):
            blocks(FileType.JSON, '{"a": ' + sign * 300_000)

    def test_settings_with_comments_are_read_as_text(self) -> None:
        text = '// The port: 80 "only".\n{"url": "http://a//b", /* why */ "ports": [80, 81,],}\n'
        [only] = blocks(FileType.JSON, text)
        assert only == Paragraph(f"```\n{text}```")

    def test_what_is_no_json_is_broken(self) -> None:
        with pytest.raises(FileBroken, match="not valid JSON"):
            blocks(FileType.JSON, b"{'a': 1}")

    def test_lone_surrogates_and_nul_are_read(self) -> None:
        [only] = blocks(FileType.JSON, rb'{"a": "x\ud800y\u0000z"}')

        assert isinstance(only, Paragraph)
        assert only.text == "a: x\ud800y\x00z"  # cleaned where offsets begin, in structure.py

    def test_nesting_without_end_is_refused(self) -> None:
        with pytest.raises(FileUnsafe):
            blocks(FileType.JSON, "[" * 100_000 + "]" * 100_000)


class TestMail:
    def test_the_messages_of_a_mailbox_are_read_one_after_the_other(self) -> None:
        mailbox = (
            b"From ann@heron.example Fri May  1 09:00:00 2026\r\nFrom: Ann\r\nSubject: Pump\r\n\r\nIt stands still.\r\n"
            b"From Monday on it runs.\r\n\r\n"
            b"From bob@heron.example Sat May  2 10:30:00 2026\r\nFrom: Bob\r\nSubject: Gate\r\n"
            b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nSXQgaXMgb3Blbi4=\r\n"
        )

        found = blocks(FileType.EML, mailbox)

        assert [text for _, text in headings(found)] == ["Pump", "Gate"]
        assert " ".join(" ".join(prose(found)).split()) == (
            "From: Ann It stands still. From Monday on it runs. From: Bob It is open."
        )

    def test_parts_hundreds_deep_cost_no_other_message_of_a_mailbox(self) -> None:
        envelope = b"From a@example.org Fri May  1 09:00:00 2026\nFrom: a@example.org\n"
        deep = b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at)
            for at in range(2_000)
        )
        mailbox = envelope + b"\nThe lift is out.\n\n" + envelope + deep + b"\nThe hall is shut.\n"

        found = "\n".join(
            one.text for one in blocks(FileType.EML, mailbox) if isinstance(one, Paragraph)
        )

        assert "The lift is out." in found
        assert "The hall is shut." in found

    def test_hours_in_a_mail_make_it_no_mailbox(self) -> None:
        mail = b"From: Ann\r\nSubject: Pump\r\n\r\nAll stand.\r\n\r\nFrom 10:30 on:\r\nGate: A\r\n\r\nFrom 11:30 on:\r\nGate: B\r\n"
        listed = (
            b"From ann@b Fri May  1 09:00:00 2026\r\nTo: Bob\r\n\r\nAll stand.\r\n"
            b"\r\nFrom May  1 10:30:\r\nGate: A\r\n"
        )

        assert "All stand. From 10:30 on: Gate: A From 11:30 on: Gate: B" in " ".join(
            " ".join(prose(blocks(FileType.EML, mail))).split()
        )
        assert "Gate: A" in " ".join(prose(blocks(FileType.EML, listed)))

    def message(self, **headers: str) -> EmailMessage:
        made = EmailMessage()
        for name, value in {
            "Subject": "交付条款",
            "From": "李娜 <lina@example.com>",
            **headers,
        }.items():
            made[name] = value
        return made

    def test_the_subject_is_the_title_and_chinese_in_base64_is_read(self) -> None:
        message = self.message(To="tom@example.com", Date="Mon, 12 Oct 2026 09:12:00 +0200")
        message.set_content(
            "你好，\n\n二十台机器人在1月15日前交付。\n", cte="base64", charset="gb18030"
        )

        parsed = parser_for(FileType.EML)(message.as_bytes(), LIMITS)

        assert parsed.title == "交付条款"
        assert headings(list(parsed.blocks)) == [(0, "交付条款")]
        assert prose(list(parsed.blocks)) == [
            "From: 李娜 <lina@example.com>\nTo: tom@example.com\nDate: Mon, 12 Oct 2026 09:12:00 +0200",
            "你好，",
            "二十台机器人在1月15日前交付。",
        ]
        assert parsed.warnings == ()

    def test_plain_text_goes_before_html_and_html_stands_where_there_is_no_other(self) -> None:
        both = self.message()
        both.set_content("As agreed.\n")
        both.add_alternative("<p>As <b>agreed</b> in HTML.</p>", subtype="html")
        assert prose(blocks(FileType.EML, both.as_bytes()))[1:] == ["As agreed."]

        alone = self.message()
        alone.set_content(
            "<style>p{}</style><table><tr><th>Part</th></tr><tr><td>BM-40</td></tr></table>",
            subtype="html",
        )
        assert table(blocks(FileType.EML, alone.as_bytes())) == [["Part"], ["BM-40"]]

    def test_attachments_are_named_and_those_we_read_go_on_as_files(self) -> None:
        message = self.message()
        message.set_content("See the files.\n")
        message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="合同.pdf")
        message.add_attachment("a,b", subtype="csv", filename="parts.csv")
        message.add_attachment(
            b"\0\1\2" * 99, maintype="application", subtype="x", filename="x.bin"
        )

        parsed = parser_for(FileType.EML)(message.as_bytes(), LIMITS)

        assert prose(list(parsed.blocks))[-2:] == [
            "See the files.",
            "Attachments: 合同.pdf, parts.csv, x.bin",
        ]
        assert [one.name for one in parsed.attachments] == ["合同.pdf", "parts.csv"]
        [warning] = parsed.warnings
        assert str(warning).startswith("1 attachments were not read: “x.bin”.")

        first = parser_for(FileType.EML)(message.as_bytes(), replace(LIMITS, attachments=1))
        assert [one.name for one in first.attachments] == ["合同.pdf"]
        assert "“parts.csv”, “x.bin”" in str(first.warnings[0])

    def test_pictures_in_a_mail_are_images_also_where_its_plain_text_is_read(self) -> None:
        message = self.message()
        message.set_content("See the plan.\n")
        message.add_alternative("<p>See the plan.</p><img src='cid:p'>", subtype="html")
        message.get_payload(1).add_related(b"\x89PNG", "image", "png", cid="<p>")  # type: ignore[union-attr]

        parsed = parser_for(FileType.EML)(message.as_bytes(), LIMITS)

        assert [block.content for block in parsed.blocks if isinstance(block, Image)] == [
            b"\x89PNG"
        ]
        assert parsed.attachments == ()

    def test_names_of_attachments_can_be_stored_and_are_each_their_own(self) -> None:
        names = ("a\0.txt", "a.txt", "../../a.txt", "\x1b[2Ja.txt", "..", "n" * 5000 + ".txt")
        parts = "".join(
            f'--b\nContent-Type: text/plain; name="{name}"\nContent-Disposition: attachment\n\nText {at}.\n'
            for at, name in enumerate(names)
        )
        head = "Subject: Names\nContent-Type: multipart/mixed; boundary=b\n\n"

        parsed = parser_for(FileType.EML)(f"{head}{parts}--b--\n".encode(), LIMITS)

        found = [one.name for one in parsed.attachments]
        assert found[:5] == ["a.txt", "a (2).txt", ".._.._a.txt", "[2Ja.txt", ".."]
        assert len(found[5]) == 255
        assert found[5].endswith("n.txt")

    def test_text_behind_an_attachment_is_read(self) -> None:
        content = (
            b"Subject: Photos\nContent-Type: multipart/mixed; boundary=b\n\n"
            b"--b\nContent-Type: text/plain\n\nHere is the plan.\n"
            b"--b\nContent-Type: application/pdf; name=plan.pdf\nContent-Disposition: inline\n\n%PDF-\n"
            b"--b\nContent-Type: text/html\n\n<p>The deadline is 17 June.</p>\n--b--\n"
        )

        assert prose(blocks(FileType.EML, content)) == [
            "Here is the plan.",
            "The deadline is 17 June.",
            "Attachments: plan.pdf",
        ]

    def test_plain_text_that_only_points_to_the_html_does_not_stand_for_it(self) -> None:
        message = self.message()
        message.set_content("View as HTML.\n")
        message.add_alternative("<p>The rent of the hall is 480 EUR a day.</p>", subtype="html")

        assert prose(blocks(FileType.EML, message.as_bytes()))[1:] == [
            "The rent of the hall is 480 EUR a day."
        ]

    @pytest.mark.parametrize(
        ("broken", "whole"),
        [
            ("同意验收， \n尾款下周付。\n", "同意验收，尾款下周付。"),
            ("It costs \n300 EUR.\n\n> When \n> is it due?\n>> Soon.\n-- \nAnn\n",
             "It costs 300 EUR.\n> When is it due?\n>> Soon.\n--\nAnn"),
        ],
    )  # fmt: skip
    def test_lines_that_were_broken_for_the_screen_are_whole_again(
        self, broken: str, whole: str
    ) -> None:
        message = self.message()
        message.set_content(broken, charset="utf-8", cte="base64")
        message.set_param("format", "flowed")

        assert "\n".join(prose(blocks(FileType.EML, message.as_bytes()))[1:]) == whole

    def test_a_forwarded_message_is_a_section_of_its_own(self) -> None:
        inner = EmailMessage()
        inner["Subject"], inner["From"] = "Quote", "bob@example.com"
        inner.set_content("It costs 300 EUR.\n")
        message = self.message()
        message.set_content("See below.\n")
        message.add_attachment(inner)

        parsed = blocks(FileType.EML, message.as_bytes())

        assert headings(parsed) == [(0, "交付条款"), (1, "Quote")]
        assert prose(parsed)[1:] == ["See below.", "From: bob@example.com", "It costs 300 EUR."]

    @pytest.mark.parametrize(
        ("subject", "shown"),
        [
            (b"=?gb2312?B?udjT2ulG9s7P7sS/tcS4tr/u?=", "关于镕鑫项目的付款"),  # characters of GBK
            (b"=?iso-8859-1?Q?Caf=E9_=80?=", "Café €"),  # of Windows' code page
            (b"=?utf-8?B?5Lya?= =?utf-8?B?6K6u?=", "会议"),
            (b"Re: Stra\r\n =?utf-8?B?w59l?=", "Re: Stra ße"),
            ("会议改期".encode(), "会议改期"),
            ("关于会议改期的通知".encode("gbk"), "关于会议改期的通知"),
            (b"=?utf-8?B?broken", "=?utf-8?B?broken"),
        ],
    )
    def test_a_header_is_read_by_what_it_holds_not_by_the_charset_it_names(
        self, subject: bytes, shown: str
    ) -> None:
        assert headings(blocks(FileType.EML, b"Subject: " + subject + b"\n\nText.")) == [(0, shown)]

    @pytest.mark.parametrize(
        "name",
        [
            b'name="=?gbk?B?us/NrC5wZGY=?="',
            b"name*=gb2312''%BA%CF%CD%AC.pdf",
            b'name="' + "合同.pdf".encode() + b'"',
        ],
    )
    def test_an_attachment_is_named_however_its_name_is_written(self, name: bytes) -> None:
        content = b"Content-Type: application/pdf; " + name + b"\n\n%PDF-"

        assert prose(blocks(FileType.EML, content)) == ["Attachments: 合同.pdf"]

    @pytest.mark.parametrize(
        "content",
        [
            b"Subject: =?utf-8?B?broken\n\nText.",
            b"Content-Type: multipart/mixed; boundary=x\nSubject: =?x?Q?y?=\n\n--x\nnever ends\n\nText.",
            b"Content-Type: text/plain; charset=nowhere\nContent-Transfer-Encoding: base64\n\nVGV4dC4=",
            b"To: <<>>,@@;:\nDate: never\n\nText.",
        ],
    )
    def test_a_message_that_breaks_the_rules_is_read_as_far_as_it_goes(
        self, content: bytes
    ) -> None:
        assert "Text." in prose(blocks(FileType.EML, content))[-1]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (FileType.TXT, "## 规则\n\n每天检查一次。\n"),
        (FileType.MARKDOWN, "## 规则\n\n每天检查一次。\n"),
        (FileType.CSV, "规则,每天检查一次。\n"),
        (FileType.HTML, "<p>每天检查一次。</p>\n"),
        (FileType.JSON, '"每天检查一次。"\n'),
    ],
)
def test_whatever_is_text_tells_its_encoding_and_what_was_unreadable(
    kind: FileType, line: str
) -> None:
    content = line.encode() * 30 + line.encode().replace("次".encode(), b"\xff")
    made = parser_for(kind)(content, LIMITS)
    assert made.metadata == {"encoding": "utf-8"}
    assert tuple(map(str, made.warnings)) == ("1 unreadable characters",)


def test_a_tag_in_capitals_is_no_component_and_the_end_of_none_is_kept() -> None:
    text = 'See <A HREF="https://example.org/a">the map</A><BR CLEAR="all">and end it with </App>.'
    assert blocks(FileType.MARKDOWN, text) == [
        Paragraph("See the map (https://example.org/a)\nand end it with </App>.")
    ]
