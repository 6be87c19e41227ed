"""Words that some embedding models were trained to see before a question or a passage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Prefixes(NamedTuple):
    """What to write before each kind of text."""

    query: str = ""
    passage: str = ""


_TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

# By name, as each model's card says; the first match counts.
_KNOWN: tuple[tuple[re.Pattern[str], Prefixes], ...] = (
    (re.compile(r"e5-.*instruct|qwen3-embedding"), Prefixes(query=_TASK)),
    (re.compile(r"(^|[/_-])e5([/_.-]|$)"), Prefixes("query: ", "passage: ")),
    (re.compile(r"nomic-embed"), Prefixes("search_query: ", "search_document: ")),
    (
        re.compile(r"bge-(small|base|large)-en"),
        Prefixes(query="Represent this sentence for searching relevant passages: "),
    ),
    (
        re.compile(r"bge-(small|base|large)-zh"),
        Prefixes(query="为这个句子生成表示以用于检索相关文章："),
    ),
)
# Where sentence-transformers keeps a model's own prompts, and what it calls those of passages.
_PROMPTS_FILE = "config_sentence_transformers.json"
_PASSAGE_PROMPTS = ("document", "passage", "corpus")
# Names of a model, or a list of them, in the front matter of its card.
_CARD_NAMES = re.compile(
    r"^(?:model-index:\s+- name|base_model):(?P<names>[^\n]*(?:\n[ \t]*- [^\n]*)*)", re.MULTILINE
)
_CARD_NAME = re.compile(r"\w[\w./-]*")
_CARD_READ = 100_000  # characters; results of benchmarks follow


def prefixes_of(model: str) -> Prefixes:
    """Return the prefixes that the model of this name was trained with; empty where none is known."""
    return _find_known(model) or Prefixes()


def prefixes_in(folder: Path) -> Prefixes | None:
    """Return the prefixes of the model in a folder; None where nothing in it says which model it is.

    What sentence-transformers is told there goes first, then the model's names in its configuration and
    on its card, then the folder's own name, which whoever moves it may change.
    """
    prompts = _read_json(folder / _PROMPTS_FILE).get("prompts")
    if isinstance(prompts, Mapping) and any(prompts.values()):
        passage = next((prompts[name] for name in _PASSAGE_PROMPTS if prompts.get(name)), "")
        return Prefixes(str(prompts.get("query") or ""), str(passage))
    found = (_find_known(name) for name in _names_in(folder))
    return next((prefixes for prefixes in found if prefixes is not None), None)


def lacks_prefixes(folder: Path) -> bool:
    """Return whether this is a model's folder that does not say which model it is."""
    return folder.is_dir() and prefixes_in(folder) is None


def _find_known(name: str) -> Prefixes | None:
    folded = name.casefold()
    return next((prefixes for pattern, prefixes in _KNOWN if pattern.search(folded)), None)


def _names_in(folder: Path) -> Iterator[str]:
    yield str(_read_json(folder / "config.json").get("_name_or_path") or "")
    with suppress(OSError, UnicodeError), (folder / "README.md").open(encoding="utf-8") as card:
        for found in _CARD_NAMES.finditer(card.read(_CARD_READ)):
            yield from _CARD_NAME.findall(found["names"])
    whole = folder.absolute()
    yield whole.name
    # The hub's cache has a folder `models--<owner>--<name>/snapshots/<revision>`.
    yield from (part for part in whole.parts if part.startswith("models--"))


def _read_json(file: Path) -> Mapping[str, object]:
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}
