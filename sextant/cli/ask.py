"""`sextant ask`, `chat` and `demo`: a question in, a cited answer out, streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sextant.cli import terminal
from sextant.cli.session import (
    GRAPH,
    AsJson,
    GraphId,
    Mode,
    TopK,
    chosen_graph,
    open_runner,
    with_sextant,
)

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from sextant.domain.answers import Answer, Effort
    from sextant.domain.errors import DecisionNeeded, OptionInvalid
    from sextant.facade import Sextant
    from sextant.facade.questions import Options

app = typer.Typer()

Confirm = Annotated[
    bool,
    typer.Option(
        "--confirm",
        help="Be asked which of several things a name means, before a report, and before an answer that costs more than "
        "limits.ask_above_tokens.",
    ),
]
ApproveSources = Annotated[
    bool,
    typer.Option("--approve-sources", help="Be asked which passages the answer may use, too."),
]


@app.command("ask")
def ask(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question, in Chinese or English.")
    ] = "",
    graph: GraphId = GRAPH,
    mode: Mode = "auto",
    top_k: TopK = None,
    *,
    image: Annotated[
        list[Path] | None,
        typer.Option(
            "--image",
            "-i",
            metavar="FILE",
            help="An image that the question is about; may be repeated.",
        ),
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option(
            "--table",
            "-t",
            metavar="FILE",
            help="A table in CSV, Markdown or HTML that it is about; may be repeated.",
        ),
    ] = None,
    confirm: Confirm = False,
    effort: Annotated[
        str,
        typer.Option(
            "--effort",
            "-e",
            metavar="low|medium|high",
            help="low: one search; medium: searches until enough is found; high: a researched report.",
        ),
    ] = "medium",
    resume: Annotated[
        str,
        typer.Option(
            "--resume",
            metavar="NAME",
            help="Resume a report that was stopped, by the name it gave.",
        ),
    ] = "",
    approve_sources: ApproveSources = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with citations.

    Images and tables given with it are taken into account.
    """
    if bool(question) == bool(resume):
        raise typer.BadParameter("give a question, or --resume with the name of a report")
    options: Options = {"graph_id": graph, "mode": mode, "top_k": top_k}
    options["effort"] = cast("Effort", effort)
    if resume:
        options |= {"thread_id": resume, "effort": "high"}
    if confirm or approve_sources:
        options |= {"interrupts": True, "approve_sources": approve_sources}
    with_sextant(
        lambda rag: _ask(rag, question, options, image or [], table or [], as_json=as_json),
        to_answer=True,
    )


async def _ask(
    rag: Sextant,
    question: str,
    options: Options,
    images: Sequence[Path],
    tables: Sequence[Path],
    *,
    as_json: bool,
) -> None:
    import asyncio

    from sextant.cli.answers import print_answer
    from sextant.nodes.multimodal.parts import read_attachments

    if question:
        options["graph_id"] = await chosen_graph(rag, options.get("graph_id", GRAPH))
    options["multimodal_content"] = await asyncio.to_thread(
        read_attachments, images, tables, rag.settings
    )
    if options.get("interrupts") or options.get("effort") == "high":
        answer = await _ask_in_thread(rag, question, options, quiet=as_json)
    else:
        answer = await print_answer(rag.stream(question, **options), quiet=as_json)
    if as_json:
        terminal.emit(answer)


async def _ask_in_thread(rag: Sextant, question: str, options: Options, *, quiet: bool) -> Answer:
    """Answer a question, with what the person at the terminal decides on the way; a report can be resumed.

    Without a question the thread that the options name goes on.
    """
    import asyncio
    from uuid import uuid4

    from sextant.cli.answers import print_answer
    from sextant.domain.errors import DecisionNeeded, OptionInvalid

    if question:
        thread_id = options["thread_id"] = f"ask-{uuid4()}"
        events = rag.stream(question, **options)
    else:
        thread_id = str(options.get("thread_id"))
        events = rag.resume(thread_id)
    is_done = False
    try:
        while True:
            try:
                answer = await print_answer(events, quiet=quiet)
            except (DecisionNeeded, OptionInvalid) as stopped:
                decision = await asyncio.to_thread(_decide, stopped)
            else:
                is_done = True
                return answer
            events = rag.resume(thread_id, decision)
    finally:
        if is_done or options.get("effort") != "high":
            await _forget(rag, thread_id)
        elif any(one.thread_id == thread_id for one in await rag.conversations().known(10)):
            terminal.note(f"Resume it: sextant ask --resume {thread_id}")


def _decide(stopped: DecisionNeeded | OptionInvalid) -> bool | str:
    """Show what is to be decided, or why a decision was refused, and return what is typed.

    Nothing or "y" approves, "n" rejects, all else chooses.

    Raises:
        stopped: it is about no decision, or nobody is there to decide.
    """
    from sextant.domain.errors import DecisionNeeded

    if isinstance(stopped, DecisionNeeded):
        terminal.note(
            f"{stopped.message}\nHere: Enter approves, n rejects, or type what to choose."
        )
    elif stopped.field == "decisions":
        terminal.report(stopped, as_json=False)
    else:
        raise stopped
    try:
        line = input().strip()
    except EOFError:
        raise stopped from None
    known = {"": True, "y": True, "yes": True, "是": True, "n": False, "no": False, "否": False}
    return known.get(line.lower(), line)


_LEAVES = frozenset({"/exit", "/quit", "/bye"})
_HELP = """Ask in Chinese or English; an answer may lean on what was said before.
/new forgets the conversation, /exit or Ctrl-D ends it, Ctrl-C stops an answer."""


@app.command("chat")
def chat(
    graph: GraphId = GRAPH,
    mode: Mode = "auto",
    top_k: TopK = None,
    thread: Annotated[
        str | None,
        typer.Option("--thread", help="Keep the conversation under this name, and go on with it."),
    ] = None,
    *,
    confirm: Confirm = False,
    approve_sources: ApproveSources = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List the conversations that are kept, and leave.")
    ] = False,
) -> None:
    """Talk with the documents, question after question.

    Takes one question a line, also from a pipe. /new forgets what was said, /exit ends.
    """
    if listed:
        with_sextant(_list)
        return
    from uuid import uuid4

    from sextant.cli.session import open_session

    options: Options = {"graph_id": graph, "mode": mode, "top_k": top_k, "thread_id": thread}
    if confirm or approve_sources:  # a run that stops for a decision goes on in its thread
        options |= {"interrupts": True, "approve_sources": approve_sources}
        options["thread_id"] = thread or f"chat-{uuid4()}"
    # One loop for all turns, and none of it while a line is typed: Ctrl-C there leaves at once.
    with open_runner() as runner:
        session = open_session(to_answer=True)
        rag = runner.run(session.__aenter__())
        try:
            options["graph_id"] = runner.run(chosen_graph(rag, graph))
            _converse(runner, rag, options)
            if thread is None:
                runner.run(_forget(rag, options.get("thread_id")))
        finally:
            runner.run(session.__aexit__(None, None, None))


def _converse(runner: asyncio.Runner, rag: Sextant, options: Options) -> None:
    history: list[dict[str, str]] = []
    for question in _questions():
        if question == "/new":
            history.clear()
            runner.run(_forget(rag, options.get("thread_id")))
            continue
        try:
            answer = _answer_turn(runner, rag, question, {**options, "history": tuple(history)})
        except KeyboardInterrupt:
            terminal.note("\nStopped. Ctrl-D or /exit ends the conversation.")
            continue
        # A conversation that is kept has its history itself.
        if answer and not options.get("thread_id"):
            history.append({"role": "user", "content": question})
            history.append({"role": "assistant", "content": answer})


def _questions() -> Iterator[str]:
    """Yield what is typed, a line each, without empty lines, until the end."""
    import sys

    shown = sys.stdin.isatty()
    if shown:
        import readline  # noqa: F401 - importing it gives `input` its arrow keys

        terminal.note(_HELP)
    while True:
        try:
            line = input("\n> " if shown else "").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if line.lower() in _LEAVES:
            return
        if line in {"/help", "/?"}:
            terminal.note(_HELP)
        elif line:
            yield line


def _answer_turn(runner: asyncio.Runner, rag: Sextant, question: str, options: Options) -> str:
    """Answer one question; its failure is told, and the conversation goes on."""
    from sextant.cli.answers import print_answer
    from sextant.domain.errors import DecisionNeeded, OptionInvalid, SextantError

    events = rag.stream(question, **options)
    try:
        while True:
            try:
                return runner.run(print_answer(events)).answer
            except (DecisionNeeded, OptionInvalid) as stopped:
                decision = _decide(stopped)
            events = rag.resume(str(options.get("thread_id")), decision)
    except SextantError as error:
        terminal.report(error, as_json=False)
        return ""


async def _forget(rag: Sextant, thread: str | None) -> None:
    """Forget a kept conversation; where that fails, it is told, and the conversation goes on."""
    from sextant.domain.errors import ConversationNotFound, SextantError

    try:
        if thread:
            await rag.conversations().forget(thread)
    except ConversationNotFound:
        pass
    except SextantError as error:
        terminal.report(error, as_json=False)


async def _list(rag: Sextant) -> None:
    for one in await rag.conversations().known():
        terminal.say(f"{one.updated_at:%Y-%m-%d %H:%M}  {one.thread_id}  {one.title}")


_DEMO = "demo"  # the knowledge base of the demo
_SAMPLES = Path(__file__).parents[1] / "samples"


@app.command("demo")
def demo(
    samples: Annotated[Path, typer.Option(help="Folder with the sample documents.")] = _SAMPLES,
    *,
    as_json: AsJson = False,
) -> None:
    """Ingest the sample documents and ask three questions.

    Shows the answers with their citations.
    """
    questions = _read_questions(samples)
    answers = with_sextant(
        lambda rag: _demo(rag, samples, questions, as_json=as_json), lengthy=True
    )
    if as_json:
        terminal.emit(answers)
    if not all(answer.citations for answer in answers):
        from sextant.domain.errors import SextantError

        raise SextantError("An answer came without citations.", next_step="Run `sextant doctor`.")


def _read_questions(samples: Path) -> list[str]:
    """Return the questions of `questions.json` that are marked for the demo."""
    import json

    from sextant.domain.errors import OptionInvalid

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
    from sextant.cli.answers import print_answer
    from sextant.cli.progress import ingest_with_progress, print_summary

    results = await ingest_with_progress(rag, [samples / "documents"], _DEMO, quiet=as_json)
    if not as_json:
        print_summary(results)
    answers = []
    for question in questions:
        if not as_json:
            terminal.say("")
            terminal.heading(f"? {question}")
        events = rag.stream(question, graph_id=_DEMO)
        answers.append(await print_answer(events, quiet=as_json))
    return answers
