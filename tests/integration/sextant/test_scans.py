"""Questions over a scan: the citation quotes what OCR read, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from sextant import Sextant
from sextant.domain.settings import Settings
from tests.scanned import as_pdf, sheet

pytest.importorskip("rapidocr", reason="the extra `ocr` is not installed")


async def test_a_citation_of_a_scan_says_that_ocr_read_it(
    settings: Settings, tmp_path: Path
) -> None:
    scan = as_pdf([sheet(["The gate of the yard opens at six in the morning."], turn=-1)])
    (tmp_path / "rules.pdf").write_bytes(scan)
    (tmp_path / "office.txt").write_text("The office opens at nine in the morning.")
    async with Sextant.open(settings) as rag:
        await rag.ingest(tmp_path)
        answer = await rag.query("When does the gate of the yard open?")
        written = await rag.query("When does the office open?")
    [citation, *_] = answer.citations
    assert (citation.source, citation.ocr) == ("rules.pdf", True)
    assert citation.quote == "The gate of the yard opens at six in the morning."
    [source, *_] = answer.sources
    assert (source.page, source.ocr) == (1, True)
    assert [(one.filename, one.ocr) for one in written.sources if one.filename == "office.txt"] == [
        ("office.txt", False)
    ]
