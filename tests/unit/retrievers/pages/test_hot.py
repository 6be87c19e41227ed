"""结果缓存: five minutes, bounded, per user, until something is written."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from sextant.retrievers.pages.cursor import HotRankings
from tests.clock import Clock

START = datetime(2026, 1, 1, tzinfo=UTC)


def moment(number: int) -> datetime:
    return START + timedelta(seconds=number)


def rankings(entries: int = 10, per_user: int = 10) -> tuple[HotRankings[str], Clock]:
    clock = Clock()
    return HotRankings(300.0, entries, per_user, clock), clock


def test_a_ranking_is_kept_for_five_minutes_and_one_stamp() -> None:
    kept, clock = rankings()
    kept.keep("u", b"q", "first", "1", START)
    clock.now = 299.9
    found = kept.latest("u", b"q", "1")
    assert found is not None
    assert (found.ranking, found.taken_at) == ("first", START)
    assert kept.latest("u", b"q", "2") is None
    assert kept.latest("v", b"q", "1") is None
    assert kept.latest("u", b"p", "1") is None
    clock.now = 300.0
    assert kept.latest("u", b"q", "1") is None
    assert len(kept) == 0


def test_the_next_page_finds_the_ranking_it_belongs_to_after_a_write() -> None:
    kept, _ = rankings()
    kept.keep("u", b"q", "old", "1", moment(0))
    kept.keep("u", b"q", "new", "2", moment(1))
    old, new = kept.of("u", b"q", moment(0)), kept.latest("u", b"q", "2")
    assert old is not None
    assert new is not None
    assert (old.ranking, new.ranking) == ("old", "new")
    assert kept.of("u", b"q", moment(2)) is None


def test_no_user_takes_more_than_their_share_and_the_oldest_go_first() -> None:
    kept, _ = rankings(entries=5, per_user=2)
    for number in range(10):
        kept.keep("greedy", bytes([number]), "r", "1", moment(number))
    kept.keep("modest", b"q", "r", "1", moment(99))
    assert len(kept) == 3
    assert kept.latest("modest", b"q", "1") is not None
    for number in range(10, 16):
        kept.keep(f"user {number}", b"q", "r", "1", moment(number))
    assert len(kept) == 5
    assert kept.latest("greedy", bytes([9]), "1") is None


def test_nothing_is_kept_where_nothing_may_be() -> None:
    kept: HotRankings[str] = HotRankings(0.0, 10, 10)
    kept.keep("u", b"q", "r", "1", START)
    assert len(kept) == 0


@pytest.mark.usefixtures("switching_often")
def test_callers_of_two_threads_do_not_disturb_each_other() -> None:
    rankings: HotRankings[int] = HotRankings(300, 30, 20)

    def asking(seed: int) -> None:
        dice = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
        for _ in range(20_000):
            user, search = str(dice.randrange(3)), bytes([dice.randrange(30)])
            if rankings.latest(user, search, "now") is None:
                rankings.keep(user, search, 1, "now", datetime.now(UTC))

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(asking, seed) for seed in range(2)]:
            done.result()
