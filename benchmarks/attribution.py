"""How `grounded` agrees with people about whether references carry a claim, on AttributionBench (Li et al. 2024).

    python -m benchmarks.attribution test_ood_all_subset_balanced.jsonl

The data are those of https://github.com/OSU-NLP-Group/AttributionBench, folder `data`. A claim goes through the same
citing as a model's answer, with its references as passages; nothing judges but words. The measure is the benchmark's
own: macro-F1 over "attributable" and "not attributable".
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.cited_text import CitedText


@dataclass(frozen=True, slots=True)
class AttributionVerdict:
    """One claim: whether people found it attributable, and whether it comes out as grounded."""

    attributable: bool
    grounded: bool


def is_grounded(row: Mapping[str, Any]) -> bool:
    """Return whether every sentence of a claim is supported by its references."""
    passages = [
        RetrievedItem(ItemKind.CHUNK, str(number), text, 1.0)
        for number, text in enumerate(row["references"])
    ]
    text = CitedText(passages, question=row["question"] or "")
    for _ in (*text.feed(row["claim"]), *text.finish()):
        pass
    return bool(passages) and text.grounded


def macro_f1(verdicts: Sequence[AttributionVerdict]) -> float:
    """Return the mean of the F1 of both classes, 0..1."""
    scores = []
    for wanted in (True, False):
        hits = sum(one.attributable == one.grounded == wanted for one in verdicts)
        named = sum((one.attributable == wanted) + (one.grounded == wanted) for one in verdicts)
        scores.append(2 * hits / named if named else 0.0)
    return sum(scores) / 2


def main(paths: Iterable[Path]) -> None:
    """Print a line for each source of each file, and one for the whole file."""
    print("| file | source | claims | macro-F1 | grounded | of those attributable |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for path in paths:
        found = defaultdict[str, list[AttributionVerdict]](list)
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            is_right = row["attribution_label"] == "attributable"
            verdict = AttributionVerdict(is_right, is_grounded(row))
            found[row["src_dataset"]].append(verdict)
            found["all"].append(verdict)
        for source, verdicts in sorted(found.items()):
            right = [one.attributable for one in verdicts if one.grounded]
            print(
                f"| {path.stem} | {source} | {len(verdicts)} | {100 * macro_f1(verdicts):.1f}"
                f" | {100 * len(right) / len(verdicts):.1f} % | {100 * sum(right) / max(1, len(right)):.1f} % |"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    main(parser.parse_args().files)
