"""What a Word document holds beside plain paragraphs, read as its reader sees it."""

from __future__ import annotations

import pytest

from sextant.ingestion.parsing.blocks import Blocks, Caption, HeadingBlock, Paragraph, Table
from sextant.ingestion.parsing.child import parse as parse_file
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.formats.docx_styles import heading_level
from sextant.ingestion.parsing.limits import Limits
from tests.unit.ingestion.parsing.office_files import Related, package, word, xml

LIMITS = Limits()


def parse(body: str, related: dict[str, Related] | None = None) -> Blocks:
    return parser_for(FileType.DOCX)(word(body, related), LIMITS)


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def line(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{line(run(text))}</w:tc>"


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(cells)}</w:tr>"


def control(inner: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


def shown(parsed: Blocks) -> list[str]:
    return [block.text for block in parsed.blocks if isinstance(block, HeadingBlock | Paragraph)]


def table(parsed: Blocks) -> Table:
    [found] = [block for block in parsed.blocks if isinstance(block, Table)]
    return found


def test_code_keeps_its_lines_and_indentation_but_a_typewritten_document_is_prose() -> None:
    courier = '<w:rFonts w:ascii="Courier New"/>'
    code = line(run("if full:", courier)) + line(run("    stop()", courier))
    prose = line(run("As follows:")) + line(run("Then go on."))
    assert shown(parse(prose + code)) == [
        "As follows:",
        "Then go on.",
        "if full:\n    stop()",
    ]
    assert shown(parse(code)) == ["if full:", "stop()"]


def test_signs_of_symbol_fonts_are_read_as_they_look() -> None:
    boxes = line(
        run("\uf0fe", '<w:rFonts w:ascii="Wingdings"/>'),
        run(" closed, "),
        run("\uf0a8"),
        run(" open"),
    )
    other = line(run("\uf052\uf075", '<w:rFonts w:ascii="Wingdings 2"/>'), run(" paid"))
    greek = line(run("\uf061 \uf0b3 5", '<w:rFonts w:ascii="Symbol"/>'))
    assert shown(parse(boxes + other + greek)) == ["☑ closed, ☐ open", "☑ paid", "α ≥ 5"]


class TestWrappers:
    def test_content_controls_and_custom_xml_hide_no_block_row_or_cell(self) -> None:
        custom = f"<w:customXml><w:customXmlPr/>{line(run('in custom XML'))}</w:customXml>"
        rows = (
            row(cell("Field"), cell("Value"))
            + row(cell("Owner"), control(cell("Dana")))
            + control(row(cell("Budget"), cell("48,000 EUR")))
        )

        parsed = parse(
            f"{control(line(run('block')))}{custom}<w:tbl>{rows}</w:tbl>{line(control(run('run')))}"
        )

        assert shown(parsed) == ["block", "in custom XML", "run"]
        assert table(parsed).rows == [
            ["Field", "Value"],
            ["Owner", "Dana"],
            ["Budget", "48,000 EUR"],
        ]

    def test_form_fields_show_what_was_filled_in(self) -> None:
        def form(inner: str) -> str:
            return (
                f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{inner}</w:ffData></w:fldChar></w:r>'
                '<w:r><w:instrText>FORM</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
            )

        ticked = form('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>')
        chosen = form(
            '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Bus"/><w:listEntry w:val="Train"/></w:ddList>'
        )

        assert shown(parse(line(ticked, run(" Member, by "), chosen))) == ["☒ Member, by Train"]

        boxed = f"<w:tc>{line(ticked)}</w:tc>"
        parsed = parse(f"<w:tbl>{row(cell('Member'), boxed)}</w:tbl>")
        assert table(parsed).rows == [["Member", "☒"]]

    def test_a_field_shows_its_result_and_one_that_never_ends_swallows_nothing(self) -> None:
        field = (
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF x</w:instrText></w:r>'
            f'{run("code")}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("Section 4")}'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )
        torn = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'

        parsed = parse(
            line(run("See "), field, run(".")) + line(run("a"), torn) + line(run("next"))
        )

        assert shown(parsed) == ["See Section 4.", "a", "next"]

    def test_text_boxes_are_paragraphs_of_their_own_and_stand_once(self) -> None:
        def box(text: str) -> str:
            return f"<w:txbxContent>{line(run(text))}</w:txbxContent>"

        drawn = f"<w:drawing><wp:inline>{box('Call 4711.')}</wp:inline></w:drawing>"
        old = f"<w:pict><v:shape><v:textbox>{box('Call 4711.')}</v:textbox></v:shape></w:pict>"
        either = f"<mc:AlternateContent><mc:Choice>{drawn}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"

        parsed = parse(line(f"<w:r>{either}</w:r>", run("Read the rules.")))

        assert shown(parsed) == ["Read the rules.", "Call 4711."]


class TestValidText:
    def test_what_is_struck_hidden_or_deleted_is_left_out_and_counted(self) -> None:
        parsed = parse(
            line(run("The fee is 99 EUR. ", "<w:strike/>"), run("The fee is 79 EUR."))
            + line(run("internal", "<w:vanish/>"))
            + line(run("not struck", '<w:strike w:val="0"/>'))
            + line(run("60"), "<w:del><w:r><w:delText>30</w:delText></w:r></w:del>", run(" days"))
        )

        assert shown(parsed) == ["The fee is 79 EUR.", "not struck", "60 days"]
        [warning] = parsed.warnings
        assert warning.code == "text_left_out"
        assert "14 struck through, 8 hidden, 2 deleted under review" in str(warning)

    def test_a_style_can_hide_or_strike(self) -> None:
        styles = xml(
            "w:styles",
            '<w:style w:type="paragraph" w:styleId="N"><w:rPr><w:vanish/></w:rPr></w:style>'
            '<w:style w:type="character" w:styleId="S"><w:rPr><w:strike/></w:rPr></w:style>'
            '<w:style w:type="character" w:styleId="T"><w:basedOn w:val="S"/></w:style>',
        )

        parsed = parse(
            line(run("a hidden note"), properties='<w:pStyle w:val="N"/>')
            + line(run("old", '<w:rStyle w:val="T"/>'), run("new")),
            {"s": Related("styles", "styles.xml", styles)},
        )

        assert shown(parsed) == ["new"]

    def test_a_paragraph_whose_end_is_deleted_goes_on_in_the_next(self) -> None:
        parsed = parse(
            line(run("The notice period "), properties="<w:rPr><w:del/></w:rPr>")
            + line(run("is 60 days."))
        )

        assert shown(parsed) == ["The notice period is 60 days."]

    def test_a_deleted_row_is_gone(self) -> None:
        deleted = f"<w:tr><w:trPr><w:del/></w:trPr>{cell('B')}{cell('2')}</w:tr>"

        parsed = parse(
            f"<w:tbl>{row(cell('A'), cell('1'))}{deleted}{row(cell('C'), cell('3'))}</w:tbl>"
        )

        assert table(parsed).rows == [["A", "1"], ["C", "3"]]

    def test_raised_and_lowered_figures_do_not_melt_into_others(self) -> None:
        up, down = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'

        parsed = parse(
            line(
                run("10"),
                run("6", up),
                run(" units, 25"),
                run("1", up),
                run(" days, H"),
                run("2", down),
                run("O, 3 m"),
                run("2", '<w:position w:val="10"/><w:sz w:val="12"/>'),
            )
        )

        assert shown(parsed) == ["10^6 units, 25 days [note 1], H2O, 3 m^2"]


class TestNotes:
    def test_footnotes_and_endnotes_follow_what_refers_to_them_in_tables_too(self) -> None:
        def notes(root: str, kind: str, **texts: str) -> str:
            inner = "".join(
                f'<w:{kind} w:id="{key[1:]}">{line(f"<w:r><w:{kind}Ref/></w:r>", run(text))}</w:{kind}>'
                for key, text in texts.items()
            )
            return xml(root, f'<w:{kind} w:type="separator" w:id="0">{line()}</w:{kind}>{inner}')

        related = {
            "f": Related("footnotes", "footnotes.xml", notes("w:footnotes", "footnote", n2="Excludes VAT.", n3="After 22:00.")),
            "e": Related("endnotes", "endnotes.xml", notes("w:endnotes", "endnote", n2="Ended in May.")),
        }  # fmt: skip
        foot, end = (
            '<w:r><w:footnoteReference w:id="{}"/></w:r>',
            '<w:r><w:endnoteReference w:id="{}"/></w:r>',
        )
        taxi = f"<w:tc><w:tcPr/>{line(run('40 EUR'), foot.format(3))}</w:tc>"

        parsed = parse(
            line(run("Net prices"), foot.format(2), run(" are exempt"), end.format(2), run("."))
            + f"<w:tbl>{row(cell('Kind'), cell('Limit'))}{row(cell('Taxi'), taxi)}</w:tbl>",
            related,
        )

        assert shown(parsed) == [
            "Net prices [note 1] are exempt [note i].",
            "[note 1] Excludes VAT.",
            "[note i] Ended in May.",
            "[note 2] After 22:00.",
        ]
        assert table(parsed).rows[1] == ["Taxi", "40 EUR [note 2]"]


class TestComments:
    def test_a_comment_stands_below_its_paragraph_with_who_says_it(self) -> None:
        said = '<w:comment w:id="7" w:author="Ann"><w:p><w:r><w:t>Too</w:t></w:r></w:p><w:p><w:r><w:t>long.</w:t></w:r></w:p></w:comment>'
        parsed = parse(
            line(run("Plan"), '<w:r><w:commentReference w:id="7"/></w:r>') + line(run("End")),
            {"c": Related("comments", "comments.xml", xml("w:comments", said))},
        )
        assert shown(parsed) == ["Plan", "Comment (Ann): Too long.", "End"]


class TestLinks:
    def test_an_address_stands_behind_the_words_that_hide_it_once_a_link(self) -> None:
        parsed = parse(
            line(
                run("The portal is "),
                f'<w:hyperlink r:id="a">{run("he", "<w:b/>")}{run("re")}</w:hyperlink>',
                f'<w:hyperlink r:id="b">{run("www.example.org")}</w:hyperlink>',
                f'<w:hyperlink w:anchor="x">{run(" below")}</w:hyperlink>',
            ),
            {
                "a": Related("hyperlink", "https://vpn.example.org/login"),
                "b": Related("hyperlink", "http://example.org/"),
            },
        )

        assert shown(parsed) == [
            "The portal is here (https://vpn.example.org/login) www.example.org below"
        ]

    def test_the_address_of_a_link_to_a_part_of_a_word_stands_behind_the_word(self) -> None:
        related = {"a": Related("hyperlink", "https://example.org/gpu")}

        def read(*after: str) -> list[str]:
            link = f'<w:hyperlink r:id="a">{run("GPU")}</w:hyperlink>'
            return shown(parse(line(run("Two "), link, *map(run, after)), related))

        assert read("s", " fail") == ["Two GPUs (https://example.org/gpu) fail"]
        assert read("Price: 9") == ["Two GPU (https://example.org/gpu) Price: 9"]
        assert read(".") == ["Two GPU (https://example.org/gpu)."]

    def test_a_link_by_field_is_one(self) -> None:
        field = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://e.org/x"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'

        assert shown(parse(line(run("Go "), field, run("there"), end, run(".")))) == [
            "Go there (https://e.org/x)."
        ]


class TestHeadsAndFeet:
    def test_they_are_read_once_without_the_number_of_the_page(self) -> None:
        page = '<w:fldSimple w:instr=" PAGE "><w:r><w:t>3</w:t></w:r></w:fldSimple>'
        head = xml("w:hdr", line(run("Document no. QP-0042")))
        foot = xml(
            "w:ftr", line(run("Approved by: Ann Poe"), "<w:r><w:tab/></w:r>", run("Page "), page)
        )
        references = "".join(
            f'<w:sectPr><w:headerReference r:id="h"/><w:headerReference r:id="{other}"/><w:footerReference r:id="f"/></w:sectPr>'
            for other in ("h2", "missing")
        )

        parsed = parse(
            line(
                run("Clean the filter."),
            )
            + references,
            {
                "h": Related("header", "header1.xml", head),
                "h2": Related("header", "header2.xml", head),
                "f": Related("footer", "footer1.xml", foot),
            },
        )

        assert shown(parsed) == [
            "Document no. QP-0042",
            "Approved by: Ann Poe",
            "Clean the filter.",
        ]


class TestHeadings:
    @pytest.mark.parametrize(
        ("name", "level"),
        [
            ("heading 3", 3), ("标题 2", 2), ("标题2", 2), ("一级标题", 1), ("三級標題", 3), ("章标题", 1), ("节标题", 2),
            ("Chapter Title", 1), ("Section Heading", 2), ("Title", None), ("Section Text", None),
            ("二级条标题", 3), ("标题一", 1), ("My Heading 2", 2), ("副标题", None), ("图标题", None), ("TOC Heading", None),
            ("Normal", None), ("Table Heading 1", None),
        ],
    )  # fmt: skip
    def test_a_style_is_a_heading_by_its_name_in_either_language(
        self, name: str, level: int | None
    ) -> None:
        assert heading_level(name) == level

    def test_an_outline_level_goes_before_the_name_and_is_inherited(self) -> None:
        styles = xml(
            "w:styles",
            '<w:style w:type="paragraph" w:styleId="a"><w:name w:val="段落甲"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
            '<w:style w:type="paragraph" w:styleId="b"><w:name w:val="段落乙"/><w:basedOn w:val="a"/></w:style>',
        )

        parsed = parse(
            line(run("甲"), properties='<w:pStyle w:val="a"/>')
            + line(run("乙"), properties='<w:pStyle w:val="b"/>')
            + line(run("丙"), properties='<w:pStyle w:val="b"/><w:outlineLvl w:val="9"/>'),
            {"s": Related("styles", "styles.xml", styles)},
        )

        assert [(b.text, b.level) for b in parsed.blocks if isinstance(b, HeadingBlock)] == [
            ("甲", 2),
            ("乙", 2),
        ]
        assert shown(parsed)[-1] == "丙"


class TestLists:
    def test_a_list_begins_where_it_says_and_a_style_finds_its_level(self) -> None:
        numbering = xml(
            "w:numbering",
            '<w:abstractNum w:abstractNumId="1">'
            '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl>'
            '<w:lvl w:ilvl="1"><w:start w:val="5"/><w:numFmt w:val="decimalZero"/><w:lvlText w:val="%1.%2"/>'
            "<w:isLgl/></w:lvl></w:abstractNum>"
            '<w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num>',
        )
        styles = xml(
            "w:styles",
            '<w:style w:type="paragraph" w:styleId="sub"><w:pPr><w:numPr>'
            '<w:ilvl w:val="1"/><w:numId w:val="7"/></w:numPr></w:pPr></w:style>',
        )
        listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr>'

        parsed = parse(
            line(run("a"), properties=listed)
            + line(run("b"), properties='<w:pStyle w:val="sub"/>')
            + line(run("c"), properties=listed),
            {
                "n": Related("numbering", "numbering.xml", numbering),
                "s": Related("styles", "styles.xml", styles),
            },
        )

        assert shown(parsed) == ["III. a", "  3.5 b", "IV. c"]

    def test_a_format_of_its_own_is_read_from_how_its_series_begins(self) -> None:
        numbering = xml(
            "w:numbering",
            '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="9"/>'
            '<mc:AlternateContent><mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="001, 002, 003, ..."/>'
            '</mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent>'
            '<w:lvlText w:val="%1."/></w:lvl></w:abstractNum>'
            '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>',
        )
        item = line(
            run("x"), properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
        )

        found = shown(parse(item * 2, {"n": Related("numbering", "numbering.xml", numbering)}))

        assert found == ["009. x", "010. x"]

    def test_levels_that_are_skipped_shared_or_begin_anew_count_as_word_counts_them(self) -> None:
        level = '<w:lvl w:ilvl="{0}">{1}<w:numFmt w:val="{2}"/><w:lvlText w:val="{3}"/>{4}</w:lvl>'.format
        one = '<w:start w:val="1"/>'
        numbering = xml(
            "w:numbering",
            '<w:abstractNum w:abstractNumId="1">'
            + level(0, "", "decimal", "%1", "")
            + level(1, one, "decimal", "%1.%2", "")
            + level(2, one, "upperRoman", "%2.%3", '<w:lvlRestart w:val="1"/>')
            + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
            '<w:num w:numId="2"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0">'
            + level(0, one, "upperLetter", "%1", "")
            + '</w:lvlOverride></w:num><w:num w:numId="3"><w:abstractNumId w:val="1"/>'
            '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="8"/></w:lvlOverride></w:num>',
        )
        items = ((0, 1), (2, 1), (1, 1), (2, 1), (0, 2), (0, 3), (0, 1))
        body = "".join(
            line(
                run("x"),
                properties=f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>',
            )
            for depth, number in items
        )

        found = shown(parse(body, {"n": Related("numbering", "numbering.xml", numbering)}))

        labels = [text.split()[0] for text in found]
        assert labels == ["0", "1.I", "0.2", "2.II", "A", "8", "2"]


class TestTables:
    def test_a_table_of_one_filled_cell_is_a_box_around_text(self) -> None:
        empty = f"<w:tc>{line()}</w:tc>"
        parsed = parse(f"<w:tbl>{row(empty, cell('Keep it dry.'))}{row(empty, empty)}</w:tbl>")
        assert shown(parsed) == ["Keep it dry."]

    def test_a_number_merged_over_rows_is_repeated_and_said_to_be(self) -> None:
        merged, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
        rows = (
            row(cell("Who"), cell("Budget"))
            + row(cell("Ann"), cell("1000", merged))
            + row(cell("Bob"), cell("", goes_on))
            + row(cell("Dee"), cell("500"))
        )

        found = table(parse(f"<w:tbl>{rows}</w:tbl>"))

        assert [row[1] for row in found.rows] == ["Budget", "1000", "1000", "500"]
        assert found.repeated == {(2, 1)}

    def test_a_table_in_a_cell_stays_in_its_row(self) -> None:
        inner = f"<w:tbl>{row(cell('Area'), cell('400'))}{row(cell('Staff'), cell('12'))}</w:tbl>"
        rows = row(cell("Leeds"), f"<w:tc>{inner}{line()}</w:tc>") + row(
            cell("York"), cell("closed")
        )

        assert table(parse(f"<w:tbl>{rows}</w:tbl>")).rows == [
            ["Leeds", "Area: 400; Staff: 12"],
            ["York", "closed"],
        ]

    def test_a_blank_or_merged_cell_of_a_table_in_a_cell_joins_no_others(self) -> None:
        merged, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
        inner = (
            row(cell("Hall", merged), cell("A"), cell("1"))
            + row(cell("", goes_on), cell("B"), cell("2"))
            + row(cell(""), cell("C"), cell("3"))
        )
        rows = row(cell("Leeds"), f"<w:tc><w:tbl>{inner}</w:tbl>{line()}</w:tc>")

        found = table(parse(f"<w:tbl>{rows}{row(cell('York'), cell('closed'))}</w:tbl>"))

        assert found.rows[0][1] == "Hall, A, 1; B, 2; C, 3"


class TestParts:
    def test_what_cannot_be_read_costs_nothing_else_and_is_named(self) -> None:
        picture = '<w:r><w:drawing><a:blip r:embed="gone"/></w:drawing></w:r>'
        chart = '<w:r><w:drawing><c:chart r:id="c"/></w:drawing></w:r>'
        sheet = '<w:r><w:object><o:OLEObject ProgID="Excel.Sheet.12" r:id="o"/></w:object></w:r>'

        parsed = parse(
            line(run("before"), picture, chart, sheet) + line(run("after")),
            {
                "c": Related("chart", "charts/chart1.xml", "<torn"),
                "styles": Related("styles", "s.xml", "<torn"),
            },
        )

        assert shown(parsed) == ["before", "after"]
        assert tuple(map(str, parsed.warnings)) == (
            "Not read: 1 styles part, 1 picture, 1 chart, 1 embedded Excel.Sheet.12 object",
            "Damaged or missing in the file, and read as far as possible: "
            "word/s.xml, word/charts/chart1.xml",
        )
        assert parsed.warnings[0].code == "parts_not_read"

    def test_notes_and_heads_that_cannot_be_read_are_missed(self) -> None:
        note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
        head = '<w:sectPr><w:headerReference r:id="h"/></w:sectPr>'

        parsed = parse(
            line(run("The rent is 900 EUR."), note) + head,
            {
                "f": Related("footnotes", "footnotes.xml", "<torn"),
                "h": Related("header", "header1.xml", "<torn"),
            },
        )

        assert shown(parsed) == ["The rent is 900 EUR."]
        assert tuple(map(str, parsed.warnings)) == (
            "Not read: 1 footnotes part, 1 note, 1 page header or footer",
            "Damaged or missing in the file, and read as far as possible: "
            "word/footnotes.xml, word/header1.xml",
        )

    def test_a_picture_that_is_missing_leaves_what_it_is_said_to_show(self) -> None:
        drawing = (
            '<w:drawing><wp:docPr descr="Plan of the site"/><a:blip r:embed="gone"/></w:drawing>'
        )

        parsed = parse(line(f"<w:r>{drawing}</w:r>"))

        assert parsed.blocks == [Caption("Plan of the site")]
        assert tuple(map(str, parsed.warnings)) == ("Not read: 1 picture",)

    def test_a_cell_with_nothing_but_a_picture_says_what_that_shows(self) -> None:
        tick = '<w:r><w:drawing><wp:docPr descr="yes"/><a:blip r:embed="p"/></w:drawing></w:r>'
        rows = row(cell("Plan"), cell("Export")), row(cell("Pro"), f"<w:tc>{line(tick)}</w:tc>")
        picture = {"p": Related("image", "media/tick.png", b"no picture")}

        found = table(parse(f"<w:tbl>{''.join(rows)}</w:tbl>", picture))

        assert found.rows == [["Plan", "Export"], ["Pro", "yes"]]

    def test_a_strict_document_is_read(self) -> None:
        strict = xml("w:document", f"<w:body>{line(run('Visitors sign in.'))}</w:body>")
        content = package("word/document.xml", strict)
        for transitional, name in (
            (b"http://schemas.openxmlformats.org/wordprocessingml/2006/", b"http://purl.oclc.org/ooxml/wordprocessingml/"),
            (b"http://schemas.openxmlformats.org/officeDocument/2006/", b"http://purl.oclc.org/ooxml/officeDocument/"),
        ):  # fmt: skip
            content = _renamed(content, transitional, name)

        assert parse_file(content, "strict.docx", LIMITS).text == "Visitors sign in."

    def test_templates_and_main_parts_of_another_name_are_read(self) -> None:
        body = xml("w:document", f"<w:body>{line(run('Text.'))}</w:body>")

        assert parse_file(package("word/document2.xml", body), "a.docx", LIMITS).text == "Text."


def _renamed(content: bytes, old: bytes, new: bytes) -> bytes:
    import io
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(old, new))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", b"<html><p>Inner text.</p></html>"),
        ("a.rtf", rb"{\rtf1 Inner text.\par}"),
        (
            "a.mht",
            b"From: <Saved by Word>\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>Inner text.</p>",
        ),
        ("a.txt", b"Inner text."),
    ],
)
def test_documents_of_other_formats_inside_are_read(name: str, content: bytes) -> None:
    parsed = parse('<w:altChunk r:id="r1"/>', {"r1": Related("aFChunk", name, content)})
    assert shown(parsed) == ["Inner text."]


def test_a_document_inside_that_is_a_container_is_counted() -> None:
    parsed = parse('<w:altChunk r:id="r1"/>', {"r1": Related("aFChunk", "a.docx", word("<w:p/>"))})
    assert shown(parsed) == []
    assert "embedded document" in str(parsed.warnings[0])


def test_tables_nested_deeper_than_any_reader_nests_keep_their_text() -> None:
    nested = line(run("innermost"))
    for _ in range(300):
        nested = f"<w:tbl>{row(f'<w:tc>{nested}{line()}</w:tc>')}</w:tbl>"

    assert shown(parse(nested + line(run("after")))) == ["innermost", "after"]
