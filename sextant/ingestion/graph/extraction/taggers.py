"""Find the names in passages and their types with an optional named-entity model: a spaCy pipeline or GLiNER."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from sextant.domain.errors import ModelUnavailable
from sextant.domain.graph import UNTYPED
from sextant.domain.settings import Settings
from sextant.domain.system import install_extra
from sextant.ingestion.graph.extraction.extraction_prompts import entity_types, relation_type
from sextant.ingestion.graph.extraction.gliner import Gliner, is_gliner
from sextant.stores.graph.evidence import one_line
from sextant.text.characters import language_of
from sextant.text.name_linker import is_linkable

# Our types by the labels of spaCy's pipelines (OntoNotes, and the four of the multilingual one). Numbers, times
# and amounts are left out, since they are no names.
_LABELS = {
    "PER": "PERSON",
    "ORG": "ORGANIZATION",
    "GPE": "LOCATION",
    "LOC": "LOCATION",
    "FAC": "LOCATION",
    "WORK_OF_ART": "WORK",
    "NORP": "GROUP",
    "MISC": UNTYPED,
}
_LEFT_OUT = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})
_LONGEST_NAME = 80  # characters
# Languages whose pipelines read ideographs, and any script.
_IDEOGRAPHIC, _ANY_LANGUAGE = frozenset({"zh", "ja"}), frozenset({"xx", "mul"})
_PACKAGE = re.compile(r"\w+")
_OTHER = "Try another model, or leave SEXTANT_INGESTION__NER_MODEL empty."
T = TypeVar("T")


class Tag(NamedTuple):
    """A name in a text, with its start and type."""

    text: str
    start: int
    entity_type: str


class EntityTagger(ABC):
    """Find names in texts with a model, which is loaded for the first text and used by one thread at a time.

    `kind` is the library of the model.

    Args:
        name: the name or path of the setting.
    """

    kind: str

    def __init__(self, name: str) -> None:
        self.name = name
        self._model: Any = None  # a class of a package that this one does not need
        self._lock = Lock()

    def tag(self, texts: Sequence[str]) -> list[tuple[Tag, ...]]:
        """Return the names of each text, in order.

        Raises:
            ModelUnavailable: the model is not installed, or cannot be loaded or run.
        """
        with self._lock:
            self._model = self._model or self._guard("cannot be loaded", self._load)
            return self._guard("failed", lambda: self._read(texts))

    def _guard(self, failure: str, work: Callable[[], T]) -> T:
        try:
            return work()
        except ModelUnavailable:
            raise
        except Exception as error:
            message = f"The named-entity model {self.name} {failure}: {str(error)[:200]}"
            raise ModelUnavailable(message, next_step=_OTHER) from error

    @abstractmethod
    def _load(self) -> Any: ...  # noqa: ANN401 - as above

    @abstractmethod
    def _read(self, texts: Sequence[str]) -> list[tuple[Tag, ...]]: ...


class SpacyTagger(EntityTagger):
    """A spaCy pipeline by name (`en_core_web_sm`) or folder; it finds nothing in texts of other scripts."""

    kind = "spaCy"

    def _load(self) -> Any:  # noqa: ANN401 - as above
        try:
            spacy = import_module("spacy")
        except ImportError as error:
            raise ModelUnavailable(
                f"The named-entity model {self.name} needs spaCy, which is not installed.",
                next_step=install_extra("ner"),
            ) from error
        try:
            return spacy.load(self.name, exclude=["parser", "lemmatizer"])
        except OSError as error:
            raise ModelUnavailable(
                f"The named-entity model {self.name} is not there: {str(error)[:200]}",
                next_step=_install_pipeline(self.name),
            ) from error

    def _read(self, texts: Sequence[str]) -> list[tuple[Tag, ...]]:
        readable = [one if _reads(self._model.lang, one) else "" for one in texts]
        return [tuple(_spacy_tags(one)) for one in self._model.pipe(readable, batch_size=64)]


class GlinerTagger(EntityTagger):
    """A GLiNER model by folder or name at the hub; it finds names of the given types."""

    kind = "GLiNER"

    def __init__(self, name: str, types: Sequence[str]) -> None:
        super().__init__(name)
        self._types = [relation_type(one) for one in types]
        self._labels = [one.replace("_", " ").lower() for one in types]

    def _load(self) -> Gliner:
        return Gliner(self.name, self._labels)

    def _read(self, texts: Sequence[str]) -> list[tuple[Tag, ...]]:
        found = zip(texts, self._model.find(texts), strict=True)
        return [
            tuple(
                Tag(name, start, self._types[label])
                for start, end, label in names
                if (name := _name(text[start:end]))
            )
            for text, names in found
        ]


def build_tagger(settings: Settings) -> EntityTagger | None:
    """Return the tagger of the settings, if any."""
    name = settings.ingestion.ner_model
    if not name:
        return None
    if is_gliner(name):
        return GlinerTagger(name, entity_types(settings.extraction.entity_types))
    return SpacyTagger(name)


def _install_pipeline(name: str) -> str:
    """Return the next step for a missing pipeline."""
    if _PACKAGE.fullmatch(name):
        return (
            f"Install it: `.venv/bin/python -m spacy download {name}` brings those of spaCy, pip others; "
            "or leave SEXTANT_INGESTION__NER_MODEL empty."
        )
    return (
        "Set SEXTANT_INGESTION__NER_MODEL to the folder of a spaCy pipeline or of a GLiNER export."
    )


def _reads(language: str, text: str) -> bool:
    """Return whether a pipeline of a language can read a text; others find names everywhere."""
    if language in _ANY_LANGUAGE:
        return True
    return (language_of(text) == "zh") == (language in _IDEOGRAPHIC)


def _spacy_tags(document: Any) -> Iterator[Tag]:  # noqa: ANN401 - as above
    for entity in document.ents:
        name = _name(entity.text)
        if name and entity.label_ not in _LEFT_OUT:
            yield Tag(name, entity.start_char, _LABELS.get(entity.label_, entity.label_.upper()))


def _name(text: str) -> str:
    """Return the name of an entity on one line; "" if it is too long or no name, such as two cells of a row."""
    name = one_line(text)
    return name if len(name) <= _LONGEST_NAME and "|" not in name and is_linkable(name) else ""
