"""Words that the segmenter's model joins are taken apart, those of its dictionary stay."""

from __future__ import annotations

import pytest

from sextant.text.segmenter import cut_known_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("年假没休完", ["年", "假", "没", "休", "完"]),
        ("会议室", ["会议室"]),
        ("麻省理工能源研究协会", ["麻省理工", "能源", "研究", "协会"]),
    ],
)
def test_a_verb_of_any_word_is_a_word_of_its_own(text: str, words: list[str]) -> None:
    assert cut_known_words(text) == words
