"""The benchmark of reading: what is taken from Markdown and annotations, and how it is scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reading.corpora import find_samples
from benchmarks.reading.markup import Reading, number_cells, read_markdown, read_structure
from benchmarks.reading.ours import read_file
from benchmarks.reading.scores import edit_distance, longest_common, score
from sextant.ingestion.parsing.limits import Limits

_MARKDOWN = """# Prices *2026*

<!-- image -->
See [the list](https://example.org/a_(b)) of **all** goods.

| Goods | Price |
| --- | ---: |
| Lathe | 4,200 |

<table><tr><th colspan="2">Total</th></tr><tr><td>net<td>gross</tr></table>
"""

_ANNOTATION = """<document><table id="1"><region page="1">
<cell start-row="0" start-col="0" end-col="1"><content>Year</content></cell>
<cell start-row="1" start-col="0"><content>2004</content></cell>
<cell start-row="1" start-col="1"><content>2005</content></cell>
</region></table></document>"""


def test_markdown_is_text_headings_and_tables() -> None:
    reading = read_markdown(_MARKDOWN)
    assert reading.headings == ["Prices 2026"]
    assert reading.text.split("\n")[:2] == ["Prices 2026", "See the list of all goods."]
    assert [[text for _, text in row] for row in reading.tables[1]] == [
        ["Goods", "Price"],
        ["Lathe", "4,200"],
    ]
    (total, other), *_ = reading.tables[0]
    assert total == other == (0, "Total")


def test_the_same_reading_has_full_marks() -> None:
    reading = read_markdown(_MARKDOWN)
    assert set(score(reading, reading).values()) == {1.0}


def test_words_order_and_headings_are_scored() -> None:
    truth = Reading("one two three four", ["one"])
    scores = score(Reading("three four one more", ["one", "more"]), truth)
    assert scores["word recall"] == scores["word precision"] == 0.75
    assert scores["order"] == pytest.approx(2 / 3)
    assert (scores["heading recall"], scores["heading precision"]) == (1.0, 0.5)
    assert scores["table F"] is scores["cells in their row"] is None


@pytest.mark.parametrize(
    ("first", "second", "common", "distance"),
    [
        ("kitten", "sitting", 4, 3),
        ("", "ab", 0, 2),
        ("flaw", "lawn", 3, 2),
        ("abc", "", 0, 3),
        ("a" * 200, "b" + "a" * 199, 199, 1),
    ],
)
def test_strings_are_compared_exactly(first: str, second: str, common: int, distance: int) -> None:
    assert longest_common(first, second) == common
    assert edit_distance(first, second) == distance


def test_a_merged_cell_is_beside_all_that_it_touches(tmp_path: Path) -> None:
    (tmp_path / "a-str.xml").write_text(_ANNOTATION)
    truth = read_structure(tmp_path / "a-str.xml")
    assert score(truth, truth)["table F"] == 1.0
    # Without the merging, "Year" stands above one of the two columns: two of three relations.
    flat = Reading(tables=[number_cells([["Year", ""], ["2004", "2005"]])])
    scores = score(flat, truth)
    assert scores["table recall"] == pytest.approx(2 / 3)
    assert scores["table precision"] == 1.0
    assert scores["word recall"] is None


def test_cells_are_in_their_row_on_a_line_of_text_too() -> None:
    truth = Reading("x", tables=[number_cells([["Lathe", "4,200"], ["Drill", "90"]])])
    assert score(Reading("Lathe 4,200\nDrill\n90"), truth)["cells in their row"] == 0.5


def test_truths_are_found_beside_the_sources_and_in_folders(tmp_path: Path) -> None:
    for name in (
        "docs/sources/a.pdf",
        "docs/sources/b.pdf",
        "docs/groundtruth/a.pdf.md",
        "set/x/c.pdf",
        "set/x/c-str.xml",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = [(one.file.name, one.corpus, one.truth_file.name) for one in find_samples(tmp_path)]
    assert found == [("a.pdf", "docs", "a.pdf.md"), ("c.pdf", "set", "c-str.xml")]


def test_our_reading_has_no_captions_and_keeps_what_looks_like_a_tag(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p><img alt='A barn'></p><p>Use &lt;w:p&gt; here.</p>")
    assert read_file(tmp_path / "a.html", Limits()).text == "Use <w:p> here."


def test_our_reading_knows_merged_cells(tmp_path: Path) -> None:
    page = "<h1>Costs</h1><table><tr><th colspan=2>Year</th></tr><tr><td>2004</td><td>2005</td></tr></table>"
    (tmp_path / "a.html").write_text(page)
    reading = read_file(tmp_path / "a.html", Limits())
    assert reading.headings == ["Costs"]
    truth = [[(0, "Year"), (0, "Year")], [(1, "2004"), (2, "2005")]]
    assert score(reading, Reading("Costs", tables=[truth]))["table F"] == 1.0
