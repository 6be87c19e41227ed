"""`sextant ask`, `chat` and `demo`: a question in, a cited answer out, streamed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

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
    open_session,
    question_of,
    with_sextant,
)

if TYPE_CHECKING:
    import asyncio

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
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION",
            help="The question, in Chinese or English; - reads it from standard input.",
        ),
    ] = None,
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
    question = question_of(words or ())
    if bool(question) == bool(resume):
        raise typer.BadParameter("give a question, or --resume with the name of a report")
    options: Options = {"graph_id": graph, "mode": mode, "top_k": top_k}
    options["effort"] = cast("Effort", effort)
    if resume:
        options |= {"thread_id": resume, "effort": "high"}
    if confirm or approve_sources:
        options |= {"interrupts": True, "approve_sources": approve_sources}
    with _open_dialogue() as (runner, rag):
        from sextant.nodes.multimodal.parts import read_attachments

        if question:
            options["graph_id"] = runner.run(chosen_graph(rag, graph))
        options["multimodal_content"] = read_attachments(image or [], table or [], rag.settings)
        answer = _answer_once(runner, rag, question, options, quiet=as_json)
    if as_json:
        terminal.emit(answer)


@contextmanager
def _open_dialogue() -> Iterator[tuple[asyncio.Runner, Sextant]]:
    """Open Sextant on a loop that runs only while an answer is made: Ctrl-C at a prompt leaves at once."""
    session = open_session(to_answer=True)
    with open_runner() as runner:
        rag = runner.run(session.__aenter__())
        try:
            yield runner, rag
        finally:
            runner.run(session.__aexit__(None, None, None))


def _answer_once(
    runner: asyncio.Runner, rag: Sextant, question: str, options: Options, *, quiet: bool
) -> Answer:
    """Answer one question, of which nothing is kept; a report that was stopped can be resumed."""
    from uuid import uuid4

    is_report = options.get("effort") == "high"
    if question and (is_report or options.get("interrupts")):
        options["thread_id"] = f"ask-{uuid4()}"
    thread_id = options.get("thread_id")
    try:
        answer = _answer(runner, rag, question, options, quiet=quiet)
    except BaseException:
        end = _note_resumable if is_report else _forget
        runner.run(end(rag, thread_id))
        raise
    runner.run(_forget(rag, thread_id))
    return answer


def _answer(
    runner: asyncio.Runner, rag: Sextant, question: str, options: Options, *, quiet: bool = False
) -> Answer:
    """Answer a question with the decisions of the person at the terminal; without one the thread goes on."""
    from sextant.cli.answers import print_answer
    from sextant.domain.errors import DecisionNeeded, OptionInvalid

    thread_id = str(options.get("thread_id"))
    events = rag.stream(question, **options) if question else rag.resume(thread_id)
    while True:
        try:
            return runner.run(print_answer(events, quiet=quiet))
        except (DecisionNeeded, OptionInvalid) as stopped:
            events = rag.resume(thread_id, _decide(stopped))


def _decide(stopped: DecisionNeeded | OptionInvalid) -> bool | str:
    """Ask the person at the terminal for a decision.

    Enter and "y" approve, "n" rejects, any other text names a choice.

    Raises:
        stopped: it does not ask for a decision, or standard input has ended.
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


_LEAVES = frozenset({"exit", "quit", "bye", "退出"})  # also written as /exit
# A path such as /etc/hosts begins a question.
_COMMAND = re.compile(r"/[a-z?]*")
_HELP = """Ask in Chinese or English; an answer may lean on what was said before.
/new forgets the conversation, exit or Ctrl-D ends it, Ctrl-C stops an answer."""


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
    title: Annotated[
        str | None,
        typer.Option("--title", help="Call the conversation of --thread this in lists, and leave."),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the conversations that are kept, and leave.")
    ] = False,
) -> None:
    """Talk with the documents, question after question.

    Takes one question a line, also from a pipe. /new forgets what was said, exit ends.
    """
    if listed:
        with_sextant(_list)
        return
    if title is not None:
        if thread is None:
            raise typer.BadParameter("--title needs the name of a conversation, --thread")
        with_sextant(lambda rag: rag.conversations().rename(thread, title))
        terminal.say(f"The conversation {thread} has its new title; --list shows it.")
        return
    from uuid import uuid4

    options: Options = {"graph_id": graph, "mode": mode, "top_k": top_k, "thread_id": thread}
    if confirm or approve_sources:  # a run that stops for a decision goes on in its thread
        options |= {"interrupts": True, "approve_sources": approve_sources}
        options["thread_id"] = thread or f"chat-{uuid4()}"
    with _open_dialogue() as (runner, rag):
        options["graph_id"] = runner.run(chosen_graph(rag, graph))
        _converse(runner, rag, options)
        if thread is None:
            runner.run(_forget(rag, options.get("thread_id")))


def _converse(runner: asyncio.Runner, rag: Sextant, options: Options) -> None:
    """Answer question after question; one that fails or is stopped does not end the conversation."""
    from sextant.domain.errors import SextantError

    history: list[dict[str, str]] = []
    for question in _read_typed_questions():
        if question == "/new":
            history.clear()
            runner.run(_forget(rag, options.get("thread_id")))
            continue
        if _COMMAND.fullmatch(question):
            terminal.note(_HELP)
            continue
        try:
            answer = _answer(runner, rag, question, {**options, "history": tuple(history)}).answer
        except KeyboardInterrupt:
            terminal.note("\nStopped. Ctrl-D or exit ends the conversation.")
        except SextantError as error:
            terminal.report(error, as_json=False)
        else:
            if answer and not options.get("thread_id"):  # a stored conversation has its own history
                history.append({"role": "user", "content": question})
                history.append({"role": "assistant", "content": answer})


def _read_typed_questions() -> Iterator[str]:
    """Yield the lines that are typed, without empty lines, until the end."""
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
        if line.lower().removeprefix("/") in _LEAVES:
            return
        if line:
            yield line


async def _note_resumable(rag: Sextant, thread: str | None) -> None:
    """Print how to resume a report, if something of it is stored."""
    if any(one.thread_id == thread for one in await rag.conversations().known(10)):
        terminal.note(f"Resume it: sextant ask --resume {thread}")


async def _forget(rag: Sextant, thread: str | None) -> None:
    """Delete a stored conversation; a failure is printed."""
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
def demo(*, as_json: AsJson = False) -> None:
    """Ingest the sample documents and ask three questions.

    Shows the answers with their citations.
    """
    answers = with_sextant(lambda rag: _demo(rag, as_json=as_json), lengthy=True)
    if as_json:
        terminal.emit(answers)
    if not all(answer.citations for answer in answers):
        from sextant.domain.errors import SextantError

        raise SextantError("An answer came without citations.", next_step="Run `sextant doctor`.")


async def _demo(rag: Sextant, *, as_json: bool) -> list[Answer]:
    import json

    from sextant.cli.answers import print_answer
    from sextant.cli.progress import ingest_with_progress, print_summary

    results = await ingest_with_progress(rag, [_SAMPLES / "documents"], _DEMO, quiet=as_json)
    if not as_json:
        print_summary(results)
    answers = []
    for asked in json.loads((_SAMPLES / "questions.json").read_bytes())["questions"]:
        if not asked.get("demo"):
            continue
        question = asked["question"]
        if not as_json:
            terminal.say("")
            terminal.heading(f"? {question}")
        events = rag.stream(question, graph_id=_DEMO)
        answers.append(await print_answer(events, quiet=as_json))
    return answers
