"""The options that several commands share, each defined once.

Also here: what a chat model's reading of a knowledge base takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from sextant.cli import terminal
from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import DEFAULT_GRAPH

if TYPE_CHECKING:
    from sextant.domain.answers import Usage
    from sextant.ingestion.graph.extraction.cost import CostEstimate

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say about what it would take.")]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget", min=1, help="Tokens after which to stop.")
]
BudgetCost = Annotated[
    float | None,
    typer.Option("--budget-cost", help="Money after which to stop, by the prices set."),
]


def print_estimate(estimate: CostEstimate, what: str, *, as_json: bool) -> None:
    """Print what reading `what` would take."""
    if as_json:
        terminal.emit(estimate)
        return
    terminal.say(
        f"About {estimate.input_tokens} prompt and {estimate.output_tokens} answer tokens for {what} (an estimate)."
    )
    if estimate.cost is None:
        terminal.note(
            "Set SEXTANT_EXTRACTION__INPUT_PRICE and __OUTPUT_PRICE (per million tokens) to see money."
        )
    else:
        terminal.say(f"About {estimate.cost:.2f} in money.")


def usage_text(usage: Usage, cost: float | None) -> str:
    """Return the tokens that were taken, and what they cost."""
    money = "" if cost is None else f", {cost:.4f} in money"
    return f"{usage.prompt_tokens} prompt and {usage.completion_tokens} answer tokens{money}"


GRAPH = DEFAULT_GRAPH
STANDARD = Path("-")  # standard input or output, where a file is named
GraphId = Annotated[str, typer.Option("--graph", "-g", help="The knowledge base.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Mode = Annotated[
    str,
    typer.Option("--mode", "-m", help="auto, naive, local, global, hybrid, mix or bypass."),
]
TopK = Annotated[int | None, typer.Option("--top-k", "-k", help="Passages the answer may use.")]


def document_id(given: str) -> UUID:
    """Return the id of a document as it is listed.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return UUID(given)
    except ValueError:
        raise typer.BadParameter(
            f"`{given}` is not the id of a document; `sextant documents list` shows them"
        ) from None


def read_filters(given: list[str] | None) -> dict[str, list[str] | str]:
    """Return `NAME=VALUE` options as a mapping; a name given again gets one more value.

    Raises:
        OptionInvalid: one has no name or no value, or a date is given twice.
    """
    read: dict[str, list[str] | str] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        name, value = name.strip(), value.strip()
        if not (name and equals and value):
            raise OptionInvalid(
                f"`{one}` is not a filter.",
                next_step="Write --filter topicLabels=payment.",
                field="filters",
            )
        if name.lower().replace("_", "").startswith("created"):
            if name in read:
                raise OptionInvalid(
                    f"The filter `{name}` is given twice.",
                    next_step="Give the one date that counts.",
                    field=f"filters.{name}",
                )
            read[name] = value
            continue
        known = read.setdefault(name, [])
        assert isinstance(known, list)  # noqa: S101 - only dates are not
        known.append(value)
    return read
