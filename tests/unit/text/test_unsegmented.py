import logging
import sys
from inspect import unwrap

import pytest

from sextant.ingestion.graph.extraction.entity_types import type_of_name
from sextant.ingestion.graph.extraction.extract_terms import extract_terms
from sextant.retrievers.entity_search.lanes import words_of as entity_words
from sextant.text import segmenter
from sextant.text.analysis import extract_keywords
from sextant.text.segmenter import cut_known_words, cut_tagged_words, words_of
from sextant.text.stopwords import is_stop_word


@pytest.fixture
def unsegmented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no library that cuts Chinese be imported."""
    monkeypatch.setitem(sys.modules, "rjieba", None)
    segmenter._pairs_alone.cache_clear()


@pytest.mark.usefixtures("unsegmented")
def test_without_a_segmenter_chinese_is_cut_into_pairs_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    assert words_of("糖尿病GW-20怎么治") == ["糖尿", "病", "GW-20", "怎么", "治"]
    assert "".join(cut_known_words("要交的材料")) == "要交的材料"
    assert cut_tagged_words("医院") == [("医院", "x")]
    assert entity_words("糖尿病") == ["糖尿", "尿病"]
    assert {"糖尿", "尿病"} <= set(extract_keywords("糖尿病"))
    assert extract_terms("糖尿病患者使用 GW-20 型设备。") is not None
    assert unwrap(type_of_name)("砚溪智能科技有限公司") == "ORGANIZATION"
    assert unwrap(type_of_name)("何静") == "TERM"
    assert [one for one in caplog.messages if "rjieba" in one] == [segmenter.UNSEGMENTED]


@pytest.mark.parametrize(
    "words",
    [
        "我们 你们 他们 或者 通过 但是 虽然 而且 已经 需要 因此 由于 根据 如果 然后 可能 应该 能够",
        "我們 你們 或者 通過 但是 雖然 而且 已經 需要 應該 因此",
    ],
)
def test_what_carries_no_content_is_no_keyword(words: str) -> None:
    assert all(map(is_stop_word, words.split()))
    assert extract_keywords(words.replace(" ", "")) == []
    found = extract_keywords("".join(f"{word}报销，" for word in words.split()))
    assert found == ["报销"]


@pytest.mark.parametrize("word", ["糖尿病", "报销", "首都", "大学", "付款", "年", "上海", "通过率"])
def test_words_of_a_subject_are_no_stop_words(word: str) -> None:
    assert not is_stop_word(word)
