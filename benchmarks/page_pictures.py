"""How long it takes to open a quote on its page: its boxes, and the picture, drawn anew or cached.

    python -m benchmarks.page_pictures [FILE.pdf …]

Limit: 300 ms for both together, drawn anew. Of each file up to twelve pages; the sample documents by default.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from uuid import UUID

from benchmarks.figures import record
from sextant.facade import Sextant
from sextant.facade.library import Library

SAMPLES = Path(__file__).parents[1] / "samples" / "documents"
PAGES = 12  # of a file, at most
SPAN = 120  # characters of a quote


async def main() -> None:
    """Ingest the files and open pages of each, twice."""
    files = [*map(Path, sys.argv[1:])] or sorted(SAMPLES.glob("*.pdf"))
    with tempfile.TemporaryDirectory(prefix="sextant-bench-") as data_dir:
        async with Sextant.open(data_dir=data_dir) as rag:
            await rag.ingest(files)
            library = rag.library()
            documents = [one for one in await rag.documents() if one.page_count]
            pages = [
                (document.id, number)
                for document in documents
                for number in range(1, min(PAGES, document.page_count or 0) + 1)
            ]
            await _open_page(library, *pages[0])  # starts the parser's process
            for name, limit in (("drawn anew", 0.3), ("cached", None)):
                seconds = [await _open_page(library, *page) for page in pages[1:]]
                record(f"a quote on its page, {name}", statistics.median(seconds), "s", most=limit)
                record(f"a quote on its page, {name}, slowest", max(seconds), "s")


async def _open_page(library: Library, document_id: UUID, number: int) -> float:
    began = time.perf_counter()
    boxes = library.boxes(document_id, 0, SPAN)
    picture = await library.page_picture(document_id, number)
    await asyncio.gather(boxes, picture.draw())
    return time.perf_counter() - began


if __name__ == "__main__":
    asyncio.run(main())
