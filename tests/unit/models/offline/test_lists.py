"""A line that introduces a list, code or a small table is told with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sextant.models.offline.candidates import PassageOutline, complete_quotations
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.passages import describe_row, quotable_spans
from tests.unit.models.offline.passages import item

MODES = "The search has three modes:"
LIST = f"{MODES}\n\n- local asks entities\n- global asks reports\n- mix asks both"
CODE = "To begin, type:\n\n```bash\nmake setup\nmake demo\n```\n\nThe rest is in the handbook."
TABLE = "表 1 住宿费限额\n\n| 城市 | 限额 |\n| --- | --- |\n| 北京 | 650 元 |\n| 苏州 | 480 元 |\n"


def complete(text: str, said: str, *others: str, question: str = "") -> list[str]:
    """Return what is told where `said` is the best sentence of a text, and others follow."""
    spans = [(0, text.index(one), text.index(one) + len(one)) for one in (said, *others)]
    return [text[start:end] for _, start, end in complete_quotations(question, [item(text)], spans)]


@pytest.mark.parametrize(
    ("text", "said", "told"),
    [
        (LIST, MODES, ["local asks entities", "global asks reports", "mix asks both"]),
        (CODE, "To begin, type:", ["```bash\nmake setup\nmake demo\n```"]),
        ("系统支持：\n\n（一）向量检索\n（二）全文检索", "系统支持：", ["向量检索", "全文检索"]),
        (
            "Rules:\n- Rooms are booked\n  by noon.\n- Keys are returned.\nMore follows.",
            "Rules:",
            ["Rooms are booked\n  by noon.", "Keys are returned."],
        ),
        ("Rules:\n- Rooms\n  1. big ones\n- Keys", "Rules:", ["Rooms\n  1. big ones", "Keys"]),
        (
            "Steps:\n1. Get it.\n```\nmake\n```\n2. Wait.\nIt takes long.\n3. Leave.\nMore follows.",
            "Steps:",
            ["Get it.\n```\nmake\n```", "Wait.\nIt takes long.", "Leave."],
        ),
    ],
    ids=[
        "bullets",
        "code",
        "Chinese numbers",
        "lines that go on",
        "inner list",
        "numbers over lines and code",
    ],
)
def test_what_a_colon_introduces_is_told_with_it(text: str, said: str, told: list[str]) -> None:
    assert complete(text, said) == [said, *told]


def test_the_rows_of_a_small_table_are_told_behind_its_caption() -> None:
    assert complete(TABLE, "表 1 住宿费限额")[1:] == ["北京 | 650 元", "苏州 | 480 元"]


def test_an_item_that_is_quoted_too_is_told_once() -> None:
    assert complete(LIST, MODES, "mix asks both").count("mix asks both") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Prices rise.\n- by a tenth", "Prices rise."),
        ("Output:\n\n```\nno end", "Output:"),
        ("Note: the rest is below. More:\n- one", "Note: the rest is below."),
        ("Many:\n" + "\n".join(f"- item {number}" for number in range(13)), "Many:"),
    ],
    ids=["no colon", "open code", "in the middle of a line", "too many"],
)
def test_what_introduces_no_list_stands_alone(text: str, said: str) -> None:
    assert complete(text, said) == [said]


def test_without_quotations_nothing_is_told() -> None:
    assert complete_quotations("", [item(LIST)], []) == []


async def test_a_line_that_says_only_the_question_tells_what_it_introduces() -> None:
    usage = item(
        "Start it with flowd start.\n\nTo run a job once:\n\n```bash\nflowd run backup --now\n```"
    )
    about = item("flowd runs scheduled jobs on one machine.")
    found = await ExtractiveAnswerer().extract(
        "How do I run a job once?", [usage, about], language="en"
    )
    assert [one.sentence for one in found.quotations][:2] == [
        "To run a job once:",
        "```bash\nflowd run backup --now\n```",
    ]


def test_of_code_the_lines_between_blank_ones_are_quoted_if_they_have_a_word() -> None:
    paragraphs = ["# Install the pack\napt install ocr-chi", "{\n}", "ocr --help"]
    code = "\n\n".join(paragraphs)
    text = f"Run:\n\n```bash\n{code}\n```\n\nDone."
    expected = ["Run:", paragraphs[0], paragraphs[2], "Done."]
    assert [text[start:end] for start, end in quotable_spans(text)] == expected


HELP = """```
depot --help
  --port INTEGER   port of the depot (default: 7100)
  --store PATH     folder of the shelves,
                   made where it is missing
  # how long a shelf stays open
  --open SECONDS   (default: 45)
  --help           show this
  --quiet          say less
```"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("问：几点开门？\n答：七点开门。", ["问：几点开门？", "七点开门。"]),
        ("问题1：几点开门？\n回答1：\n七点开门。", ["问题1：几点开门？", "七点开门。"]),
        ("Q: When?\nA: At seven in the morning.", ["Q: When?", "At seven in the morning."]),
        ("Answer: It opens at seven.", ["It opens at seven."]),
        ("答案以公告为准。", ["答案以公告为准。"]),
    ],
)
def test_an_answer_is_quoted_without_the_word_that_it_is_one(
    text: str, expected: list[str]
) -> None:
    assert [text[start:end] for start, end in quotable_spans(text)] == expected


def test_long_code_is_cut_at_its_lines() -> None:
    spans = [HELP[start:end] for start, end in quotable_spans(HELP)]
    assert spans == [
        "depot --help",
        "--port INTEGER   port of the depot (default: 7100)",
        "--store PATH     folder of the shelves,",
        "made where it is missing",
        "# how long a shelf stays open",
        "--open SECONDS   (default: 45)",
        "--help           show this",
        "--quiet          say less",
    ]


@pytest.mark.parametrize(
    ("text", "sentence", "label"),
    [
        ("- `GATE`:\n  - opens at six\n  - shuts at nine", "shuts at nine", "`GATE`:"),
        ("- gates\n\n- doors", "doors", ""),
        ("The gate is green.\n  It is old.", "It is old.", ""),
    ],
)
def test_indented_items_belong_to_the_item_above(text: str, sentence: str, label: str) -> None:
    assert text[slice(*PassageOutline(text).find_label(text.index(sentence)))] == label


HOURS = """- Library:
  - Saturdays 10:00 to 14:00
- Museum:
  - Saturdays 11:00 to 18:00"""


async def test_an_item_is_quoted_behind_its_label() -> None:
    question = "When is the museum open on Saturdays?"
    found = await ExtractiveAnswerer().extract(question, [item(HOURS)], language="en")
    told = [one.sentence for one in found.quotations][:2]
    assert told == ["Museum:", "Saturdays 11:00 to 18:00"]


def test_an_item_introduces_no_items_of_the_list_that_it_stands_in() -> None:
    assert complete(HOURS, "Library:") == ["Library:", "Saturdays 10:00 to 14:00"]


def test_a_line_of_code_introduces_nothing() -> None:
    code = '```\nports:\n- "8443:443"\nstore:\n  image: depot/store\n```'
    assert complete(code, "ports:") == ["ports:"]


def test_code_is_not_told_again_behind_a_part_of_it() -> None:
    text = "Find late loans:\n\n```\nSELECT reader\nFROM loans;\n```"
    assert complete(text, "SELECT reader\nFROM loans;", "Find late loans:") == [
        "SELECT reader\nFROM loans;",
        "Find late loans:",
    ]


async def test_a_list_of_ten_items_is_quoted_whole() -> None:
    passage = item(
        "The kayak comes in these colours:\n" + "\n".join(f"- dye {n}" for n in range(10))
    )
    question = "Which colours does the kayak come in?"
    found = await ExtractiveAnswerer().extract(question, [passage], language="en")
    assert len(found.quotations) == 11


def test_each_line_of_a_long_comment_is_quoted_by_itself() -> None:
    comment = "\n".join(f"# note {number}" for number in range(1500))
    found = list(quotable_spans(f"```\n{comment}\n```"))
    assert len(found) == 1500


def test_code_is_shown_between_fences() -> None:
    passage = item("```bash\n# Install the pack\napt install ocr-chi\n```")
    start = passage.text.index("#")
    code = "# Install the pack\napt install ocr-chi"
    assert describe_row(code, passage, start) == f"```\n{code}\n```"


def test_a_list_is_told_behind_the_sentence_that_introduces_it_whichever_of_the_quoted_it_is() -> (
    None
):
    said = "A report helps all of us."
    assert complete(f"{said} It is read soon.\n\n{LIST}", said, MODES) == [
        said,
        MODES,
        *["local asks entities", "global asks reports", "mix asks both"],
    ]


@pytest.mark.parametrize("gap", ["\n\n", ""])
def test_a_sentence_before_a_table_that_does_not_point_to_it_stays_the_answer(gap: str) -> None:
    said, table = "The harbour master is Ylva.", "| City | Limit |\n| --- | --- |\n| Bonn | 90 |\n"
    parts = [f"{said}{gap}{table}"] if gap else [said, table]
    start, items = 0, [item("")] * 0
    for part in parts:
        metadata = {"start": start, "end": start + len(part)}
        items.append(replace(item(part), document_id="a", metadata=metadata))
        start += len(part) + 2
    span = (0, 0, len(said))
    assert complete_quotations("Who is the harbour master?", items, [span]) == [span]


def test_the_number_of_a_line_of_versions_stays_and_a_reference_alone_is_not_quoted() -> None:
    text = "| 24.x | 2025 |\n\n- Fix the lamp. (#1596 (https://example.org/1596))"
    assert [text[start:end] for start, end in quotable_spans(text)] == [
        "24.x | 2025",
        "Fix the lamp.",
    ]


async def test_the_introduction_of_a_list_tells_its_items_apart() -> None:
    passage = item(
        "Videos:\n- MP4, MOV\n- Largest file: 500 MB\n\nDocuments:\n- PDF, DOCX\n- Largest file: 50 MB"
    )
    for kind, answer in (("videos", "500 MB"), ("documents", "50 MB")):
        found = await ExtractiveAnswerer().extract(
            f"How large may the file be of {kind}?", [passage], language="en"
        )
        label, best = (one.sentence for one in found.quotations[:2])
        assert (label, best) == (f"{kind.capitalize()}:", f"Largest file: {answer}")


async def test_an_introduction_that_says_nothing_of_the_question_is_left_out() -> None:
    passage = item(
        "The compiler checks three rules:\n\n1. Each value has one owner.\n"
        "2. When the owner goes out of scope, its memory is released."
    )
    found = await ExtractiveAnswerer().extract(
        "When is the memory released?", [passage], language="en"
    )
    assert found.quotations[0].sentence == (
        "When the owner goes out of scope, its memory is released."
    )
