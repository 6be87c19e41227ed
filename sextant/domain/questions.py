"""Questions with their filters and attachments, and checks of options whose errors name the field."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic import ValidationError as Unfit
from pydantic.alias_generators import to_camel

from sextant.domain.configuration import describe_error
from sextant.domain.errors import OptionInvalid, QuestionInvalid
from sextant.tables.results.written import ComputedFinding
from sextant.text.characters import clean_text

_MOST = 100  # values of one filter
_DATE = "Write a date like 2026-03-01 or 2026-03-01T08:00:00+08:00."
_WRITTEN = {
    "createdAfter": _DATE,
    "createdBefore": _DATE,
    "sectionId": "Give the id of a section, as results and `sextant structure --json` tell it.",
    "documentIds": f"Give one document or up to {_MOST}, as `sextant documents list` shows them.",
}


def _as_list(value: object) -> object:
    """Return a single value as a list of one."""
    return [value] if isinstance(value, str | UUID) else value


def _clean(value: object) -> object:
    return clean_text(value) if isinstance(value, str) else value


def _as_name(value: object) -> object:
    return str(value) if isinstance(value, UUID) else _clean(value)


def _in_utc(value: object) -> object:
    """Return a date or a time without zone as a time in UTC.

    Numbers are refused, since they may count seconds or milliseconds.
    """
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, date | None):
        raise ValueError("it is no date")  # noqa: TRY004 - pydantic reads no other
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


_Word = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    BeforeValidator(_clean),
]
_Words = Annotated[tuple[_Word, ...], BeforeValidator(_as_list), Field(max_length=_MOST)]
_Ids = Annotated[tuple[UUID, ...], BeforeValidator(_as_list), Field(max_length=_MOST)]
# A document's id, or the source it came from, which may be a path.
_Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=4096),
    BeforeValidator(_as_name),
]
_Names = Annotated[tuple[_Name, ...], BeforeValidator(_as_list), Field(max_length=_MOST)]
_Moment = Annotated[datetime | None, BeforeValidator(_in_utc)]


class ChunkFilters(BaseModel):
    """Bounds on the chunks that may be found: all given filters must match, each by one of its values.

    Letter case does not matter. Fields are read by these names and in camelCase (`topicLabels`).
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    topic_labels: _Words = Field((), description="One of its topic labels contains one of these.")
    parent_section_path: _Words = Field(
        (),
        description="Titles from the top down, from the document's or its first section's on; each "
        "begins as given, its number aside. The document's own title may hold the first anywhere.",
    )
    entity_types: _Words = Field((), description="It mentions an entity of one of these types.")
    section_id: _Ids = Field((), description="It lies in one of these sections or below.")
    document_ids: _Names = Field(
        (),
        description="It is of one of these documents, each by its id, by your own id of an imported "
        "one, or by the source that a list of documents shows.",
    )
    created_after: _Moment = Field(None, description="It is as new as that or newer.")
    created_before: _Moment = Field(None, description="It is older than that.")
    tags: _Words = Field((), description="It, or its document, has one of these tags.")

    @classmethod
    def read(
        cls,
        given: ChunkFilters | Mapping[str, Any] | None,
        served: Collection[str] | None = None,
    ) -> ChunkFilters | None:
        """Return the filters of a request; None if there are none.

        Args:
            given: names and values.
            served: fields that an error may suggest; by default all.

        Raises:
            OptionInvalid: a field is unknown (the error suggests the nearest name), or a value is invalid.
        """
        advised = cls.model_fields if served is None else served
        if given is None or isinstance(given, ChunkFilters):
            return given if given and given.model_dump(exclude_defaults=True) else None
        if not isinstance(given, Mapping):
            raise OptionInvalid(
                "The filters are no mapping of names to values.",
                next_step=f"Filters: {', '.join(map(to_camel, advised))}.",
                field="filters",
            )
        wanted = {key: value for key, value in given.items() if value is not None}
        for name in wanted:
            if name not in cls.model_fields and name not in names():
                raise _unknown(str(name), advised)
        try:
            read = cls.model_validate(wanted)
        except Unfit as error:
            raise _unfit(error) from None
        after, before = read.created_after, read.created_before
        if after and before and before <= after:
            raise OptionInvalid(
                "`createdBefore` is not after `createdAfter`, so nothing could be found.",
                next_step="Exchange the two, or leave one out.",
                field="filters.createdBefore",
            )
        return cls.read(read)

    def as_json(self) -> dict[str, Any]:
        """Return the filters that are given, as JSON holds them."""
        return self.model_dump(mode="json", exclude_defaults=True)


def names() -> list[str]:
    """Return the names of the fields in camelCase."""
    return [to_camel(name) for name in ChunkFilters.model_fields]


def _unknown(name: str, advised: Collection[str]) -> OptionInvalid:
    known = {one.casefold(): to_camel(one) for one in advised}
    known |= {one.casefold(): one for one in known.values()}
    near = [known[one] for one in difflib.get_close_matches(name.casefold(), known, len(known))]
    meant = f"Did you mean `{near[0]}`? " if near else ""
    listed = dict.fromkeys([*near, *known.values()])
    return OptionInvalid(
        f"There is no filter `{name}`.",
        next_step=f"{meant}Filters: {', '.join(listed)}.",
        field=f"filters.{name}",
    )


def _unfit(error: Unfit) -> OptionInvalid:
    [first, *_] = error.errors(include_url=False)
    name = to_camel(str(first["loc"][0]).split(".")[0])
    if first["type"] == "extra_forbidden":  # unknown ones are refused before
        return OptionInvalid(
            f"The filter `{name}` is given twice, in two spellings.",
            next_step="Give it once.",
            field=f"filters.{name}",
        )
    return OptionInvalid(
        f"The filter `{name}` cannot be {first['input']!r:.80}: {describe_error(first)}.",
        next_step=_WRITTEN.get(name, f"Give one text or up to {_MOST}, none of them empty."),
        field=f"filters.{name}",
    )


# What a PostgreSQL integer holds.
LARGEST = 2**31 - 1
LARGEST_WEIGHT = 1e9  # larger ones could overflow when they are multiplied
LEAST_WEIGHT = 1e-9  # smaller ones could underflow to 0


def in_range(value: object, field: str, least: int = 1, most: int = LARGEST) -> int:
    """Return the value if it is a whole number from `least` to `most`.

    Raises:
        OptionInvalid: it is something else.
    """
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise OptionInvalid(
        f"{field} is {value!r:.40}; it must be a whole number from {least} to {most}.",
        next_step=f"Give a number from {least} to {most}.",
        field=field,
    )


def as_weight(value: object, field: str) -> float:
    """Return the value if it is a weight: 0, or a number from 1e-9 to 1e9.

    Raises:
        OptionInvalid: it is something else.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        weighs = value == 0 or LEAST_WEIGHT <= value <= LARGEST_WEIGHT  # NaN does not
        if weighs:
            return value
    raise OptionInvalid(
        f"The weight of `{field.rpartition('.')[2]}` is {value!r:.40}; it must be 0, or a number from "
        f"{LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}.",
        next_step="Leave it out to use its default.",
        field=field,
    )


def require_positive(value: object, field: str) -> None:
    """Check that the value is a number above 0.

    Raises:
        OptionInvalid: it is something else, such as NaN.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return
    raise OptionInvalid(
        f"{field} is {value!r:.40}; it must be a number above 0.",
        next_step=f"Leave {field} out to use its default.",
        field=field,
    )


def require_type(value: object, kind: type, field: str, example: str) -> None:
    """Check that the value is an instance of a class.

    Raises:
        OptionInvalid: it is not; shows how an instance is made.
    """
    if not isinstance(value, kind):
        raise OptionInvalid(
            f"{field} is {value!r:.40}; it must be of the class {kind.__name__}.",
            next_step=f"Write {kind.__name__}({example}).",
            field=field,
        )


def field_at(path: Sequence[str | int]) -> str:
    """Return a path of names and positions as errors write it: `history[0].content`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def check_question(value: object, longest: int | None = None) -> str:
    """Return the question as storable text, stripped.

    Args:
        value: the caller's question; None counts as empty.
        longest: most characters; None: any number.

    Raises:
        QuestionInvalid: it is not text, is empty, or is longer than `longest`.
    """
    if not isinstance(value, str | None):
        raise QuestionInvalid(
            f"The question is {value!r:.40}, not text.",
            next_step="Send the question as text.",
            field="query",
        )
    question = clean_text(value or "").strip()
    if not question:
        raise QuestionInvalid(
            "The question is empty.",
            next_step="Give it as `query`, or as the last of `messages`.",
            field="query",
        )
    if longest is not None and len(question) > longest:
        raise QuestionInvalid(
            f"The question has {len(question)} characters; at most {longest} are taken.",
            next_step="Shorten it, or ingest the long text as a document.",
            field="query",
        )
    return question


class AttachmentKind(StrEnum):
    """The kinds of attachments of a question."""

    IMAGE = "image"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or table that came with a question; it is not part of the knowledge base.

    Attributes:
        kind: image or table.
        label: its name in markers: `I1`, `T1`.
        name: a caption or a file name.
        text: description and caption of an image; empty before it is described, and for tables.
        names: column names of a table.
        rows: cells of a table.
        findings: computed because the question asks for them.
        statistics: computed from the numeric columns for every question.
    """

    kind: AttachmentKind
    label: str
    name: str
    text: str = ""
    names: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    findings: Sequence[ComputedFinding] = ()
    statistics: Sequence[ComputedFinding] = ()

    def as_plain(self) -> dict[str, Any]:
        """Return the attachment as plain values for a checkpoint; the rows are not copied."""
        return {
            "kind": self.kind.value,
            "label": self.label,
            "name": self.name,
            "text": self.text,
            "names": self.names,
            "rows": self.rows,
            "findings": [asdict(finding) for finding in self.findings],
            "statistics": [asdict(finding) for finding in self.statistics],
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Attachment:
        """Return the attachment from what `as_plain` returned."""
        computed = {
            name: [ComputedFinding(**finding) for finding in plain[name]]
            for name in ("findings", "statistics")
        }
        return cls(**{**plain, **computed, "kind": AttachmentKind(plain["kind"])})
