"""Compare how faithfully files are read with other tools: `python -m benchmarks.reading CORPORA`.

    python -m benchmarks.reading CORPORA [--formats pdf,docx] [--peers PYTHON] [--tools markitdown,kreuzberg]
        [--files FILE] [--write]

CORPORA is a folder of corpora with ground truth (`corpora.py` says in which places); the test data of docling and the
tables of the ICDAR 2013 competition are such. Nothing of it is shipped. `--peers` is the Python of an environment that
has the other tools, which are no dependencies of Sextant; their Markdown is read like the truth's. A file that a tool
refuses has nothing recalled. `--files` keeps each file's scores as lines of JSON, `--write` makes the report
`docs/reports/reading.json` and docs/quality.md. Without peers, their rows of the report stay.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from benchmarks.quality.pages import measured, read_report, write_pages, write_report
from benchmarks.reading.corpora import Sample, find_samples
from benchmarks.reading.markup import Reading, read_markdown
from benchmarks.reading.ours import read_file
from benchmarks.reading.scores import MEASURES, score
from sextant.domain.errors import SextantError
from sextant.ingestion.parsing.limits import Limits

_OURS = "sextant"
_FORMATS = "pdf,docx,pptx,xlsx,html,md,csv,odt,ods,odp,epub"
_READ_WITH = Path(__file__).with_name("read_with.py")
_COLUMNS = ("format", "files", "tool", *MEASURES, "refused", "CPU s")


@dataclass(frozen=True, slots=True)
class Result:
    """One file by one tool; `refused`: why there is nothing."""

    sample: Sample
    tool: str
    scores: Mapping[str, float | None]
    seconds: float
    refused: str = ""


def read_ours(samples: Iterable[Sample], limits: Limits) -> Iterator[Result]:
    """Read with Sextant."""
    for sample in samples:
        start, refused, reading = time.process_time(), "", Reading()
        try:
            reading = read_file(sample.file, limits)
        except SextantError as error:
            refused = error.message
        except Exception as error:  # noqa: BLE001 - ingestion reports it as a broken file
            refused = f"{type(error).__name__}: {error}"
        seconds = time.process_time() - start
        yield Result(sample, _OURS, score(reading, sample.truth()), seconds, refused)


def read_theirs(samples: Sequence[Sample], tool: str, python: str) -> Iterator[Result]:
    """Read with another tool, in its environment."""
    run = subprocess.run(  # noqa: S603 - the Python that the caller names
        [python, str(_READ_WITH), tool],
        input="\n".join(str(sample.file) for sample in samples),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    made = {one["path"]: one for one in map(orjson.loads, run.stdout.splitlines())}
    for sample in samples:
        one = made.get(str(sample.file), {"error": "the tool ended", "cpu": 0.0})
        reading = read_markdown(one.get("markdown", ""))
        yield Result(sample, tool, score(reading, sample.truth()), one["cpu"], one.get("error", ""))


def summarize(results: Iterable[Result]) -> list[list[Any]]:
    """Return a row of `_COLUMNS` for each format and tool: means over files, in percent."""
    groups = defaultdict[tuple[str, str], list[Result]](list)
    for result in results:
        is_of_tables = result.sample.truth().tables_only
        name = (
            f"{result.sample.format}, {result.sample.corpus}"
            if is_of_tables
            else result.sample.format
        )
        groups[name, result.tool].append(result)
    rows = []
    for (name, tool), members in sorted(groups.items(), key=lambda one: one[0][0]):
        means = [_mean(one.scores[measure] for one in members) for measure in MEASURES]
        figures = ["–" if mean is None else round(100 * mean, 1) for mean in means]
        refused = sum(bool(one.refused) for one in members)
        rows.append(
            [
                name,
                len(members),
                tool,
                *figures,
                refused,
                round(sum(one.seconds for one in members), 1),
            ]
        )
    return rows


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _lines(results: Iterable[Result]) -> Iterator[bytes]:
    for one in results:
        file = {"file": str(one.sample.file), "format": one.sample.format, "tool": one.tool}
        yield (
            orjson.dumps({**file, **one.scores, "refused": one.refused, "cpu": one.seconds}) + b"\n"
        )


def _write(rows: list[list[Any]], command: str) -> None:
    tools = {row[2] for row in rows}
    try:
        kept = [row for row in read_report("reading")["rows"] if row[2] not in tools]
    except SextantError:
        kept = []
    formats = list(dict.fromkeys(row[0] for row in rows))
    together = sorted(
        [*rows, *(row for row in kept if row[0] in formats)], key=lambda row: formats.index(row[0])
    )
    write_report("reading", {"measured": measured(command), "columns": _COLUMNS, "rows": together})
    write_pages()


def main() -> None:
    """Read all samples with all tools, and print the means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--formats", default=_FORMATS, help="comma-separated")
    parser.add_argument("--peers", default="", metavar="PYTHON")
    parser.add_argument("--tools", default="markitdown,kreuzberg,pymupdf4llm")
    parser.add_argument("--files", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    formats = set(chosen.formats.split(","))
    samples = [one for one in find_samples(chosen.corpora) if one.format in formats]
    results = list(read_ours(samples, Limits()))
    for tool in chosen.tools.split(",") if chosen.peers else ():
        mine = [one for one in samples if tool != "pymupdf4llm" or one.format == "pdf"]
        results += read_theirs(mine, tool, chosen.peers)
    if chosen.files:
        chosen.files.write_bytes(b"".join(_lines(results)))
    rows = summarize(results)
    for row in (_COLUMNS, *rows):
        print(" | ".join(map(str, row)))
    if chosen.write:
        _write(rows, f"make bench-reading CORPORA=FOLDER{' PEERS=PYTHON' if chosen.peers else ''}")


if __name__ == "__main__":
    main()
