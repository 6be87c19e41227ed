"""The encoder of multilingual-e5-small (BERT with 12 layers) as an ONNX model."""

from __future__ import annotations

import numpy as np

from models.e5.onnx_model import ModelWriter
from models.e5.weights import Weights


def encoder_model(weights: Weights) -> bytes:
    """The model from embedded tokens to pooled vectors.

    Input `tokens` (texts, length, hidden): sums of word, position and type embeddings. Output: the
    mean of the last layer over the length, (texts, hidden), not normalised. There is no mask: the
    texts of one run have one length.
    """
    return _Encoder(weights).model()


class _Encoder:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._writer = ModelWriter()

    def model(self) -> bytes:
        state = self._normal("tokens", "emb.ln")
        for layer in range(self._weights.layers):
            state = self._layer(state, f"l{layer}.")
        axis = self._writer.constant(np.array([1], np.int64))
        pooled = self._writer.node("ReduceMean", state, axis, keepdims=0)
        hidden = self._weights.hidden
        return self._writer.model(("tokens", (-1, -1, hidden)), (pooled, (-1, hidden)))

    def _layer(self, state: str, layer: str) -> str:
        add = self._writer.node
        attended = self._linear(self._attention(state, layer), layer + "ao")
        state = self._normal(add("Add", state, attended), layer + "aln")
        inner = add("microsoft.Gelu", self._linear(state, layer + "fi"))
        return self._normal(add("Add", state, self._linear(inner, layer + "fo")), layer + "oln")

    def _attention(self, state: str, layer: str) -> str:
        joined = self._linear(state, layer + "q", layer + "k", layer + "v")
        parts = self._writer.nodes("Split", joined, outputs=3, axis=-1, num_outputs=3)
        return self._writer.node(
            "microsoft.MultiHeadAttention", *parts, num_heads=self._weights.heads
        )

    def _normal(self, state: str, name: str) -> str:
        gain, shift = (self._vector(name + suffix) for suffix in (".w", ".b"))
        epsilon = self._weights.epsilon
        return self._writer.node("LayerNormalization", state, gain, shift, axis=-1, epsilon=epsilon)

    def _linear(self, state: str, *names: str) -> str:
        columns = 4 * self._weights.hidden if names[0].endswith("fo") else self._weights.hidden
        matrix = np.concatenate([self._weights.matrix(name + ".w", columns) for name in names])
        bias = np.concatenate([self._weights.vector(name + ".b") for name in names])
        product = self._writer.node("MatMul", state, self._writer.constant(matrix.T))
        return self._writer.node("Add", product, self._writer.constant(bias))

    def _vector(self, name: str) -> str:
        return self._writer.constant(self._weights.vector(name))
