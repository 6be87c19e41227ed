"""Writes ONNX models, as much of the format as one encoder needs.

An ONNX file is a protocol buffer (onnx/onnx.proto3). Building it with the `onnx` package costs 0.3 s
of import at every start and 31 MB of installation; the few message types used here are these.

Also here: the encoder of multilingual-e5-small (BERT, 12 layers) as an ONNX model in 8-bit
integers.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sextant.models.embedding.e5.weights import WeightFile

_IR_VERSION = 10  # of ONNX 1.16, as the operators below
_OPSET = 21
_MICROSOFT = "com.microsoft"
_ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9}
_FLOAT_ATTRIBUTE, _INT_ATTRIBUTE, _INTS_ATTRIBUTE = 1, 2, 7  # AttributeProto.AttributeType


class TensorValue(NamedTuple):
    """An input or output of a model; a size of -1 is free."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"


class ModelWriter:
    """Collects operators and constants, then gives the serialised model.

    A value is named by the string that `constant` or `node` returns.
    """

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[tuple[bytes, bytes]] = []

    def constant(self, array: npt.NDArray[np.generic]) -> str:
        """Store an array in the model."""
        name, content = f"c{len(self._constants)}", array.tobytes()
        head = (
            b"".join(_varint_field(1, size) for size in array.shape)
            + _varint_field(2, _ELEMENT_TYPES[array.dtype.name])
            + _bytes_field(8, name.encode())
            + _length(9, len(content))
        )
        self._constants.append((head, content))
        return name

    def node(self, operator: str, *inputs: str, **attributes: float | Sequence[int]) -> str:
        """Apply an operator with one output; names like `microsoft.Gelu` are ONNX Runtime's own."""
        return self.nodes(operator, *inputs, outputs=1, **attributes)[0]

    def nodes(
        self, operator: str, *inputs: str, outputs: int, **attributes: float | Sequence[int]
    ) -> list[str]:
        """Apply an operator with several outputs."""
        names = [f"v{len(self._nodes)}_{index}" for index in range(outputs)]
        domain, _, kind = operator.rpartition(".")
        self._nodes.append(
            b"".join(_bytes_field(1, name.encode()) for name in inputs)
            + b"".join(_bytes_field(2, name.encode()) for name in names)
            + _bytes_field(4, kind.encode())
            + b"".join(_bytes_field(5, _attribute(*pair)) for pair in attributes.items())
            + _bytes_field(7, _MICROSOFT.encode() if domain else b"")
        )
        return names

    def model(self, sources: Sequence[TensorValue], result: TensorValue) -> bytes:
        """Return the model from inputs to its output."""
        # Joined once: each copy of the 22 MB of constants costs 20 ms of page faults.
        graph = [*(_bytes_field(1, node) for node in self._nodes), _bytes_field(2, b"graph")]
        for head, content in self._constants:
            graph += [_length(5, len(head) + len(content)), head, content]
        graph += [_bytes_field(11, _value(source)) for source in sources]
        graph.append(_bytes_field(12, _value(result)))
        opsets = _opset("", _OPSET) + _opset(_MICROSOFT, 1)
        length = _length(7, sum(map(len, graph)))
        return b"".join([_varint_field(1, _IR_VERSION), opsets, length, *graph])


def _varint(value: int) -> bytes:
    encoded = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def _varint_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _length(number: int, size: int) -> bytes:
    """Return what stands before the `size` bytes of a field."""
    return _varint(number << 3 | 2) + _varint(size)


def _bytes_field(number: int, value: bytes) -> bytes:
    return _length(number, len(value)) + value


def _attribute(name: str, value: float | Sequence[int]) -> bytes:
    if isinstance(value, int):
        content = _varint_field(3, value) + _varint_field(20, _INT_ATTRIBUTE)
    elif isinstance(value, float):
        content = _varint(2 << 3 | 5) + struct.pack("<f", value)
        content += _varint_field(20, _FLOAT_ATTRIBUTE)
    else:
        content = b"".join(_varint_field(8, item) for item in value)
        content += _varint_field(20, _INTS_ATTRIBUTE)
    return _bytes_field(1, name.encode()) + content


def _value(value: TensorValue) -> bytes:
    sizes = (_varint_field(1, size) if size >= 0 else b"" for size in value.shape)
    dimensions = b"".join(_bytes_field(1, size) for size in sizes)
    tensor = _varint_field(1, _ELEMENT_TYPES[value.dtype]) + _bytes_field(2, dimensions)
    return _bytes_field(1, value.name.encode()) + _bytes_field(2, _bytes_field(1, tensor))


def _opset(domain: str, version: int) -> bytes:
    return _bytes_field(8, _bytes_field(1, domain.encode()) + _varint_field(2, version))


def encoder_model(weights: WeightFile) -> bytes:
    """Return the model from embedded tokens to pooled vectors.

    Input `tokens`, (texts, length, hidden): sums of word, position and type embeddings. Output: the
    mean of the last layer over the length, (texts, hidden), not normalised. There is no mask: the
    texts of one run have one length.
    """
    return _Encoder(weights).model()


class _Levels(NamedTuple):
    """Tokens as bytes: token = middle + scale * (byte - 128)."""

    bytes: str
    scale: str
    middle: str


class _Encoder:
    def __init__(self, weights: WeightFile) -> None:
        self._weights = weights
        self._writer = ModelWriter()
        constant = self._writer.constant
        self._half = constant(np.array(0.5, np.float32))
        self._one = constant(np.array(1, np.float32))
        self._largest = constant(np.array(127, np.float32))
        self._smallest = constant(np.array(1e-9, np.float32))
        self._centre = constant(np.array(128, np.uint8))
        self._last_axis = constant(np.array([-1], np.int64))
        self._length_axis = constant(np.array([1], np.int64))
        self._one_more_column = constant(np.array([0, 0, 0, 0, 0, 1], np.int64))

    def model(self) -> bytes:
        state = self._normalised("tokens", "emb.ln")
        for layer in range(self._weights.layers):
            state = self._layer(state, f"l{layer}.")
        pooled = self._writer.node("ReduceMean", state, self._length_axis, keepdims=0)
        hidden = self._weights.hidden
        return self._writer.model(
            [TensorValue("tokens", (-1, -1, hidden))], TensorValue(pooled, (-1, hidden))
        )

    def _layer(self, state: str, layer: str) -> str:
        node = self._writer.node
        # Add and LayerNormalization apart: the fused SkipLayerNormalization takes four times as long.
        attended = self._linear(self._attention(state, layer), layer + "ao")
        state = self._normalised(node("Add", state, attended), layer + "aln")
        inner = node("microsoft.Gelu", self._linear(state, layer + "fi"))
        return self._normalised(
            node("Add", state, self._linear(inner, layer + "fo")), layer + "oln"
        )

    def _attention(self, state: str, layer: str) -> str:
        joined = self._linear(state, layer + "q", layer + "k", layer + "v")
        parts = self._writer.nodes("Split", joined, outputs=3, axis=-1, num_outputs=3)
        return self._writer.node(
            "microsoft.MultiHeadAttention", *parts, num_heads=self._weights.heads
        )

    def _normalised(self, state: str, name: str) -> str:
        gain, shift = (
            self._writer.constant(self._weights.vector(name + suffix)) for suffix in (".w", ".b")
        )
        epsilon = self._weights.epsilon
        return self._writer.node("LayerNormalization", state, gain, shift, axis=-1, epsilon=epsilon)

    def _linear(self, state: str, *names: str) -> str:
        """Return the tokens times the transposed matrices, plus their biases.

        With a row of a matrix as step * numbers, token · row is
        scale * step * (bytes - 128) · numbers + middle * sum(row).
        """
        matrices = [self._weights.matrix(name + ".w") for name in names]
        numbers = np.concatenate([matrix.numbers for matrix in matrices])
        steps = np.concatenate([matrix.steps for matrix in matrices])
        bias = np.concatenate([self._weights.vector(name + ".b") for name in names])
        offsets = np.stack([numbers.sum(axis=1) * steps, bias]).astype(np.float32)
        node, constant = self._writer.node, self._writer.constant
        levels = self._quantised(state)
        products = node(
            "microsoft.MatMulIntegerToFloat",
            levels.bytes,
            constant(numbers.T),
            self._one,
            constant(steps),
            self._centre,
        )
        middle_and_one = node("Pad", levels.middle, self._one_more_column, self._one)
        return node(
            "Add",
            node("Mul", products, levels.scale),
            node("MatMul", middle_and_one, constant(offsets)),
        )

    def _quantised(self, state: str) -> _Levels:
        node = self._writer.node
        high = node("ReduceMax", state, self._last_axis, keepdims=1)
        low = node("ReduceMin", state, self._last_axis, keepdims=1)
        middle = node("Mul", node("Add", high, low), self._half)
        reach = node("Max", node("Sub", high, middle), self._smallest)
        scale = node("Div", reach, self._largest)
        centred = node("Mul", node("Sub", state, middle), node("Reciprocal", scale))
        return _Levels(node("QuantizeLinear", centred, self._one, self._centre), scale, middle)
