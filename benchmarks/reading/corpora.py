"""Find files with ground truth in folders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reading.markup import Reading, read_markdown, read_structure

# Folders beside the sources, in which docling and others keep what a file says.
_TRUTH_FOLDERS = ("groundtruth", "ground-truth", "truth")
_ANNOTATION = "-str.xml"


@dataclass(frozen=True, slots=True)
class Sample:
    """A file, the corpus and the format it belongs to, and the file that has its truth."""

    file: Path
    corpus: str
    format: str
    truth_file: Path

    def truth(self) -> Reading:
        """Return what the file says."""
        if self.truth_file.name.endswith(_ANNOTATION):
            return read_structure(self.truth_file)
        return read_markdown(self.truth_file.read_text(encoding="utf-8"))


def find_samples(corpora: Path) -> Iterator[Sample]:
    """Yield each file that has a truth: `x.pdf.md` or `x.md` in a folder of truths, or `x-str.xml` beside it.

    A folder of truths is called `groundtruth`, `ground-truth` or `truth` and stands beside the folder of the sources.
    """
    truths = defaultdict[Path, dict[str, Path]](dict)
    for name in _TRUTH_FOLDERS:
        for folder in corpora.rglob(name):
            truths[folder.parent] |= {one.name: one for one in sorted(folder.rglob("*.md"))}
    for file in sorted(corpora.rglob("*")):
        if not file.is_file() or any(part in _TRUTH_FOLDERS for part in file.parts):
            continue
        annotation = file.with_name(file.stem + _ANNOTATION)
        known = truths.get(file.parent.parent, {})
        truth = (
            annotation
            if annotation.is_file()
            else known.get(f"{file.name}.md") or known.get(f"{file.stem}.md")
        )
        if truth and file.suffix != ".xml":
            corpus = file.relative_to(corpora).parts[0]
            yield Sample(file, corpus, file.suffix[1:].lower(), truth)
