"""The application of all commands; every failure becomes a sentence and an exit status.

Exit status: 0 done, 1 failed, 2 bad input, 3 a dependency is down, 130 interrupted.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from typing import Annotated

import typer

from sextant.cli.terminal import note, report
from sextant.domain.errors import DependencyError, OptionInvalid, SextantError

# The module of each command, in the order of `--help`; its `app` holds the command. Modules import heavy libraries
# inside their commands only.
COMMANDS = {
    "demo": "ask",
    "ingest": "transfer",
    "import": "transfer",
    "export": "transfer",
    "ask": "ask",
    "search": "search",
    "chat": "ask",
    "serve": "serve",
    "worker": "serve",
    "mcp": "serve",
    "keys": "keys",
    "chunks": "documents",
    "structure": "documents",
    "searches": "search",
    "graphs": "documents",
    "graph": "graph",
    "documents": "documents",
    "entities": "entities",
    "communities": "graph",
    "reembed": "upkeep",
    "backup": "upkeep",
    "restore": "upkeep",
    "eval": "search",
    "doctor": "upkeep",
    "config": "upkeep",
}

_INTERRUPTED = 130
# Commands that can be run again to go on after they were stopped.
_RESUMABLE = frozenset(
    {"demo", "ingest", "import", "chunks", "entities", "communities", "graph", "reembed"}
)
_GO_ON = "What is stored stays; the same command goes on from there."
# What to use in place of commands and options that earlier versions had.
_FORMER = {
    "sextant version": "`sextant --version` prints it. ",
    "sextant chunks search": "`sextant search` finds passages. ",
    "sextant graph show --format": "A tree is printed, and everything with --json. ",
    "sextant entities search --type": "Use --filter entityTypes=TYPE. ",
    "sextant serve --log": "Set SEXTANT_LOG_LEVEL. ",
}


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status; errors go to standard error.

    With `--json` among the arguments an error is a JSON object too.
    """
    as_json = "--json" in arguments
    try:
        result = _app(arguments)(
            args=list(arguments) or ["--help"], prog_name="sextant", standalone_mode=False
        )
    except SextantError as error:
        report(error, as_json=as_json)
        if isinstance(error, DependencyError) and _can_resume(arguments) and not as_json:
            note(_GO_ON)
        return error.exit_code
    except typer.TyperException as error:
        report(_usage(error), as_json=as_json)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        result = _INTERRUPTED
    except Exception as error:
        logging.getLogger(__name__).debug("a command failed", exc_info=error)
        report(
            SextantError(
                f"Something broke inside: {type(error).__name__}: {error}.",
                next_step="Run again with SEXTANT_LOG_LEVEL=DEBUG to see where, and report it, please.",
            ),
            as_json=as_json,
        )
        return SextantError.exit_code
    if result == _INTERRUPTED:  # typer returns it after Ctrl-C
        note(f"Stopped. {_GO_ON}" if _can_resume(arguments) else "Stopped.")
    return result if isinstance(result, int) else 0


def _can_resume(arguments: Sequence[str]) -> bool:
    return not _RESUMABLE.isdisjoint(arguments[:1])


def _app(arguments: Sequence[str]) -> typer.Typer:
    """Return the application with the called command only, or with all of them for help."""
    app = typer.Typer(
        help="Answers questions over your own documents, with citations that hold.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    called = [name for name in arguments[:1] if name in COMMANDS]
    for module in dict.fromkeys(COMMANDS[name] for name in called or COMMANDS):
        app.add_typer(importlib.import_module(f"sextant.cli.{module}").app)
    return app


def _print_version(*, wanted: bool) -> None:
    if wanted:
        from sextant import __version__

        typer.echo(f"sextant {__version__}")
        raise typer.Exit


def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Make typer treat a single loaded command as a subcommand."""


def _usage(error: typer.TyperException) -> SextantError:
    # Pydantic adds this prefix.
    message = error.format_message().replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "sextant"
    commands = getattr(context and context.command, "commands", {}) if path != "sextant" else {}
    hint = f"Commands: {', '.join(commands)}. " if commands else ""
    if hasattr(error, "option_name"):
        hint = "Put -- before words that begin with a dash. "
    name = getattr(error, "option_name", None) or message.partition("'")[2].rstrip("'.")
    hint = _FORMER.get(f"{path} {name}", hint)
    return OptionInvalid(message, next_step=f"{hint}`{path} --help` shows the way.")
