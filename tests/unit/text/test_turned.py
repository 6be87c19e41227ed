"""A Chinese verb joined with its object is found where the object stands before it."""

from __future__ import annotations

import pytest

from sextant.text.word_forms import object_verb_patterns


def holds(question: str, text: str) -> bool:
    return any(pattern.search(text) for _, pattern in object_verb_patterns(question))


def test_an_object_may_stand_before_its_verb() -> None:
    assert holds("什么时候发工资", "工资于每月十日发放。")


@pytest.mark.parametrize("text", ["工资另议。七月发文件。", "按月发放补贴。"])
def test_both_must_stand_in_one_sentence(text: str) -> None:
    assert not holds("什么时候发工资", text)
