"""The encoder of multilingual-e5-small (BERT, 12 layers) as an ONNX model in 8-bit integers.

Measured on one core (AMD Zen 4, 130 tokens, the length of a passage of 550 bytes): f32 65 ms,
`MatMulNBits` on the package's 4-bit blocks 61 ms, this 29 ms. `DynamicQuantizeMatMul`, 25 ms, takes
one scale for all tokens of a text and distorts similarities twice as much: tokens differ in their
largest activation by a factor of ten.
"""

from __future__ import annotations

import numpy as np

from models.e5.onnx_model import ModelWriter
from models.e5.weights import Weights


def encoder_model(weights: Weights) -> bytes:
    """The model from embedded tokens to pooled vectors.

    Input `tokens`, (texts, length, hidden): sums of word, position and type embeddings. Output: the
    mean of the last layer over the length, (texts, hidden), not normalised. There is no mask: the
    texts of one run have one length.
    """
    return _Encoder(weights).model()


class _Encoder:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._writer = ModelWriter()
        self._one = self._writer.constant(np.array(1, np.float32))
        self._middle = self._writer.constant(np.array(128, np.uint8))
        self._largest = self._writer.constant(np.array(127, np.float32))
        self._smallest = self._writer.constant(np.array(1e-9, np.float32))
        self._last_axis = self._writer.constant(np.array([-1], np.int64))
        self._length_axis = self._writer.constant(np.array([1], np.int64))

    def model(self) -> bytes:
        state = self._normalised("tokens", "emb.ln")
        for layer in range(self._weights.layers):
            state = self._layer(state, f"l{layer}.")
        pooled = self._writer.node("ReduceMean", state, self._length_axis, keepdims=0)
        hidden = self._weights.hidden
        return self._writer.model(("tokens", (-1, -1, hidden)), (pooled, (-1, hidden)))

    def _layer(self, state: str, layer: str) -> str:
        node = self._writer.node
        attended = self._linear(self._attention(state, layer), layer + "ao")
        # Add and LayerNormalization apart: the fused SkipLayerNormalization takes four times as long.
        state = self._normalised(node("Add", state, attended), layer + "aln")
        inner = node(
            "microsoft.BiasGelu", self._product(state, layer + "fi"), self._bias(layer + "fi")
        )
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
        return self._writer.node("Add", self._product(state, *names), self._bias(*names))

    def _bias(self, *names: str) -> str:
        vectors = [self._weights.vector(name + ".b") for name in names]
        return self._writer.constant(np.concatenate(vectors))

    def _product(self, state: str, *names: str) -> str:
        """`state` times the transposed matrices: each token and each matrix row has its own scale."""
        columns = self._weights.hidden * (4 if names[0].endswith("fo") else 1)
        matrices = [self._weights.matrix(name + ".w", columns) for name in names]
        numbers = self._writer.constant(np.concatenate([matrix for matrix, _ in matrices]).T)
        scales = self._writer.constant(np.concatenate([scale for _, scale in matrices]))
        quantised, token_scales = self._quantised(state)
        product = self._writer.node(
            "microsoft.MatMulIntegerToFloat", quantised, numbers, self._one, scales, self._middle
        )
        return self._writer.node("Mul", product, token_scales)

    def _quantised(self, state: str) -> tuple[str, str]:
        """`state` as bytes around 128, and the scale of each token."""
        node = self._writer.node
        peaks = node("ReduceMax", node("Abs", state), self._last_axis, keepdims=1)
        scales = node("Div", node("Max", peaks, self._smallest), self._largest)
        levels = node("Mul", state, node("Reciprocal", scales))
        return node("QuantizeLinear", levels, self._one, self._middle), scales
