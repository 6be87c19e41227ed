"""A GLiNER model of a few words, exported as GLiNER does: what it knows is in its embeddings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sextant.models.embedding.e5.onnx_model import ModelWriter, TensorValue

TYPES = ("person", "organization", "place")
# Each begins a name of a type, ends one, or both.
_BEGINS = {
    "Ada": "person",
    "Ben": "person",
    "Halden": "organization",
    "Cork": "place",
    "上海": "place",
}
_ENDS = {"Marsh": "person", "Works": "organization", "Cork": "place", "上海": "place"}
_MARKS = ("[PAD]", "[UNK]", "<<ENT>>", "<<SEP>>", "[CLS]", "[SEP]")
_VOCABULARY = (*_MARKS, *TYPES, *dict.fromkeys((*_BEGINS, *_ENDS)))
_WIDTH = 3
_INPUTS = {"input_ids": 2, "attention_mask": 2, "words_mask": 2, "text_lengths": 2, "span_idx": 3}


def write_gliner(folder: Path, *, most_words: int = 384, most_tokens: int = 512) -> str:
    """Write the model; return its folder."""
    from tokenizers import Tokenizer, models, processors

    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(_model())
    config = {
        "max_width": _WIDTH,
        "max_len": most_words,
        "ent_token": "<<ENT>>",
        "sep_token": "<<SEP>>",
    }
    (folder / "gliner_config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": most_tokens}))
    ids = {word: number for number, word in enumerate(_VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(mark, ids[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return str(folder)


def _model() -> bytes:
    """Score a span by what its first word begins, and its last one ends, of the type behind each mark of types."""
    writer = ModelWriter()
    node, one = writer.node, writer.constant(np.array(1, np.int64))

    def axes(*numbers: int) -> str:
        return writer.constant(np.array(numbers, np.int64))

    def pick(numbers: str, count: str, vectors: str) -> str:
        """Return the vectors of what is numbered 1 to `count`, by their numbers."""
        wanted = node("Range", one, node("Add", count, one), one)
        place = node(
            "Equal", node("Unsqueeze", numbers, axes(1)), node("Unsqueeze", wanted, axes(0, 2))
        )
        return node("MatMul", node("Cast", place, to=1), vectors)

    token = node("Gather", writer.constant(_embeddings()), "input_ids")
    words = pick("words_mask", node("ReduceMax", "text_lengths", keepdims=0), token)
    marks = node("Cast", node("Equal", "input_ids", axes(_MARKS.index("<<ENT>>"))), to=7)
    numbers = node("Mul", node("CumSum", marks, axes(1)), marks)
    behind = node("Slice", token, axes(1), axes(1 << 30), axes(1))
    before = node("Slice", numbers, axes(0), axes(-1), axes(1))
    types = pick(before, node("ReduceMax", numbers, keepdims=0), behind)
    begins, ends = (
        node(
            "GatherND",
            words,
            node("Slice", "span_idx", axes(at), axes(at + 1), axes(2)),
            batch_dims=1,
        )
        for at in (0, 1)
    )
    size = len(TYPES)
    spans = node(
        "Add",
        node("Slice", begins, axes(0), axes(size), axes(2)),
        node("Slice", ends, axes(size), axes(2 * size), axes(2)),
    )
    label = node("Transpose", node("Slice", types, axes(0), axes(size), axes(2)), perm=[0, 2, 1])
    scores = node("Sub", node("MatMul", spans, label), writer.constant(np.float32(6).reshape(1)))
    count = node("Unsqueeze", node("ReduceMax", numbers, keepdims=0), axes(0))
    shaped = node("Reshape", scores, node("Concat", axes(0, -1, _WIDTH), count, axis=0))
    inputs = [
        TensorValue(name, (-1,) * (rank - 1) + ((2 if rank == 3 else -1),), "int64")
        for name, rank in _INPUTS.items()
    ]
    return writer.model(
        [*inputs, TensorValue("span_mask", (-1, -1), "bool")],
        TensorValue(shaped, (-1, -1, _WIDTH, -1)),
    )


def _embeddings() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Of a word what it begins and ends; of a type itself."""
    table = np.zeros((len(_VOCABULARY), 2 * len(TYPES)), np.float32)
    for column, kind in enumerate(TYPES):
        table[_VOCABULARY.index(kind), column] = 1
        for word in _VOCABULARY:
            table[_VOCABULARY.index(word), column] += 4 * (_BEGINS.get(word) == kind)
            table[_VOCABULARY.index(word), len(TYPES) + column] += 4 * (_ENDS.get(word) == kind)
    return table
