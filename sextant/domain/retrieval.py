"""Retrieval modes, retrieved items, the context of an answer as plain values, and the error of a failed search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from sextant.domain.documents import READ_BY_OCR, TABLES
from sextant.domain.errors import (
    DOCTOR_ZH,
    DatabaseUnavailable,
    DependencyError,
    OptionInvalid,
    SextantError,
    Wording,
)
from sextant.domain.graph import Entity
from sextant.domain.warnings import Warned


class Mode(StrEnum):
    """The six retrieval modes. `auto` is not a mode: it lets `analyze` choose one."""

    NAIVE = "naive"
    LOCAL = "local"
    GLOBAL = "global"
    HYBRID = "hybrid"
    MIX = "mix"
    BYPASS = "bypass"


AUTO = "auto"

LEAST_SCORE = 1e-9
"""The least score of a result: scores are above 0, while a cosine or a normalised score may not be."""

MOST_PASSAGES = 50
"""The largest `top_k`, the number of passages for one answer."""


class ItemKind(StrEnum):
    """The kinds of retrieved items."""

    CHUNK = "chunk"
    ENTITY = "entity"
    RELATION = "relation"
    COMMUNITY = "community"


@dataclass(frozen=True)
class LaneScore:
    """The rank (from 1) and score of an item in one lane, and the lane's weight in fusion.

    `contribution` is the lane's part of the item's score; those of an item sum up to it. None: the lane is part of
    another one, as in `mix`.
    """

    rank: int
    score: float
    weight: float = 1.0
    contribution: float | None = None


@dataclass(frozen=True)
class RetrievedItem:
    """One result; `score` is > 0 and descends along a result list.

    `metadata` of a chunk carries `filename, title, source, section_path, section_id, page, start, end,
    modality, ordinal, context`.
    """

    kind: ItemKind
    id: str
    text: str
    score: float
    document_id: str | None = None
    external_id: str | None = None
    lanes: Mapping[str, LaneScore] = field(default_factory=dict[str, LaneScore])
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_table(self) -> bool:
        """Return whether it is a table, printed or scanned."""
        return self.metadata.get("modality") in TABLES

    @property
    def is_read_by_ocr(self) -> bool:
        """Return whether its text was read from a picture."""
        return self.metadata.get("modality") in READ_BY_OCR


def items_of(values: Iterable[object]) -> list[RetrievedItem]:
    """Return items from items or mappings of their fields (`dataclasses.asdict`).

    Raises:
        OptionInvalid: a value is neither; the field says which.
    """
    if not isinstance(values, Iterable) or isinstance(values, str | Mapping):
        raise _no_item("items")
    return [
        value if isinstance(value, RetrievedItem) else _item_of(value, f"items[{number}]")
        for number, value in enumerate(values)
    ]


def _item_of(plain: object, field: str) -> RetrievedItem:
    try:
        values = dict(plain)  # type: ignore[call-overload]
        lanes = {name: LaneScore(**lane) for name, lane in (values.get("lanes") or {}).items()}
        named = {"lanes": lanes, "metadata": values.get("metadata") or {}}
        item = RetrievedItem(**values | named | {"kind": ItemKind(values["kind"])})
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise _no_item(field) from error
    if not (isinstance(item.id, str) and isinstance(item.text, str)):
        raise _no_item(field)
    return item


def _no_item(field: str) -> OptionInvalid:
    return OptionInvalid(
        f"{field} is not a retrieved item.",
        next_step="Give a list of items as the state has them: kind, id, text, score and the rest.",
        field=field,
    )


def rescore(item: RetrievedItem, score: float) -> RetrievedItem:
    """Return the item with another score above 0; its lanes' contributions change in proportion."""
    if score == item.score:
        return item
    share = score / item.score
    lanes = {
        name: lane
        if lane.contribution is None
        else LaneScore(lane.rank, lane.score, lane.weight, lane.contribution * share)
        for name, lane in item.lanes.items()
    }
    return replace(item, score=score, lanes=lanes)


@dataclass(frozen=True, slots=True)
class GraphContext:
    """The graph's part of a context, by importance: `{id, name, type}` and `{source, target, type}`."""

    entities: tuple[dict[str, Any], ...] = ()
    relationships: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, items: Sequence[RetrievedItem]) -> GraphContext:
        """Return the entities among items, in their order, and the relations between them."""
        entities = {
            item.id: {"id": item.id, "name": item.metadata["name"], "type": item.metadata["type"]}
            for item in items
            if item.kind is ItemKind.ENTITY
        }
        joined = (item.metadata for item in items if item.kind is ItemKind.RELATION)
        relationships = (
            {"source": one["source"], "target": one["target"], "type": one["type"]}
            for one in joined
            if one["source"] in entities and one["target"] in entities
        )
        return cls(tuple(entities.values()), tuple(relationships))


@dataclass(frozen=True, slots=True)
class Retrieval(Warned):
    """One retrieval: ranked items, warnings, and times in ms.

    `results` are passages; in mode `global` community reports and their passages. `graph_items` go with them:
    entities, relations and reports, each kind best first. `warnings` are the sentences of `coded_warnings`, in the
    question's language.
    """

    results: tuple[RetrievedItem, ...]
    mode: Mode
    graph_items: tuple[RetrievedItem, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    language: str = "en"

    def reader_language(self) -> str:
        """Return the question's language."""
        return self.language

    @property
    def graph_context(self) -> GraphContext:
        """Return the entities and relations of `graph_items`, in short."""
        return GraphContext.of(self.graph_items)


_OTHER_FIELDS = frozenset({"id", "text", "document_id", "external_id"})


class PassageContent(NamedTuple):
    """The text and metadata of a result."""

    text: str
    document_id: str | None
    external_id: str | None
    metadata: dict[str, Any]


def of_passage(row: Mapping[str, Any]) -> PassageContent:
    """Return the content of a passage, from a row of `ChunkStore.contents`."""
    metadata = {name: value for name, value in row.items() if name not in _OTHER_FIELDS}
    metadata["section_path"] = tuple(row["section_path"])
    return PassageContent(row["text"], row["document_id"], row["external_id"], metadata)


def of_entity(entity: Entity) -> PassageContent:
    """Return the content of an entity."""
    text = f"{entity.name}: {entity.description}" if entity.description else entity.name
    metadata = {
        "name": entity.name,
        "type": entity.entity_type,
        "aliases": entity.aliases,
        "degree": entity.degree,
    }
    return PassageContent(text, None, entity.external_id, metadata)


def assemble_graph_context(
    items: Retrieval | Iterable[RetrievedItem],
) -> dict[str, list[dict[str, Any]]]:
    """Return the entities and relations among `items`, most important first.

    Args:
        items: a retrieval (`GraphRetriever.search`), or items of any kind; the score of an entity or relation is its
            importance. The result of `aretrieve` has no entities or relations.

    Returns:
        `{"entities": [{id, name, type}], "relationships": [{source, target, type}]}`; `source` and `target` are ids
        of listed entities.

    Raises:
        OptionInvalid: one of `items` is not an item.
    """
    found = items.graph_items if isinstance(items, Retrieval) else items_of(items)
    context = GraphContext.of(sorted(found, key=lambda item: (-item.score, item.id)))
    return {"entities": list(context.entities), "relationships": list(context.relationships)}


def assemble_vector_context(items: Retrieval | Iterable[RetrievedItem]) -> list[dict[str, Any]]:
    """Return the passages among `items` in their order: `{text, metadata, score}`.

    `metadata` has `chunk_id`, `document_id`, `source` and the metadata of `RetrievedItem`.

    Raises:
        OptionInvalid: one of `items` is not an item.
    """
    return [
        {
            "text": item.text,
            "metadata": {
                **item.metadata,
                "chunk_id": item.id,
                "document_id": item.document_id,
                "source": item.metadata.get("source") or item.metadata.get("filename") or item.id,
            },
            "score": item.score,
        }
        for item in (items.results if isinstance(items, Retrieval) else items_of(items))
        if item.kind is ItemKind.CHUNK
    ]


class RetrievalError(DependencyError):
    """Every retrieval lane failed; make one with `of`.

    Attributes:
        causes: the error of each lane, by its name.
    """

    code = "retrieval_failed"
    causes: Mapping[str, BaseException] = {}

    @classmethod
    def of(cls, causes: Mapping[str, BaseException]) -> RetrievalError:
        """Return the error of a search whose lanes all failed: `SearchWithoutDatabase` where each lacked PostgreSQL."""
        lost = all(isinstance(cause, DatabaseUnavailable) for cause in causes.values())
        kind = SearchWithoutDatabase if causes and lost else RetrievalError
        english, chinese = (_list_causes(causes, language) for language in ("en", "zh"))
        in_brackets = f" ({english})" if english else ""
        error = kind(
            f"知识库检索失败{in_brackets}",
            next_step=kind.next_steps["en"],
            translations={
                "en": Wording(f"The search failed{in_brackets}.", kind.next_steps["en"]),
                "zh": Wording(
                    f"知识库检索失败（{chinese}）。" if chinese else "知识库检索失败。",
                    kind.next_steps["zh"],
                ),
            },
        )
        error.causes = dict(causes)
        return error

    next_steps: ClassVar[Mapping[str, str]] = {
        "en": "Run `sextant doctor` to see which dependency is down.",
        "zh": "请运行 `sextant doctor`，查看哪个依赖不可用。",
    }


class SearchWithoutDatabase(RetrievalError, DatabaseUnavailable):
    """Every lane failed because PostgreSQL does not answer."""

    code = "database_unavailable"
    next_steps: ClassVar[Mapping[str, str]] = {
        "en": "Run `sextant doctor`, and try again once the database is back.",
        "zh": DOCTOR_ZH,
    }


def _list_causes(causes: Mapping[str, BaseException], language: str) -> str:
    """Return the first line of each cause; further lines of a driver's error hold the statement and its values."""
    listed = dict[str, list[str]]()
    for lane, cause in causes.items():
        reason = cause.wording(language).message if isinstance(cause, SextantError) else str(cause)
        line = next(iter(reason.splitlines()), type(cause).__name__)
        listed.setdefault(line.rstrip(".。"), []).append(lane)
    return "; ".join(f"{', '.join(lanes)}: {line}" for line, lanes in listed.items())
