"""Describe the images and compute over the tables of a question, before documents are searched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sextant import prompts
from sextant.domain.answers import Usage
from sextant.domain.errors import ModelOutputInvalid, ModelUnavailable, describe_reason
from sextant.domain.questions import Attachment, AttachmentKind
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.pictures import EncodedPicture, VisionModel, picture_limits
from sextant.nodes.budget import judging_budget, merge_warnings, usage_of, usage_of_failure
from sextant.nodes.context import RunContext
from sextant.nodes.multimodal.parts import AttachmentPart, load_picture, read_parts
from sextant.nodes.multimodal.tables import ReadTable, read_table
from sextant.nodes.question.wording import leans_on_history
from sextant.nodes.state import State
from sextant.nodes.table_query import ask_for_query
from sextant.tables.query.parsing import asks_computation
from sextant.tables.results.findings import compute_findings
from sextant.tables.results.written import Writer
from sextant.text.analysis import extract_keywords

_log = logging.getLogger(__name__)

# Calls of the answer's budget that are reserved for analysis and answer.
_CALLS_RESERVED = 3
# Characters that attachments add to a query; more would dominate the question in its vector.
_SEARCHED_CHARS = 600
# Characters of tables that are stored for the next turns; they are written with every turn.
_STORED_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class Opened:
    """The attachments of a question, read and checked; pictures and tables by the labels of their parts."""

    parts: Sequence[AttachmentPart]
    pictures: dict[str, EncodedPicture]
    tables: dict[str, ReadTable]


async def open_attachments(content: Sequence[Any], scope: Scope, run: RunContext) -> Opened:
    """Read and check images and tables, before any model is called.

    Raises:
        InputError: a part is invalid; `field` names it (`multimodal_content[0].img_path`).
    """
    settings = run.deps.settings
    parts = read_parts(content, settings.multimodal) if content else []
    limits = picture_limits(settings)
    pictures, tables = dict[str, EncodedPicture](), dict[str, ReadTable]()
    for part in parts:
        if part.kind is AttachmentKind.TABLE:
            tables[part.label] = await asyncio.to_thread(read_table, part, settings)
        else:
            pictures[part.label] = await load_picture(
                part, scope, run.deps.documents, settings.multimodal, limits
            )
    return Opened(parts, pictures, tables)


async def describe_attachments(opened: Opened, state: State, run: RunContext) -> dict[str, Any]:
    """Return a state update with the described attachments, warnings and usage; empty without attachments.

    If the vision model is missing or fails there is a warning, and the text of the question is answered.
    """
    if not opened.parts:
        return {}
    parts, tables = opened.parts, opened.tables
    images = _ImageDescriber(state, run)
    descriptions = await images.describe_all(parts, opened.pictures)
    description_of = dict(zip(opened.pictures, descriptions, strict=True))
    attachments, costs = list[Attachment](), dict[str, Any]()
    for part in parts:
        if part.label in description_of:
            text = "\n".join(filter(None, (part.caption, description_of[part.label])))
            name = part.caption or _file_name(part)
            attachments.append(Attachment(part.kind, part.label, name, text))
            continue
        attachment = await asyncio.to_thread(_table, part, tables[part.label], state)
        if not (attachment.findings or costs) and asks_computation(state.question):
            table = tables[part.label].table
            query, costs = await ask_for_query(state, run, table, part.caption)
            if query is not None:
                found = await asyncio.to_thread(
                    list, Writer(table, query, state.language).findings()
                )
                attachment = replace(attachment, findings=found)
        attachments.append(attachment)
    state = replace(state, **costs)
    warnings = [warning for table in tables.values() for warning in table.warnings]
    return {
        "attachments": [attachment.as_plain() for attachment in attachments],
        "tables": _storable_tables(parts, tables),
        "coded_warnings": merge_warnings(state.coded_warnings, *warnings, *images.warnings),
        "usage": asdict(usage_of(state) + images.usage),
    }


class _ImageDescriber:
    """Lets the vision model describe images, all at the same time, within the answer's budget."""

    def __init__(self, state: State, run: RunContext) -> None:
        self._state = state
        self._vision = run.deps.vision
        self._settings = run.deps.settings
        left = judging_budget(state, run).seconds
        self._seconds = max(0.0, min(self._settings.multimodal.seconds, left))
        self.usage = Usage()
        self.warnings: list[CodedWarning] = []

    async def describe_all(
        self, parts: Sequence[AttachmentPart], pictures: dict[str, EncodedPicture]
    ) -> list[str]:
        """Return a description of each picture; "" without one."""
        if not pictures:
            return []
        vision, labels = self._vision, list(pictures)
        if vision is None:
            self.warnings.append(CodedWarning(WarningCode.VISION_MODEL_MISSING, {"labels": labels}))
            return [""] * len(labels)
        spare = self._settings.limits.model_calls - usage_of(self._state).calls - _CALLS_RESERVED
        shown = [part for part in parts if part.label in pictures]
        for part in shown[max(spare, 1) :]:
            self._warn(WarningCode.IMAGE_CALLS_USED_UP, part.label)
        descriptions = await asyncio.gather(
            *(self._describe(vision, part, pictures[part.label]) for part in shown[: max(spare, 1)])
        )
        return [*descriptions, *[""] * (len(shown) - len(descriptions))]

    async def _describe(
        self, vision: VisionModel, part: AttachmentPart, picture: EncodedPicture
    ) -> str:
        prompt = prompts.LOOK.messages(
            self._state.language,
            caption=prompts.as_data(part.caption),
            question=prompts.as_data(self._state.question),
        )
        try:
            async with asyncio.timeout(self._seconds):
                description = await vision.describe(picture, prompt)
        except TimeoutError as error:
            self.usage += usage_of_failure(error, prompt, vision.name)
            self._warn(WarningCode.IMAGE_TIMED_OUT, part.label)
            return ""
        except (ModelUnavailable, ModelOutputInvalid) as error:
            self.usage += usage_of_failure(error, prompt, vision.name)
            self._warn(WarningCode.IMAGE_NOT_DESCRIBED, part.label, reason=describe_reason(error))
            return ""
        self.usage += description.usage
        return description.text

    def _warn(self, code: WarningCode, label: str, **params: object) -> None:
        warning = CodedWarning(code, {"label": label} | params)
        _log.warning("%s", warning)
        self.warnings.append(warning)


def _file_name(part: AttachmentPart) -> str:
    path = part.values.get("img_path")
    named = path if isinstance(path, str) and not path.startswith("data:") else ""
    return named.replace("\\", "/").rpartition("/")[2][:100]


def _table(part: AttachmentPart, read: ReadTable, state: State) -> Attachment:
    computed = compute_findings(state.question, read.table, state.language, part.caption)
    return Attachment(
        part.kind,
        part.label,
        part.caption,
        names=read.table.names,
        rows=read.table.rows,
        findings=computed.answers,
        statistics=computed.statistics,
    )


def _storable_tables(
    parts: Sequence[AttachmentPart], tables: dict[str, ReadTable]
) -> list[dict[str, Any]]:
    """Return the tables in the form in which later turns read them; none if together they are too large."""
    storable, weight = list[dict[str, Any]](), 0
    for part in parts:
        if part.label not in tables:
            continue
        table, data = tables[part.label].table, part.values["table_data"]
        weight += sum(len(cell) for row in (table.names, *table.rows) for cell in row)
        if isinstance(data, str):  # the text keeps merged cells
            weight += len(data)
        else:
            data = {"columns": list(table.names), "rows": [list(row) for row in table.rows]}
        storable.append(
            {"type": part.kind.value, "table_data": data, "table_caption": part.caption}
        )
    return storable if weight <= _STORED_CHARS else []


def attachments_of(state: State) -> list[Attachment]:
    """Return the attachments of this turn."""
    return [Attachment.of_plain(plain) for plain in state.attachments]


def attachments_text(state: State) -> str:
    """Return the text of the attachments, for judging whether it answers the question."""
    texts = list[str]()
    for one in attachments_of(state):
        texts += [one.name, one.text, *(finding.text for finding in one.findings)]
    return "\n".join(filter(None, texts))


def with_attachments(update: dict[str, Any], max_chars: int) -> dict[str, Any]:
    """Return the state update with the text of the attachments in the query and keywords.

    Args:
        update: has `attachments`, `search` and `keywords`.
        max_chars: limit of the query.
    """
    attachments = [Attachment.of_plain(plain) for plain in update["attachments"]]
    text = " ".join(filter(None, map(searchable, attachments)))[:_SEARCHED_CHARS]
    if not attachments:
        return update
    query = f"{update['search']}\n{text}" if text else update["search"]
    return (
        update
        | {
            "complexity": "complex",  # a question with attachments is no small talk
            "search": query[:max_chars],
            "keywords": list(dict.fromkeys([*update["keywords"], *extract_keywords(text)])),
        }
    )


def searchable(attachment: Attachment) -> str:
    """Return the text to search documents for: an image's description, or a table's caption and found rows."""
    if attachment.kind is AttachmentKind.IMAGE:
        return attachment.text
    about = (finding.about for finding in attachment.findings)
    return " ".join(filter(None, (attachment.name, *about)))


async def restore_tables(stored: Opened, state: State, run: RunContext) -> dict[str, Any]:
    """Return a state update with the tables of the conversation, if the question is about them.

    It is if it refers to earlier turns, or if it can be computed over them. Any other question drops the tables.
    """
    if not stored.parts:
        return {}
    update = await describe_attachments(stored, state, run)
    computed = any(plain["findings"] for plain in update["attachments"])
    return update if computed or leans_on_history(state.question) else {"tables": []}
