"""Read an image file: the text that OCR finds on its pages, and the description by the vision model."""

from __future__ import annotations

from sextant.domain.errors import FileUnsafe
from sextant.ingestion.parsing.blocks import Blocks, Image
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.structure import Omissions
from sextant.models.chat.pictures import (
    PictureLimits,
    as_jpeg,
    count_pages,
    decode_page,
    is_scan,
    read_picture,
)


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a PNG, JPEG, WebP, GIF, BMP or TIFF.

    Raises:
        FileRejected: it is too large, damaged, or an animation.
    """
    bounds = PictureLimits(limits.image_bytes, limits.image_pixels, limits.image_edge)
    if is_scan(content):
        bounds = PictureLimits(limits.file_bytes, limits.image_pixels, limits.image_edge)
        pages = count_pages(content, bounds)
        if pages > limits.pdf_pages:
            raise FileUnsafe(
                f"The TIFF has {pages:,} pages; the limit is {limits.pdf_pages:,}.",
                next_step="Split it, or raise SEXTANT_LIMITS__PDF_PAGES.",
            )
    else:
        # It says what is wrong with it; elsewhere such an image is left out.
        read_picture(content, bounds)
        pages = 1
    # Only here, since few files are images.
    from sextant.ingestion.parsing.formats.pdf import lay_out
    from sextant.ingestion.parsing.formats.scans import frame_of, lines_of, scanned_pages

    scans = scanned_pages(limits)
    omissions = Omissions()
    frames = [frame_of(page) for page in scans.values()]
    blocks, warnings = lay_out(list(lines_of(scans).values()), frames, omissions)
    if limits.describes and limits.images and not is_scan(content):
        blocks.append(Image(content, is_read=limits.reads))
    elif limits.describes and limits.images:
        for page in range(1, min(pages, limits.images) + 1):
            jpeg = as_jpeg(decode_page(content, page, bounds))
            blocks.append(Image(jpeg, page=page, is_read=limits.reads))
    unread = [page for page in range(1, pages + 1) if limits.reads and page not in scans]
    return Blocks(
        blocks,
        page_count=pages if is_scan(content) or scans else None,
        warnings=warnings,
        omissions=omissions,
        ocr_pages=frozenset(scans),
        unread_pages=tuple(unread),
    )
