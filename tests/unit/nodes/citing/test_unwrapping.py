"""What models put around an answer goes, however it comes; the answer stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.nodes.citing.wrappers import Unrepeated, Unwrapped, unwrap

SAID = "A value has one owner [1]."


@pytest.mark.parametrize(
    "text",
    [
        f"<answer>{SAID}</answer>",
        f"<final_answer>\n{SAID}\n</final_answer>",
        f"Answer: {SAID}",
        f"**Answer:** {SAID}",
        f"answer: {SAID}",
        f"答案：{SAID}",
        f'{{"answer": "{SAID}"}}',
        f'{{"confidence": 1, "answer": "{SAID}", "sources": [1]}}',
        f'```json\n{{"answer": "{SAID}"}}\n```',
        f"```markdown\n{SAID}\n```",
        f"```\n{SAID}\n```",
        f"Sure! Here is the answer:\n\n{SAID}",
        f"好的，以下是答案：\n{SAID}",
        f"{SAID}\n\nNote: This answer is based on the passages provided.",
        f"{SAID} Let me know if you need more details!",
        f"{SAID}\n\nI hope this helps!",
        f"{SAID}\n以上回答基于提供的文档。如有其他问题，请随时告诉我。",
        f"{SAID}\n\n希望对您有帮助！如需更多信息，请随时告诉我😊",
        f"好的，我来查一下。\n\n{SAID}",
        f"Let me check the manual.\n\n{SAID}",
        f"I'm sorry, but I cannot help with that request. {SAID}",
        f"很抱歉，我无法协助完成该请求。\n{SAID}",
        f"{SAID}\n\nSources:\n[1] passage 1\n[3] passage 3",
        f"{SAID}\n\n**References**\n- handbook.docx\n- guide.pdf",
        f"{SAID}\n来源：段落1",
        f"{SAID}\n\n参考资料：\n1. 员工手册.docx",
        f"{SAID}\n\n[1] passage 1",
    ],
)
def test_wrappers_courtesies_and_lists_of_sources_go(text: str) -> None:
    assert unwrap(text).strip() == SAID
    one = Unwrapped()
    assert ("".join(map(one.feed, text)) + one.finish()).strip() == SAID


@pytest.mark.parametrize(
    "text",
    [
        "650 [1].",
        "Note: the belt can reach 62 °C [1].",
        "If you need more than ten days, ask the site manager [1].",
        "```rust\nlet x = 1;\n```\nThat is all.",
        "以上两项都要批准。",
        "It is so. Sources say no.\nReferences are borrowed.",
        "1. First\n2. Second [1].\n3. Third",
        "[1] The probation period is three months.",
        "{not json}",
        "The answer is 42 [1].",
        "Answers are kept for a year.",
        "I am sorry, but the documents do not say.",
        "抱歉，文档中没有提到。",
        "若需报销，请在30天内提交信息表。",
        "如需加班，请联系我们的人事部。",
        "很抱歉，无法完成退款，因为超过七天。",
        "I'm sorry, but I cannot help you: the warranty has expired.",
    ],
)
def test_what_is_said_stays(text: str) -> None:
    assert unwrap(text) == text


_PIECES = [SAID, "Answer:", "<answer>", "</answer>", "```", "```json\n", '{"answer": "x"}', "\n", "\n\n", " ",
           "Sources:", "[1] passage 1", "- a.pdf", "Let me know!", "Note:", "好的，", "答案：", "来源", "Sure!", "a"]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=8), st.data())
def test_what_is_left_does_not_depend_on_how_it_was_cut(
    words: list[str], data: st.DataObject
) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    one = Unwrapped()
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert ("".join(map(one.feed, pieces)) + one.finish()).strip() == unwrap(text).strip()


@pytest.mark.parametrize(
    "greeting", ["你好！", "您好，很高兴为您服务。", "Sure! Let me know how I can help."]
)
def test_small_talk_keeps_its_courtesies(greeting: str) -> None:
    one = Unwrapped(keeps_courtesies=True)
    assert one.feed(greeting) + one.finish() == greeting


@pytest.mark.parametrize(
    ("text", "new", "circles"),
    [
        ("One owner holds it [1]. One owner holds it [2]. It moves.", "One owner holds it [1]. It moves.", 0),
        ("- A toll of two coins [1].\n" * 5, "- A toll of two coins [1].", 4),
        ("每个值都只有一个所有者[1]。每个值都只有一个所有者[1]。", "每个值都只有一个所有者[1]。", 1),
        ("Yes. Yes. Yes.", "Yes. Yes. Yes.", 0),
        ("One owner holds it, as said. One owner holds it.", "One owner holds it, as said. One owner holds it.", 0),
    ],
)  # fmt: skip
@given(data=st.data())
def test_what_was_said_before_is_left_out(
    text: str, new: str, circles: int, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    one = Unrepeated()
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(one.feed, pieces)) + one.finish() == new
    assert one.circles == circles
