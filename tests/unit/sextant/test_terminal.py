"""JSON on standard output, whatever a file is called."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from sextant.cli.terminal import encode_json


@dataclass(frozen=True)
class Named:
    """A dataclass with a name, as reports hold them."""

    name: str
    size: int = 1


def test_a_name_that_is_no_utf_8_breaks_no_report() -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    shown = json.loads(
        encode_json({"files": [{"source": name}], "left_out": [Path(name)], name: (Named(name),)})
    )
    written = "caf\\udce9.txt"
    assert shown == {
        "files": [{"source": written}],
        "left_out": [written],
        written: [{"name": written, "size": 1}],
    }
