"""What a chat model's reading of a knowledge base takes: options that bound it, and how it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal

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
