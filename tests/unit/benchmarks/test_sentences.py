"""Ends of sentences are counted inside paragraphs, as a treebank has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reading.sentences import ParsedParagraph, find_ends, read_treebank, score

MARKED = """\
# newdoc id = a
# newpar
# text = It is cold.
1\tIt\t_

# text = Stay in.
1\tStay\t_

# newpar
# text = Go.
1\tGo\t_
"""


def test_the_sentences_of_a_paragraph_are_put_together(tmp_path: Path) -> None:
    file = tmp_path / "en_x-ud-test.conllu"
    file.write_text(MARKED)

    assert read_treebank(file) == [
        ParsedParagraph("It is cold. Stay in.", (11, 20)),
        ParsedParagraph("Go.", (3,)),
    ]


def test_chinese_sentences_stand_without_blanks_and_in_groups(tmp_path: Path) -> None:
    file = tmp_path / "zh_x-ud-test.conllu"
    file.write_text("".join(f"# text = 第{at}。\n\n" for at in range(9)))

    first, last = read_treebank(file)

    assert (first.text[:6], first.ends[:2]) == ("第0。第1。", (3, 6))
    assert last == ParsedParagraph("第8。", (3,))


def test_the_end_of_a_paragraph_counts_for_nothing() -> None:
    paragraphs = [ParsedParagraph("A b. C d. E f.", (4, 9, 14))]

    assert score(paragraphs, lambda _: [4, 14]) == pytest.approx((100.0, 50.0, 200 / 3))
    assert score(paragraphs, lambda _: [4, 6, 9, 14])[0] == pytest.approx(200 / 3)


def test_ends_are_found_by_the_words_of_a_sentence() -> None:
    assert list(find_ends(["No. ", "No."], "No. No.")) == [3, 7]
