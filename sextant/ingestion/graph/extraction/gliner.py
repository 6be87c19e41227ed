"""Run GLiNER models (Zaratiana et al. 2024, arXiv 2311.08526) that were exported to ONNX, without torch.

The input is a prompt with the names of the types, followed by the words of the text. The model scores each run of up
to `max_width` words for each type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sextant.domain.errors import ModelUnavailable
from sextant.domain.system import install_extra
from sextant.text.characters import has_cjk
from sextant.text.segmenter import words_of

_CONFIG, _TOKENIZER = "gliner_config.json", "tokenizer.json"
_EXPORTS = ("onnx/model.onnx", "model.onnx")  # as the hub and as GLiNER's own export have it
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_LEAST_SCORE = 0.5  # as GLiNER asks by default
_BATCH = 8  # windows in one run of the model
_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")  # as its models learn what a word is
_INPUTS = {  # of models that score spans with one encoder
    "input_ids",
    "attention_mask",
    "words_mask",
    "text_lengths",
    "span_idx",
    "span_mask",
}

Ints: TypeAlias = npt.NDArray[np.int64]


class NameSpan(NamedTuple):
    """A name in a text, with the index of its type."""

    start: int
    end: int
    label: int


class _Word(NamedTuple):
    text: str
    start: int


class _Window(NamedTuple):
    """Words of a text that fit into one run of the model, with the tokens of the prompt and the words."""

    text: int
    words: Sequence[_Word]
    ids: Sequence[int]
    mask: Sequence[int]  # of each token: the number of its word, from 1, or 0


def is_gliner(name: str) -> bool:
    """Return whether a setting names a GLiNER model: a folder with one, or a name at the model hub."""
    folder = Path(name)
    if folder.is_dir():
        return (folder / _CONFIG).is_file()
    return _HUB_NAME.fullmatch(name) is not None


class Gliner:
    """A loaded model, for one thread at a time.

    Args:
        name: a folder with `gliner_config.json`, `tokenizer.json` and an export, or a repository of the hub.
        labels: the names of the types.

    Raises:
        ModelUnavailable: it cannot be loaded, or is of another kind.
    """

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        folder = _folder_of(name)
        self._config: dict[str, Any] = json.loads((folder / _CONFIG).read_text("utf-8"))
        self._tokenizer = _load_tokenizer(folder)
        self._session = _load_session(name, folder)
        entity, end = (
            self._config.get("ent_token", "<<ENT>>"),
            self._config.get("sep_token", "<<SEP>>"),
        )
        self._labels = len(labels)
        self._prompt = [part for label in labels for part in (entity, label)] + [end]
        self._most_words = int(self._config.get("max_len", 384))
        self._most_tokens = _most_tokens(folder)

    def find(self, texts: Sequence[str]) -> list[list[NameSpan]]:
        """Return the names in each text in order, without overlaps."""
        found: list[list[NameSpan]] = [[] for _ in texts]
        windows = [
            window
            for index, text in enumerate(texts)
            for window in self._windows(index, list(_words(text)))
        ]
        for start in range(0, len(windows), _BATCH):
            batch = windows[start : start + _BATCH]
            for window, scores in zip(batch, self._run(batch), strict=True):
                found[window.text] += _decode(window.words, scores)
        return found

    def _windows(self, text: int, words: Sequence[_Word]) -> Iterator[_Window]:
        """Cut the words of a text into windows that fit into the model."""
        for start in range(0, len(words), self._most_words):
            yield from self._fitting(text, words[start : start + self._most_words])

    def _fitting(self, text: int, words: Sequence[_Word]) -> Iterator[_Window]:
        pieces = [*self._prompt, *(word.text for word in words)]
        encoded = self._tokenizer.encode(pieces, is_pretokenized=True)
        if len(encoded.ids) > self._most_tokens and len(words) > 1:
            half = len(words) // 2
            yield from self._fitting(text, words[:half])
            yield from self._fitting(text, words[half:])
            return
        mask = _mask(encoded.word_ids, len(self._prompt), self._config.get("subtoken_pooling"))
        yield _Window(text, words, encoded.ids, mask)

    def _run(self, batch: Sequence[_Window]) -> npt.NDArray[np.float32]:
        """Return the score of each span and label, (windows, words, widths, labels)."""
        lengths = np.array([[len(window.words)] for window in batch], np.int64)
        starts = np.arange(lengths.max(), dtype=np.int64)[:, None]
        ends = starts + np.arange(int(self._config["max_width"]))
        spans = np.stack(np.broadcast_arrays(starts, ends), axis=-1).reshape(1, -1, 2)
        inside = spans[..., 1] < lengths
        inputs = {
            "input_ids": _pad([window.ids for window in batch]),
            "attention_mask": _pad([[1] * len(window.ids) for window in batch]),
            "words_mask": _pad([window.mask for window in batch]),
            "text_lengths": lengths,
            "span_idx": spans * inside[..., None],
            "span_mask": inside,
        }
        logits = self._session.run(None, inputs)[0][..., : self._labels]
        scores: npt.NDArray[np.float32] = 1 / (1 + np.exp(-logits))
        return scores * inside.reshape(*scores.shape[:3], 1)


def _decode(words: Sequence[_Word], scores: npt.NDArray[np.float32]) -> list[NameSpan]:
    """Return the best spans that do not overlap."""
    positions = np.argwhere(scores > _LEAST_SCORE)
    best = positions[np.argsort(-scores[tuple(positions.T)], kind="stable")].tolist()
    taken: set[int] = set()
    found = []
    for first, width, label in best:
        span = range(first, first + width + 1)
        if taken.isdisjoint(span):
            taken.update(span)
            last = words[first + width]
            found.append(NameSpan(words[first].start, last.start + len(last.text), label))
    return sorted(found)


def _words(text: str) -> Iterator[_Word]:
    """Yield the words and signs of a text; Chinese is segmented."""
    for match in _WORD.finditer(text):
        at = match.start()
        for part in words_of(match.group()) if has_cjk(match.group()) else [match.group()]:
            yield _Word(part, at)
            at += len(part)


def _mask(word_ids: Sequence[int | None], prompt: int, pooling: str | None) -> list[int]:
    """Return the number of the word for each token that represents one: its first token, or as `pooling` says."""
    before, after = [None, *word_ids[:-1]], [*word_ids[1:], None]
    return [
        word - prompt + 1
        if word is not None
        and word >= prompt
        and (pooling in {"mean", "max"} or word != (behind if pooling == "last" else ahead))
        else 0
        for word, ahead, behind in zip(word_ids, before, after, strict=True)
    ]


def _pad(rows: Sequence[Sequence[int]]) -> Ints:
    longest = max(map(len, rows))
    return np.array([[*row, *[0] * (longest - len(row))] for row in rows], np.int64)


def _folder_of(name: str) -> Path:
    if Path(name).is_dir():
        return Path(name)
    hub = _import("huggingface_hub")
    wanted = [_CONFIG, _TOKENIZER, "tokenizer_config.json", *_EXPORTS]
    try:
        try:  # what is here already needs no hub, which may be slow or out of reach
            return Path(hub.snapshot_download(name, allow_patterns=wanted, local_files_only=True))
        except hub.errors.LocalEntryNotFoundError:
            return Path(hub.snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        raise ModelUnavailable(
            f"The GLiNER model {name} cannot be downloaded: {str(error)[:200]}",
            next_step="Give the folder of an export as SEXTANT_INGESTION__NER_MODEL, or load it once where "
            "the model hub can be reached.",
        ) from error


def _load_tokenizer(folder: Path) -> Any:  # noqa: ANN401 - a class of a package that this one does not need
    tokenizer = _import("tokenizers").Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _most_tokens(folder: Path) -> int:
    """Return the number of tokens that the encoder can read; a huge number means no limit."""
    settings = folder / "tokenizer_config.json"
    known = json.loads(settings.read_text("utf-8")) if settings.is_file() else {}
    return int(known.get("model_max_length") or 512)


def _load_session(name: str, folder: Path) -> Any:  # noqa: ANN401 - as above
    import onnxruntime

    others = sorted(folder.rglob("*.onnx"))
    exports = [path for path in map(folder.joinpath, _EXPORTS) if path.is_file()] or others
    if not exports:
        raise ModelUnavailable(
            f"The GLiNER model {name} has no ONNX export.",
            next_step="Export it with GLiNER's `export_to_onnx`, which writes the folder to name here.",
        )
    session = onnxruntime.InferenceSession(str(exports[0]), providers=["CPUExecutionProvider"])
    if {one.name for one in session.get_inputs()} != _INPUTS:
        raise ModelUnavailable(
            f"The GLiNER model {name} is of a kind that is not supported.",
            next_step="Use one that scores spans with one encoder, as gliner_small-v2.1 and gliner_multi-v2.1 "
            "do; not a token-level model, a bi-encoder or GLiNER2.",
        )
    return session


def _import(package: str) -> Any:  # noqa: ANN401 - as above
    try:
        return import_module(package)
    except ImportError as error:
        raise ModelUnavailable(
            f"GLiNER models need the package {package}, which is not installed.",
            next_step=install_extra("ner"),
        ) from error
