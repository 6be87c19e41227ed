"""What a caller may send as `multimodal_content`, and which input of it is at fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sextant.domain.attachments import AttachmentKind
from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import MultimodalSettings
from sextant.text.characters import clean_text

FIELD = "multimodal_content"
_KINDS = " or ".join(f'"{kind.value}"' for kind in AttachmentKind)
# The names as JSON has them, and those that RAG-Anything's callers know.
_ALIASES = {
    "imgPath": "img_path",
    "image_path": "img_path",
    "uploadId": "upload_id",
    "imgCaption": "caption",
    "img_caption": "caption",
    "image_caption": "caption",
    "imageCaption": "caption",
    "tableData": "table_data",
    "table_body": "table_data",
    "tableCaption": "caption",
    "table_caption": "caption",
    "image_url.url": "url",
}
_CAPTION_CHARS = 500  # of the user's own caption


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """One image or table of a question, not yet looked at.

    `field` names it in errors, `sent` what its values were called by whoever sent them.
    """

    kind: AttachmentKind
    label: str
    field: str
    caption: str
    values: Mapping[str, Any]
    sent: Mapping[str, str]

    def field_of(self, name: str) -> str:
        """Return one of its values in errors: as it was sent, with what follows in brackets."""
        plain, bracket, rest = name.partition("[")
        return f"{self.field}.{self.sent.get(plain, plain)}{bracket}{rest}"

    def wrong(self, name: str, message: str, next_step: str) -> OptionInvalid:
        """Return the error for one of its values."""
        field = self.field_of(name) if name else self.field
        return OptionInvalid(f"{field}: {message}", next_step=next_step, field=field)


def read_parts(content: object, limits: MultimodalSettings) -> list[AttachmentPart]:
    """Check the outer shape of `multimodal_content`; images count as I1, I2 …, tables as T1, T2 ….

    Raises:
        OptionInvalid: which part has no known type, or that there are too many.
    """
    if not isinstance(content, Sequence) or isinstance(content, str | bytes):
        raise OptionInvalid(
            f"{FIELD} is not a list.",
            next_step='Give it as [{"type": "image", "img_path": "…"}].',
            field=FIELD,
        )
    parts: list[AttachmentPart] = []
    for index, given in enumerate(map(_as_openai, content)):
        kind = _kind(given, f"{FIELD}[{index}]")
        number = sum(part.kind is kind for part in parts) + 1
        label = f"{'I' if kind is AttachmentKind.IMAGE else 'T'}{number}"
        most = limits.images if kind is AttachmentKind.IMAGE else limits.tables
        if number > most:
            raise OptionInvalid(
                f"{FIELD} has more than {most} {kind.value}s.",
                next_step="Ask about fewer at a time, or ingest them as documents.",
                field=FIELD,
            )
        sent = {_ALIASES.get(name, name): name for name in given}
        values = {name: given[key] for name, key in sent.items()}
        caption = _caption(values.get("caption"))
        parts.append(AttachmentPart(kind, label, f"{FIELD}[{index}]", caption, values, sent))
    return parts


def _as_openai(given: object) -> Any:  # noqa: ANN401 - whatever was sent
    """Return an image as clients of OpenAI's API send it, as ours do."""
    if not isinstance(given, Mapping) or given.get("type") != "image_url":
        return given
    shown = given.get("image_url")
    return {
        "type": "image",
        "image_url.url": shown.get("url") if isinstance(shown, Mapping) else shown,
    }


def _kind(given: object, field: str) -> AttachmentKind:
    if not isinstance(given, Mapping):
        raise OptionInvalid(
            f"{field} is not an object.",
            next_step=f"Give an object with `type` {_KINDS}.",
            field=field,
        )
    named = given.get("type")
    try:
        return AttachmentKind(str(named))
    except ValueError:
        raise OptionInvalid(
            f"{field}.type is {str(named)[:40]!r}; it must be {_KINDS}.",
            next_step="Put formulas and other text into the question itself.",
            field=f"{field}.type",
        ) from None


def _caption(given: object) -> str:
    lines = given if isinstance(given, list) else [given]
    text = " ".join(str(line) for line in lines if line is not None)
    return " ".join(clean_text(text).split())[:_CAPTION_CHARS]
