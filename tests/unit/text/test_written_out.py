"""A Chinese word in short is the same as the one that is written out."""

from __future__ import annotations

import pytest

from sextant.text.word_forms import expanded_form_patterns


def _has(asked: str, text: str) -> bool:
    return any(form.search(text) for _, form in expanded_form_patterns(asked))


@pytest.mark.parametrize(
    ("asked", "said"),
    [("物业费", "物业管理费每月28元"), ("房费", "房间费每晚500元"), ("停车费", "停车服务费")],
)
def test_what_is_written_out_has_more_before_its_last_ideograph(asked: str, said: str) -> None:
    assert _has(asked, said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("物业费", "物业的水电费"),
        ("北侧", "南北两侧"),
        ("物业费", "物业由甲方承担维修费"),
        ("年假", "年终放长假"),
    ],
)
def test_what_only_begins_and_ends_like_it_is_something_else(asked: str, said: str) -> None:
    assert not _has(asked, said)
