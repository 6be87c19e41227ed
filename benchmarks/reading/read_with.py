"""Read files with one tool: `python read_with.py TOOL`, a path a line in, a line of JSON a file out.

Runs in the environment that has the tool, so it imports nothing of this repository.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

_SECONDS = 120


def reader_of(tool: str) -> Callable[[str], str]:
    """Return what makes Markdown of a file."""
    library: Any = importlib.import_module(tool)
    if tool == "markitdown":
        converter = library.MarkItDown()
        return lambda path: str(converter.convert(path).text_content)
    if tool == "kreuzberg":
        config = library.ExtractionConfig(
            output_format="markdown", disable_ocr=True, use_cache=False
        )
        return lambda path: str(library.extract_file_sync(path, config=config).content)
    return lambda path: str(library.to_markdown(path, show_progress=False))


def main() -> None:
    """Read all files."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a tool prints, from C too, is no result
    read = reader_of(sys.argv[1])
    for line in sys.stdin:
        start = time.process_time()
        made: dict[str, Any] = {"path": line.strip()}
        signal.alarm(_SECONDS)
        try:
            made["markdown"] = read(made["path"])
        except Exception as error:  # noqa: BLE001 - whatever a tool throws is its result
            made["error"] = f"{type(error).__name__}: {error}"[:200]
        signal.alarm(0)
        print(json.dumps({**made, "cpu": time.process_time() - start}), file=output, flush=True)


def _stop(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, _stop)
    main()
