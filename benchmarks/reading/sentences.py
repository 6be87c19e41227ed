"""Compare the ends of sentences with other cutters: `python -m benchmarks.reading.sentences TREEBANKS`.

    python -m benchmarks.reading.sentences TREEBANKS [--write]

TREEBANKS is a folder of test files of Universal Dependencies (`en_gum-ud-test.conllu`), whose sentences people parted.
The sentences of a paragraph are put together as they stood; where a treebank does not say what was a paragraph, of
eight that follow each other. What is counted are the ends inside paragraphs. Other cutters are measured where they are
installed (`pip install pysbd sentencex syntok blingfire pyicu-wheels`); none is a dependency. `--write` makes the
report `docs/reports/sentences.json` and docs/quality.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.quality.pages import measured, write_pages, write_report
from sextant.text.sentences import sentence_spans

_TOGETHER = 8  # sentences of a treebank without paragraphs
_COLUMNS = ("treebank", "ends", "cutter", "precision", "recall", "F1", "CPU s")
_UNSPACED = {"zh", "ja"}

Cut = Callable[[str], Iterable[int]]


@dataclass(frozen=True, slots=True)
class ParsedParagraph:
    """A text, and the offsets behind its sentences."""

    text: str
    ends: tuple[int, ...]


def read_treebank(file: Path) -> list[ParsedParagraph]:
    """Return the paragraphs of a CoNLL-U file."""
    groups = list[list[str]]()
    is_marked = False
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(("# newdoc", "# newpar")):
            is_marked = True
            groups.append([])
        elif line.startswith("# text = "):
            groups = groups or [[]]
            groups[-1].append(line.removeprefix("# text = ").strip())
    if not is_marked:
        each = [sentence for group in groups for sentence in group]
        groups = [each[at : at + _TOGETHER] for at in range(0, len(each), _TOGETHER)]
    blank = "" if file.name[:2] in _UNSPACED else " "
    return [_join(group, blank) for group in groups if group]


def _join(sentences: Sequence[str], blank: str) -> ParsedParagraph:
    ends = accumulate(len(sentence) for sentence in sentences)
    placed = tuple(end + at * len(blank) for at, end in enumerate(ends))
    return ParsedParagraph(blank.join(sentences), placed)


def score(paragraphs: Iterable[ParsedParagraph], cut: Cut) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the ends inside paragraphs, in percent."""
    right = found = known = 0
    for paragraph in paragraphs:
        last = len(paragraph.text)
        given, made = set(paragraph.ends) - {last}, set(cut(paragraph.text)) - {last}
        right, found, known = right + len(given & made), found + len(made), known + len(given)
    precision, recall = right / max(found, 1), right / max(known, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return 100 * precision, 100 * recall, 100 * f1


def _cut_ours(_: str) -> Cut:
    return lambda text: (end for _, end in sentence_spans(text))


def _cut_pysbd(language: str) -> Cut:
    segmenter = import_module("pysbd").Segmenter(language=language, clean=False)
    return lambda text: find_ends(segmenter.segment(text), text)


def _cut_sentencex(language: str) -> Cut:
    segment = import_module("sentencex").segment
    return lambda text: find_ends(segment(language, text), text)


def _cut_syntok(_: str) -> Cut:
    analyze = import_module("syntok.segmenter").analyze
    return lambda text: (
        tokens[-1].offset + len(tokens[-1].value)
        for paragraph in analyze(text)
        for tokens in map(list, paragraph)
    )


def _cut_blingfire(_: str) -> Cut:
    cut = import_module("blingfire").text_to_sentences
    return lambda text: find_ends(cut(text).split("\n"), text)


def _cut_icu(language: str) -> Cut:
    """Return ICU's cutter (UAX 29) with the suppressions of CLDR, abbreviations of the language."""
    icu: Any = import_module("icu")
    breaks = icu.BreakIterator.createSentenceInstance(icu.Locale(f"{language}@ss=standard"))

    def cut(text: str) -> Iterator[int]:
        units = text.encode("utf-16-le")
        breaks.setText(icu.UnicodeString(text))
        for end in breaks:
            yield len(units[: 2 * end].decode("utf-16-le").rstrip())

    return cut


_CUTTERS: dict[str, tuple[str, Callable[[str], Cut]]] = {
    "sextant": ("sextant", _cut_ours),
    "pysbd": ("pysbd", _cut_pysbd),
    "sentencex": ("sentencex", _cut_sentencex),
    "syntok": ("syntok", _cut_syntok),
    "ICU, CLDR": ("icu", _cut_icu),
    "blingfire": ("blingfire", _cut_blingfire),
}


def find_ends(sentences: Iterable[str], text: str) -> Iterator[int]:
    """Yield where sentences end that a cutter returned as texts."""
    at = 0
    for sentence in sentences:
        words = sentence.strip()
        start = text.find(words, at) if words else -1
        if start >= 0:
            at = start + len(words)
            yield at


def measure(folder: Path) -> Iterator[list[Any]]:
    """Yield a row of `_COLUMNS` for each treebank and each cutter that is installed."""
    for file in sorted(folder.glob("*.conllu")):
        paragraphs = read_treebank(file)
        ends = sum(len(paragraph.ends) - 1 for paragraph in paragraphs)
        for name, (module, make) in _CUTTERS.items():
            if find_spec(module):
                cut, start = make(file.name[:2]), time.process_time()
                scores = [round(one, 1) for one in score(paragraphs, cut)]
                seconds = f"{time.process_time() - start:.2f}"
                yield [file.stem.removesuffix("-ud-test"), ends, name, *scores, seconds]


def main() -> None:
    """Measure all cutters, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    rows = []
    for row in measure(chosen.treebanks):
        print(" | ".join(map(str, row)), flush=True)
        rows.append(row)
    if chosen.write:
        how = measured("python -m benchmarks.reading.sentences TREEBANKS --write")
        write_report("sentences", {"measured": how, "columns": _COLUMNS, "rows": rows})
        write_pages()


if __name__ == "__main__":
    main()
