from typing import Any

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import AttachmentKind
from sextant.domain.settings import MultimodalSettings
from sextant.nodes.multimodal.parts import read_parts

LIMITS = MultimodalSettings(images=2, tables=2)
IMAGE, TABLE = {"type": "image", "img_path": "a.png"}, {"type": "table", "table_data": "a,b\n1,2"}


def test_images_and_tables_are_counted_apart() -> None:
    parts = read_parts([IMAGE, TABLE, IMAGE, TABLE], LIMITS)
    assert [part.label for part in parts] == ["I1", "T1", "I2", "T2"]
    assert parts[2].field == "multimodal_content[2]"
    assert parts[1].kind is AttachmentKind.TABLE


@pytest.mark.parametrize(
    "name", ["table_caption", "tableCaption", "caption", "image_caption", "img_caption"]
)
def test_captions_have_the_names_that_callers_know(name: str) -> None:
    assert (
        read_parts([{**TABLE, name: ["Sales ", "of 2024"]}], LIMITS)[0].caption == "Sales of 2024"
    )


def test_names_may_be_in_camel_case() -> None:
    values = read_parts([{"type": "image", "uploadId": "u", "imgPath": "p"}], LIMITS)[0].values
    assert (values["upload_id"], values["img_path"]) == ("u", "p")


def test_an_image_may_come_as_openai_clients_send_it() -> None:
    sent = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    [part] = read_parts([sent], LIMITS)
    assert (part.kind, part.values["url"]) == (AttachmentKind.IMAGE, "data:image/png;base64,AA==")


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("an image", "multimodal_content"),
        ({"type": "image"}, "multimodal_content"),
        ([IMAGE, "table"], "multimodal_content[1]"),
        ([IMAGE, {"type": "equation", "latex": "E=mc^2"}], "multimodal_content[1].type"),
        ([{"img_path": "a.png"}], "multimodal_content[0].type"),
        ([{"type": ["image"]}], "multimodal_content[0].type"),
        ([IMAGE] * 3, "multimodal_content"),
        ([TABLE] * 3, "multimodal_content"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(content: Any, field: str) -> None:
    with pytest.raises(OptionInvalid) as caught:
        read_parts(content, LIMITS)
    assert caught.value.field == field
    assert caught.value.next_step
    if field.endswith("type"):
        assert '"image" or "table"' in caught.value.message


@pytest.mark.parametrize("name", ["tableData", "table_body", "table_data"])
def test_an_error_calls_a_value_as_it_was_sent(name: str) -> None:
    [part] = read_parts([{"type": "table", name: []}], LIMITS)
    assert part.wrong("table_data[2]", "…", "…").field == f"multimodal_content[0].{name}[2]"


def test_an_error_names_the_address_of_an_image_as_openai_clients_send_it() -> None:
    [part] = read_parts([{"type": "image_url", "image_url": {"url": "x"}}], LIMITS)
    assert part.wrong("url", "…", "…").field == "multimodal_content[0].image_url.url"
