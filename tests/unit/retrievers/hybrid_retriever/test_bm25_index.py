"""The scores of a textbook BM25 over all texts, whatever was added and deleted."""

from __future__ import annotations

import asyncio
import math
import sys
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.arrays import BM25
from sextant.retrievers.hybrid_retriever.bm25 import BM25Index, BM25Indexes
from sextant.stores.rows import StoredText
from sextant.text.analysis import SEGMENTED

WORDS = st.sampled_from(
    [
        "糖尿病",
        "患者",
        "胰岛素",
        "机器学习",
        "的",
        "Rust",
        "owners",
        "owning",
        "GPU",
        "the",
        "x",
        "，",
        "🙂",
    ]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.lists(WORDS, max_size=6).map("".join)
# A step gives some parts new texts (an empty part is gone).
STEPS = st.lists(
    st.dictionaries(st.integers(0, 5), st.lists(TEXTS, max_size=3), min_size=1),
    min_size=1,
    max_size=6,
)


def reference(
    corpus: Mapping[str, str], question: str, k1: float = 1.2, b: float = 0.75
) -> dict[str, float]:
    """Return BM25 as the paper writes it, one text and one term at a time, over all texts."""
    counts = {name: Counter(SEGMENTED.terms(text)) for name, text in corpus.items()}
    mean = sum(sum(one.values()) for one in counts.values()) / len(counts) if counts else 0.0
    scores = {}
    for name, own in counts.items():
        score = 0.0
        for term in set(SEGMENTED.terms(question)):
            holders = sum(term in other for other in counts.values())
            if term in own:
                idf = math.log(1 + (len(counts) - holders + 0.5) / (holders + 0.5))
                norm = k1 * (1 - b + b * sum(own.values()) / mean)
                score += idf * own[term] * (k1 + 1) / (own[term] + norm)
        scores[name] = score
    return scores


def texts_of(parts: Mapping[int, Sequence[str]]) -> list[StoredText]:
    return [
        StoredText(part, f"{part}-{place}-{text}", text)
        for part, texts in parts.items()
        for place, text in enumerate(texts)
    ]


@given(STEPS, TEXTS, st.floats(0, 3), st.floats(0, 1))
def test_scores_equal_the_reference_after_any_adds_and_deletes(
    steps: list[dict[int, list[str]]], question: str, k1: float, b: float
) -> None:
    index, parts = BM25Index(), dict[int, list[str]]()
    for step in steps:
        parts |= step
        index = index.updated(step, texts_of(step))
        corpus = {text.id: text.searched for text in texts_of(parts)}
        scores = index.score(question, list(corpus), BM25(k1, b))
        expected = reference(corpus, question, k1, b)
        assert dict(zip(corpus, scores, strict=True)) == pytest.approx(expected, abs=1e-6)
    distinct = sum(len(set(SEGMENTED.terms(text.searched))) for text in texts_of(parts))
    assert len(index.lexical.postings.holders) == distinct


def test_a_text_that_moves_to_another_part_is_there_once() -> None:
    before = BM25Index().updated([], [StoredText("a", "1", "apple"), StoredText("b", "2", "pear")])
    after = before.updated(["b"], [StoredText("b", "1", "plum"), StoredText("b", "2", "pear")])
    assert list(after.rows) == ["1", "2"]
    assert after.score("apple", ["1", "2", "unknown"]) == [0, 0, 0]
    assert after.score("plum", ["1", "2"]) == [pytest.approx(math.log(2)), 0]


def test_terms_nobody_holds_any_longer_are_forgotten() -> None:
    before = BM25Index().updated(
        [],
        [StoredText("a", "a", " ".join(f"w{n}" for n in range(99))), StoredText("b", "b", "kept")],
    )
    after = before.updated(["a"], [])
    assert list(after.lexical.vocabulary) == ["kept"]
    assert after.score("kept", ["b"]) == pytest.approx([math.log(1 + 0.5 / 1.5)])
    assert after.nbytes < before.nbytes


def test_terms_of_a_later_index_do_not_count_in_the_one_it_was_made_from() -> None:
    before = BM25Index().updated([], [StoredText("a", "a", "apple")])
    later = before.updated([], [StoredText("b", "b", "banana banana")])
    other = before.updated([], [StoredText("c", "c", "cherry")])
    assert before.score("banana cherry", ["a"]) == [0]
    assert later.score("banana", ["b"])[0] > 0
    assert other.score("cherry", ["c"])[0] > 0
    assert other.score("banana", ["a", "c"]) == [0, 0]


def test_mixed_text_is_cut_by_jieba_with_latin_split_by_itself() -> None:
    assert SEGMENTED.terms("用GPU加速机器学习, e.g. as_comb") == [
        "用",
        "gpu",
        "加速",
        "机器",
        "学习",
        "e",
        "g",
        "comb",
    ]


def test_without_the_segmenter_chinese_is_cut_into_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)
    assert SEGMENTED.terms("糖尿病患者") == ["糖尿", "尿病", "病患", "患者"]


@dataclass
class Changing:
    """Texts that tests change, and what was read of them."""

    texts_by_part: dict[str, str]
    key: Hashable = "somebody"
    read: list[Hashable] = field(default_factory=list[Hashable])
    waits: asyncio.Event | None = None

    async def stamp(self) -> str:
        return repr(self.texts_by_part)

    async def states(self) -> Mapping[Hashable, str]:
        return dict[Hashable, str](self.texts_by_part.items())

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[StoredText]:
        if self.waits:
            await self.waits.wait()
        self.read += parts
        return [StoredText(part, str(part), self.texts_by_part[str(part)]) for part in parts]

    async def owner(self) -> str:
        raise NotImplementedError

    async def keyword_search(self, *_: Any) -> Any:
        raise NotImplementedError

    def statement(self, *_: Any) -> str:
        raise NotImplementedError


def held_of(index: BM25Index) -> set[str]:
    return {one for one in "abcd" if one in index.rows}


async def test_an_index_is_built_on_demand_and_reads_only_what_has_changed() -> None:
    indexes, rows = BM25Indexes(), Changing({"a": "one", "b": "two"})
    assert indexes.keys == []
    first = await indexes.get(rows)
    assert rows.read == ["a", "b"]
    assert await indexes.get(rows) is first
    rows.texts_by_part = {"b": "two", "c": "three"}
    second = await indexes.get(rows)
    assert rows.read == ["a", "b", "c"]
    assert held_of(second) == {"b", "c"}
    assert held_of(first) == {"a", "b"}  # whoever is scoring by the old one is not disturbed


async def test_users_are_kept_apart() -> None:
    indexes = BM25Indexes()
    for rows in (Changing({"a": "one"}, "first"), Changing({"b": "two"}, "second")):
        await indexes.get(rows)
    assert indexes.keys == ["first", "second"]
    assert held_of(await indexes.get(Changing({"b": "two"}, "second"))) == {"b"}


async def test_all_who_wait_for_an_index_share_one_build() -> None:
    rows = Changing({"a": "one"}, waits=asyncio.Event())
    indexes = BM25Indexes()
    asked = [asyncio.create_task(indexes.get(rows)) for _ in range(3)]
    await asyncio.sleep(0)
    assert rows.waits is not None
    rows.waits.set()
    first, *others = await asyncio.gather(*asked)
    assert all(other is first for other in others)
    assert rows.read == ["a"]


async def test_who_stops_waiting_does_not_stop_the_build() -> None:
    rows = Changing({"a": "one"}, waits=asyncio.Event())
    indexes = BM25Indexes()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(indexes.get(rows), 0.001)
    assert rows.waits is not None
    rows.waits.set()
    assert held_of(await indexes.get(rows)) == {"a"}
    assert rows.read == ["a"]


async def test_who_comes_while_an_index_is_built_shares_the_next_build_with_all_who_do() -> None:
    """Builds of one user beside each other, one for each question while he writes, delay all."""
    rows = Changing({"a": "one"}, waits=asyncio.Event())
    indexes = BM25Indexes()
    asked = [asyncio.create_task(indexes.get(rows))]
    for part in ("b", "c", "d"):
        await asyncio.sleep(0)
        rows.texts_by_part = rows.texts_by_part | {part: "more"}
        asked.append(asyncio.create_task(indexes.get(rows)))
    await asyncio.sleep(0)
    assert rows.waits is not None
    rows.waits.set()
    first, *others = await asyncio.gather(*asked)
    assert held_of(others[0]) == {"a", "b", "c", "d"}
    assert all(other is others[0] for other in others)
    assert first is not others[0]
    assert await indexes.get(rows) is others[0]


async def test_the_users_asked_longest_ago_make_room() -> None:
    text = " ".join(f"word{n}" for n in range(200))
    size = BM25Index().updated([], [StoredText("a", "a", text)]).nbytes
    indexes = BM25Indexes(max_bytes=2.5 * size)
    for user in ("one", "two", "one", "three"):
        await indexes.get(Changing({"a": text}, user))
    assert indexes.keys == ["one", "three"]
    await indexes.get(Changing({"a": text + " ".join(f"more{n}" for n in range(999))}, "huge"))
    assert indexes.keys == ["huge"]
