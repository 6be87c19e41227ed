"""Draw the picture of a page of a PDF or an image file, in the parser's process."""

from __future__ import annotations

from contextlib import closing
from io import BytesIO
from typing import TYPE_CHECKING

from PIL import Image

from sextant.domain.errors import PageNotFound
from sextant.ingestion.parsing.detect import FileType, detect
from sextant.ingestion.parsing.formats.pdf import open_document
from sextant.models.chat.pictures import PictureLimits, count_pages, decode_page

if TYPE_CHECKING:
    from sextant.ingestion.parsing.limits import Limits

_QUALITY = 80
_FASTEST = 0  # of libwebp's methods: half the time of the next, a quarter more bytes
_MAX_SCALE = 8.0  # of a page: a stamp is not blown up to a poster


def draw_page(content: bytes, filename: str, number: int, limits: Limits) -> bytes:
    """Return a page as WebP, its longer edge `limits.page_edge` pixels at most.

    Args:
        content: the file.
        filename: its name.
        number: of the page, from 1.
        limits: `page_edge` and those of images apply.

    Raises:
        PageNotFound: the file has no such page, or none at all.
        FileRejected: it is damaged or locked.
    """
    match detect(content, filename):
        case FileType.PDF:
            with closing(open_document(content)) as document:
                _check_number(number, len(document))
                document.init_forms()
                page = document[number - 1]
                scale = min(limits.page_edge / max(*page.get_size(), 1.0), _MAX_SCALE)
                picture: Image.Image = page.render(scale=scale).to_pil().convert("RGB")
        case FileType.IMAGE:
            bounds = PictureLimits(limits.file_bytes, limits.image_pixels, limits.page_edge)
            _check_number(number, count_pages(content, bounds))
            picture = decode_page(content, number, bounds)
        case other:
            raise PageNotFound(
                f"A file of the format {other.value} has no pages.",
                next_step="Read the document's text.",
                field="page",
            )
    written = BytesIO()
    picture.save(written, "WEBP", quality=_QUALITY, method=_FASTEST)
    return written.getvalue()


def _check_number(number: int, pages: int) -> None:
    if not 1 <= number <= pages:
        raise PageNotFound(
            f"The document has {pages} page{'s' if pages > 1 else ''}, and none of the number {number}.",
            next_step=f"Ask for a page from 1 to {pages}.",
            field="page",
        )
