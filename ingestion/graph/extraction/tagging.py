"""A named-entity model that says which names a passage has, and of what type: optional, by a name or path."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple, Protocol

from domain.errors import ModelUnavailable
from domain.graph import UNTYPED
from domain.language.linking import is_linkable
from stores.graph.evidence import one_line

# The labels of spaCy's pipelines (OntoNotes, and the four of its multilingual one) by our types. Numbers, times
# and amounts are left out: they name nothing that passages could be linked by.
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
_BATCH = 64  # passages


class Tag(NamedTuple):
    """A name in a text, where it stands, and its type."""

    text: str
    start: int
    entity_type: str


class EntityTagger(Protocol):
    """Finds names in texts, with their types."""

    def tag(self, texts: Sequence[str]) -> list[tuple[Tag, ...]]:
        """Return the names of each text, in order.

        Raises:
            ModelUnavailable: the model is not installed, or cannot be loaded or run.
        """
        ...


class SpacyTagger:
    """A spaCy pipeline by name (`en_core_web_sm`) or path, which is loaded by the first text.

    Args:
        name: an installed pipeline's package, or the folder of one.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._pipeline: Any = None  # a class of a package that this one does not need
        self._lock = Lock()

    def tag(self, texts: Sequence[str]) -> list[tuple[Tag, ...]]:
        """Return the names of each text; one pipeline serves one thread at a time."""
        with self._lock:
            self._pipeline = self._pipeline or self._load()
            try:
                return [tuple(_tags(one)) for one in self._pipeline.pipe(texts, batch_size=_BATCH)]
            except Exception as error:
                raise ModelUnavailable(
                    f"The named-entity model {self.name} failed: {str(error)[:200]}",
                    next_step="Try another pipeline, or leave SEXTANT_INGESTION__NER_MODEL empty.",
                ) from error

    def _load(self) -> Any:  # noqa: ANN401 - a class of a package that this one does not need
        try:
            spacy = importlib.import_module("spacy")
        except ImportError as error:
            raise ModelUnavailable(
                f"The named-entity model {self.name} needs spaCy, which is not installed.",
                next_step="From a checkout run `pip install -e '.[ner]'`, or leave "
                "SEXTANT_INGESTION__NER_MODEL empty.",
            ) from error
        try:
            return spacy.load(self.name, exclude=["parser", "lemmatizer"])
        except Exception as error:
            raise ModelUnavailable(
                f"The named-entity model {self.name} cannot be loaded: {str(error)[:200]}",
                next_step="Set SEXTANT_INGESTION__NER_MODEL to an installed spaCy pipeline or to "
                "the folder of one.",
            ) from error


def build_tagger(name: str) -> EntityTagger | None:
    """Return the tagger of a setting; None where it is empty."""
    return SpacyTagger(name) if name else None


def _tags(document: Any) -> Iterator[Tag]:  # noqa: ANN401 - a class of a package that this one does not need
    for entity in document.ents:
        name = one_line(entity.text)
        if entity.label_ in _LEFT_OUT or len(name) > _LONGEST_NAME or not is_linkable(name):
            continue
        yield Tag(name, entity.start_char, _LABELS.get(entity.label_, entity.label_.upper()))
