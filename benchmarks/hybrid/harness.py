"""The library over which the limits were set: what the harness's `gen.py` wrote, read from its folder.

Its chunks are docstring sentences and made-up Chinese, its vectors those of the sentences by MiniLM. Tenants
have topics of their own (neighbouring modules of packages), where those of `corpus.py` share theirs: an
index over all tenants finds others' chunks first, and has to look on.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hybrid.corpus import Library, Question


def read_library(folder: Path) -> Library:
    """Return chunks, vectors and questions, tenant after tenant; its tenants count from 1, by size."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()
    ]
    tenants = np.array([row["tenant"] for row in rows], np.intp) - 1
    order = np.argsort(tenants, kind="stable")
    asked: list[dict[str, Any]] = json.loads((folder / "queries.json").read_text("utf-8"))
    places = np.load(folder / "qemb.npy")
    return Library(
        [rows[row]["text"] for row in order.tolist()],
        np.load(folder / "emb.npy")[order],
        tenants[order],
        [
            Question(
                one["tenant"] - 1, one["bucket"], one["kind"] == "off", tuple(one["kw"]), place
            )
            for one, place in zip(asked, places, strict=True)
        ],
    )
