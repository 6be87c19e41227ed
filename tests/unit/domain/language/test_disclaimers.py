import pytest

from sextant.text.characters import normalise
from sextant.text.disclaimers import disclaimer_pattern


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("错误代码 E42 怎么处理", "E0382 表示移动后使用，与 E42 无关。"),
        ("E42 怎么处理？", "E0382 是编译器的编号，与苍鹭3 面板上的 E42 之类的设备错误代码无关。"),
        ("E42 是什么？", "E45 不同于 E-42。"),
        ("苍鹭3多重？", "与苍鹭3不同，苍鹭5重 21 公斤。"),
        ("What does E42 mean?", "E45, unlike the error E42, means that the fan is blocked."),
        ("How heavy is the Heron 3?", "The Heron 5 differs from the Heron 3 in weight."),
    ],
)
def test_a_mention_that_only_sets_something_apart_is_found(question: str, text: str) -> None:
    form = disclaimer_pattern(question)
    assert form
    assert form.search(normalise(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("E42 怎么处理？", "E42 与电源有关。"),
        ("E42 怎么处理？", "同时出现 E42 时先断电，这与 E41 无关。"),
        ("What does E42 mean?", "E42, unlike E45, is harmless."),
        ("What does E42 mean?", "Use it for E42 only."),
        ("What does E4 mean?", "E45 is unlike E42."),
    ],
)
def test_a_sentence_about_what_is_asked_disclaims_nothing(question: str, text: str) -> None:
    form = disclaimer_pattern(question)
    assert form
    assert not form.search(normalise(text))


def test_how_two_differ_is_told_by_what_sets_them_apart() -> None:
    assert disclaimer_pattern("E42 和 E45 有什么不同？") is None
    assert disclaimer_pattern("What is the difference?") is None
