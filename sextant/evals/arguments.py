"""What a measuring script is told on the command line; `--help` shows the script's own description."""

from __future__ import annotations

import argparse
from pathlib import Path


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows a description as it is written."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def numbers(description: str | None, **defaults: int) -> tuple[int, ...]:
    """Return whole numbers, each in its place and with its default."""
    parser = parser_of(description)
    for name, default in defaults.items():
        parser.add_argument(name, type=int, nargs="?", default=default, help=f"default {default:,}")
    return tuple(vars(parser.parse_args()).values())


def parser_of_sets(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of `folder`, which has a folder for each question set."""
    parser = parser_of(description)
    parser.add_argument("folder", type=Path, help="has a folder for each question set")
    return parser


def names_of_sets(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the command line, `names` of question sets last."""
    parser.add_argument("names", nargs="+", metavar="name", help="of a question set")
    return parser.parse_args()
