"""Models of sentence-transformers, as small as they get: random weights, saved to a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ENTAILMENT = ("contradiction", "entailment", "neutral")


def save_encoder(folder: Path, words: Sequence[str]) -> str:
    """Save a BERT of two layers with vectors of 32 numbers that knows `words`; return its path."""
    _save(folder, "BertModel", words, ("relevant",), None)
    return str(folder)


def save_cross_encoder(
    folder: Path,
    words: Sequence[str],
    labels: Sequence[str] = ("relevant",),
    bias: Sequence[float] | None = None,
) -> str:
    """Save a cross-encoder that tells `labels` apart; return its path.

    Args:
        folder: where to, made if it is missing.
        words: what it reads as a token; anything else is unknown to it.
        labels: its classes; one: it scores relevance.
        bias: what each class has before a pair is read, large against what a pair adds: its verdict on any pair.
    """
    _save(folder, "BertForSequenceClassification", words, labels, bias)
    return str(folder)


def _save(
    folder: Path,
    kind: str,
    words: Sequence[str],
    labels: Sequence[str],
    bias: Sequence[float] | None,
) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join([*SPECIAL, *dict.fromkeys(words)]), encoding="utf-8")
    transformers.BertTokenizerFast(vocab=str(vocabulary)).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary.read_text(encoding="utf-8").splitlines()), hidden_size=32,
        num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, max_position_embeddings=256,
        id2label=dict(enumerate(labels)),
    )  # fmt: skip
    model = getattr(transformers, kind)(config)
    if bias is not None:
        with torch.no_grad():
            model.classifier.bias.copy_(torch.tensor(bias))
    model.save_pretrained(folder)
