"""Settings that limit input and work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sextant.domain.warnings import REPORT_LIMITS

Weight = Annotated[float, Field(ge=0)]

# A folder, of which `~` is the user's own.
Folder = Annotated[Path, AfterValidator(Path.expanduser)]


def _check_endpoint(url: str) -> str:
    """Return the address of an endpoint as it is; an empty one is none.

    Raises:
        ValueError: it is not an HTTP address.
    """
    if url and not url.lower().startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return url


EndpointUrl = Annotated[str, AfterValidator(_check_endpoint)]


class Group(BaseModel):
    """Settings of one subject; a name that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


MOST_ROUNDS = 3
"""Refinement rounds of one answer."""


class LimitSettings(Group):
    """Bounds on input and work."""

    question_chars: int = Field(2000, ge=1, description="Longest question.")
    max_attempts: int = Field(
        MOST_ROUNDS,
        ge=0,
        le=MOST_ROUNDS,
        description="Refinement rounds after the first retrieval.",
    )
    history_turns: int = Field(
        20, ge=0, description="Messages of a conversation that a prompt may show."
    )
    history_tokens: int = Field(
        3000, ge=0, description="Tokens of those; older messages that do not fit are left out."
    )
    model_calls: int = Field(
        8,
        ge=1,
        description="Chat-model calls per answer; searching and judging leave it one, in `global` up to half.",
    )
    report_calls: int = Field(
        3,
        ge=1,
        le=16,
        description="Chat-model calls that read community reports for one answer of `global`.",
    )
    answer_seconds: float = Field(
        60.0,
        gt=0,
        description="Time for one answer, of which searching and judging get two thirds.",
    )
    prompt_tokens: int = Field(
        32_000, ge=1000, description="Tokens of all prompts for one answer together."
    )
    ask_above_tokens: int | None = Field(
        None,
        ge=0,
        description="Where the caller can be asked (`interrupts`): tokens of one answer, prompts and all, above which a "
        "person is; unset: never, but before each report.",
    )
    context_tokens: int = Field(
        6000, ge=200, description="Tokens of retrieved context in a prompt."
    )
    answer_tokens: int = Field(2000, ge=16, description="Tokens of one answer.")
    file_bytes: int = Field(50_000_000, ge=1, description="Largest file.")
    pdf_pages: int = Field(2000, ge=1, description="Most pages of a PDF.")
    page_edge: int = Field(
        1600,
        ge=0,
        le=4000,
        description="Longer edge of the picture of a page, in pixels; 0: pages are not shown.",
    )
    zip_entries: int = Field(
        2000, ge=1, description="Most entries of a DOCX, PPTX or XLSX container."
    )
    zip_inflated_bytes: int = Field(
        100_000_000, ge=1, description="Most inflated bytes of a container."
    )
    zip_part_bytes: int = Field(20_000_000, ge=1, description="Largest inflated XML part.")
    zip_ratio: int = Field(200, ge=1, description="Highest inflation ratio of a container.")
    table_cells: int = Field(100_000, ge=1, description="Most cells of one table or sheet.")
    parse_cpu_seconds: int = Field(60, ge=1, description="CPU time of the parser process.")
    parse_wall_seconds: int = Field(120, ge=1, description="Wall time of the parser process.")
    parse_memory_bytes: int = Field(
        1_000_000_000,
        ge=100_000_000,
        description="Address space of the parser process beyond its own start-up.",
    )


class ResearchSettings(Group):
    """The limits of a report, `effort` high (docs/research.md)."""

    questions: int = Field(
        6, ge=1, le=12, description="Questions that a report is planned by; each becomes a section."
    )
    rounds: int = Field(
        1, ge=0, le=3, description="Rounds of further searches for what the first did not find."
    )
    model_calls: int = Field(24, ge=2, description="Chat-model calls for one report.")
    prompt_tokens: int = Field(
        120_000, ge=1000, description="Tokens of all prompts for one report together."
    )
    seconds: float = Field(600.0, gt=0, description="Time for one report.")

    def limits(self, others: LimitSettings) -> LimitSettings:
        """Return the limits of an answer, with those of a report where it has its own."""
        mine = {name: getattr(self, limit) for name, limit in REPORT_LIMITS.items()}
        return LimitSettings.model_construct(**(dict(others) | mine))
