"""The bounds a parser process works under, as plain data that is cheap to import and to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from sextant.domain.errors import FileUnsafe

if TYPE_CHECKING:
    from sextant.domain.settings import Settings


# Up to so many small files go together: through a parser's process where they are texts, and through the stages.
SMALL_FILE = 64_000  # bytes
MOST_TOGETHER = 32


@dataclass(frozen=True, slots=True)
class Limits:
    """`settings.limits` and `settings.ingestion` as far as parsing needs them.

    A parser process does not import `sextant.domain.settings`: pydantic-settings alone takes 0.25 s.
    """

    file_bytes: int = 50_000_000
    pdf_pages: int = 2000
    zip_entries: int = 2000
    zip_inflated_bytes: int = 100_000_000
    zip_part_bytes: int = 20_000_000
    zip_ratio: int = 200
    table_cells: int = 100_000
    cpu_seconds: int = 60
    wall_seconds: float = 120
    memory_bytes: int = 1_000_000_000
    chunk_tokens: int = 320
    images: int = 0  # described, of one document; 0: images are passed over
    image_bytes: int = 10_000_000
    image_pixels: int = 40_000_000
    image_edge: int = 1536
    smallest_edge: int = 64
    captions: Mapping[str, str] = field(default_factory=dict[str, str])  # by sha256 of the image

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that `settings` asks for."""
        limits, multimodal = settings.limits, settings.multimodal
        return cls(
            file_bytes=limits.file_bytes,
            pdf_pages=limits.pdf_pages,
            zip_entries=limits.zip_entries,
            zip_inflated_bytes=limits.zip_inflated_bytes,
            zip_part_bytes=limits.zip_part_bytes,
            zip_ratio=limits.zip_ratio,
            table_cells=limits.table_cells,
            cpu_seconds=limits.parse_cpu_seconds,
            wall_seconds=limits.parse_wall_seconds,
            memory_bytes=limits.parse_memory_bytes,
            chunk_tokens=settings.ingestion.chunk_tokens,
            images=multimodal.document_images if settings.vision_model else 0,
            image_bytes=multimodal.image_bytes,
            image_pixels=multimodal.image_pixels,
            image_edge=multimodal.image_edge,
            smallest_edge=multimodal.smallest_edge,
        )


class CellBudget:
    """Counts the cells of one table or sheet while it is read, so that a huge one stops early."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.table_cells
        self._used = 0

    def spend(self, cells: int) -> None:
        """Count `cells` more; raises `FileUnsafe` past the limit."""
        self._used += cells
        if self._used > self._limit:
            raise FileUnsafe(
                f"A table has more than {self._limit:,} cells.",
                next_step="Split the table, or raise SEXTANT_LIMITS__TABLE_CELLS.",
            )
