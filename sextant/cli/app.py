"""Puts the commands together, and turns every failure into a sentence and an exit status.

Exit status: 0 done, 1 failed, 2 the input is at fault, 3 a dependency is down, 130 interrupted.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from typing import Annotated

import typer

from sextant.cli.terminal import note, report
from sextant.domain.errors import DependencyError, OptionInvalid, SextantError

# The module of each command, in the order of `--help`; it holds the command in its `app`. It must stay light: what is
# heavy is imported inside the command.
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
    "version": "upkeep",
}

_INTERRUPTED = 130
# What these have stored stays when they are stopped, or what they need fails.
_STORING = frozenset(
    {"demo", "ingest", "import", "chunks", "entities", "communities", "graph", "reembed"}
)
_GO_ON = "What is stored stays, and the same command goes on where it was."


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
        if isinstance(error, DependencyError) and _stores(arguments) and not as_json:
            note(_GO_ON)
        return error.exit_code
    except typer.TyperException as error:
        report(_usage(error), as_json=as_json)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        result = _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the edge: people get a sentence, not a traceback
        report(_broken(error), as_json=as_json)
        return SextantError.exit_code
    if result == _INTERRUPTED:  # as typer says of Ctrl-C in a command
        note(f"Stopped. {_GO_ON}" if _stores(arguments) else "Stopped.")
    return result if isinstance(result, int) else 0


def _stores(arguments: Sequence[str]) -> bool:
    return not _STORING.isdisjoint(arguments[:1])


def _app(arguments: Sequence[str]) -> typer.Typer:
    """Return the application; only the module of the command that is called, all of them for help."""
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
    """Keep subcommands even when only one of them is loaded."""


def _usage(error: typer.TyperException) -> SextantError:
    # Pydantic begins others' sentences so.
    message = error.format_message().replace("Value error, ", "")
    return OptionInvalid(message, next_step="`sextant COMMAND --help` shows the way.")


def _broken(error: Exception) -> SextantError:
    logging.getLogger(__name__).debug("a command failed", exc_info=error)
    return SextantError(
        f"Something broke inside: {type(error).__name__}: {error}.",
        next_step="Run again with SEXTANT_LOG_LEVEL=DEBUG to see where, and report it, please.",
    )
