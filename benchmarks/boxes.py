"""Count the quotes from PDFs whose boxes are right: `python -m benchmarks.boxes [FOLDER] [--quotes N] [--longer N]`.

Takes sentences and rows of tables at random from the chunks of each PDF, finds their boxes, and asks PDFium which
text stands under them, without the parser. A quote is boxed right if its letters and figures are there and hardly any
others.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pypdfium2 as pdfium
from pypdfium2 import raw

from sextant.domain.errors import FileRejected
from sextant.domain.page_boxes import PageBox, find_boxes
from sextant.ingestion.parsing.child import parse
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.limits import Limits
from sextant.text.sentences import sentence_spans

SAMPLES = Path(__file__).parents[1] / "samples" / "documents"
_SCALE = 1_000_000  # of the device that PDFium converts shares of a page from
# Of a box's height, or of the width of a line that runs down: lines touch each other, letters of slanted words do not.
_INSETS = (0.25, 0.0)
_DOWN = 3  # times as tall as wide, at least: such a line, or a letter
_BEGINNING = 12  # letters of a quote that the pages show
_RIGHT = 0.95  # of the characters of both
_ADDED = re.compile(r"(?<=\[)(?:note |注)")  # by the parser
_LETTERS = re.compile(r"[\W_]+")


def main() -> int:
    """Print each quote that is boxed wrong and the share of those boxed right."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=SAMPLES)
    options.add_argument("--quotes", type=int, default=10, help="of each file")
    options.add_argument("--longer", type=int, default=0, help="characters of a file, at least")
    given = options.parse_args()
    right = total = files = 0
    for file in sorted(given.folder.rglob("*.pdf")):
        results = [*check_file(file, given.quotes, given.longer)]
        files += bool(results)
        total += len(results)
        right += sum(found for _, _, found in results)
        for quote, under, found in results:
            if not found:
                print(f"{file.name}: {quote!r:.100} is boxed as {under!r:.100}")
    print(f"{files} files, {total} quotes: {right} boxed right ({right / max(total, 1):.2%})")
    return 0


def check_file(file: Path, most: int, longer: int) -> Iterator[tuple[str, str, bool]]:
    """Yield quotes of a file with what stands under their boxes, and whether that is the quote."""
    content = file.read_bytes()
    try:
        made = parse(content, file.name, Limits())
        document = pdfium.PdfDocument(content)
    except (FileRejected, pdfium.PdfiumError):  # or no PDF, whatever its name says
        return
    if len(made.text) < longer:
        return
    quotes = [*_quotes(made)]
    chosen = random.Random(file.name).sample(quotes, min(most, len(quotes)))  # noqa: S311 - to be the same each time
    document.init_forms()
    whole = [PageBox(number, 0, 0, 1, 1) for number in range(1, len(document) + 1)]
    shown = [_letters(_text_under(document, page, 0)) for page in whole]
    for start, end, page in chosen:
        quote = made.text[start:end]
        boxes = find_boxes(made.boxes, start, end)
        if _letters(quote)[:_BEGINNING] not in "".join(shown[page - 1 : page + 1]):
            continue  # beside what the page shows, or in a note or an outline
        under = [" ".join(_text_under(document, box, inset) for box in boxes) for inset in _INSETS]
        yield quote, under[0], any(is_same(quote, text) for text in under)
    document.close()


def _quotes(made: DocumentDraft) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and page of sentences and rows; a quote may go on on the next page."""
    for cut in made.cuts:
        text = made.text[cut.start : cut.end]
        for start, end in sentence_spans(text):
            if len(_letters(text[start:end])) > 2:
                yield cut.start + start, cut.start + end, cut.page or 1


def _text_under(document: pdfium.PdfDocument, box: PageBox, inset: float) -> str:
    page = document[box.page - 1]
    raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    page.close()
    page = document[box.page - 1]
    across, down = box.x1 - box.x0, box.y1 - box.y0
    width, height = page.get_size()
    is_tall = down * height > _DOWN * across * width
    x, y = (inset * across, 0.0) if is_tall else (0.0, inset * down)
    (left, top), (right, bottom) = (
        _point(page, box.x0 + x, box.y0 + y),
        _point(page, box.x1 - x, box.y1 - y),
    )
    left, right = sorted((left, right))
    bottom, top = sorted((bottom, top))
    text = page.get_textpage()
    try:
        return str(text.get_text_bounded(left, bottom, right, top))
    finally:
        text.close()
        page.close()


def _point(page: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
    across, up = ctypes.c_double(), ctypes.c_double()
    at = round(x * _SCALE), round(y * _SCALE)
    raw.FPDF_DeviceToPage(page, 0, 0, _SCALE, _SCALE, 0, *at, across, up)
    return across.value, up.value


def is_same(quote: str, under: str) -> bool:
    """Return whether two texts have the same letters and figures, but for a few."""
    shown = Counter(_letters(under))
    for text in (quote, _ADDED.sub("", quote)):
        cells = [cell.strip(" 〃") for cell in text.split("|")]
        merged = [cell for cell, _ in groupby(cells)]  # stored for each column that it spans
        for texts in (cells, merged):
            letters = Counter(_letters("".join(texts)))
            if (letters & shown).total() >= _RIGHT * max(letters.total(), shown.total()):
                return True
    return False


def _letters(text: str) -> str:
    return _LETTERS.sub("", text).lower()


if __name__ == "__main__":
    sys.exit(main())
