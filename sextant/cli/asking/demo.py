"""`sextant demo`: the sample documents in, three questions, three cited answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson
from sextant.cli.with_sextant import with_sextant
from sextant.domain.errors import OptionInvalid, SextantError

if TYPE_CHECKING:
    from sextant.domain.answers import Answer
    from sextant.facade import Sextant

app = typer.Typer()

GRAPH = "demo"
_SAMPLES = Path(__file__).parents[2] / "samples"


@app.command("demo")
def demo(
    samples: Annotated[Path, typer.Option(help="Folder with the sample documents.")] = _SAMPLES,
    *,
    as_json: AsJson = False,
) -> None:
    """Ingest the sample documents and ask three questions.

    Shows the answers with their citations.
    """
    questions = _questions(samples)
    answers = with_sextant(
        lambda rag: _demo(rag, samples, questions, as_json=as_json), lengthy=True
    )
    if as_json:
        terminal.emit(answers)
    if not all(answer.citations for answer in answers):
        raise SextantError("An answer came without citations.", next_step="Run `sextant doctor`.")


def _questions(samples: Path) -> list[str]:
    """Return the questions of `questions.json` that are marked for the demo."""
    import json

    try:
        listed: dict[str, Any] = json.loads((samples / "questions.json").read_bytes())
    except OSError:
        raise OptionInvalid(
            f"There are no sample documents in {samples}.",
            next_step="Run the demo from a checkout of Sextant, or name the folder with --samples.",
            field="samples",
        ) from None
    return [entry["question"] for entry in listed["questions"] if entry.get("demo")]


async def _demo(
    rag: Sextant, samples: Path, questions: list[str], *, as_json: bool
) -> list[Answer]:
    from sextant.cli.asking.answers import print_answer
    from sextant.cli.progress import ingest_with_progress, print_summary

    results = await ingest_with_progress(rag, [samples / "documents"], GRAPH, quiet=as_json)
    if not as_json:
        print_summary(results)
    answers = []
    for question in questions:
        if not as_json:
            terminal.say("")
            terminal.heading(f"? {question}")
        events = rag.stream(question, graph_id=GRAPH)
        answers.append(await print_answer(events, quiet=as_json))
    return answers
