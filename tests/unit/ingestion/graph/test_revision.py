"""A report is written anew when what it tells is gone, or when it would lack much; not before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from sextant.domain.graph import MentionKind, Relation
from sextant.ingestion.graph.communities.membership import CommunityGroup
from sextant.ingestion.graph.communities.network import network_of
from sextant.ingestion.graph.communities.outlines import Outline, outlines
from sextant.ingestion.graph.communities.report_writer import Present, basis_of, news, stays
from sextant.stores.graph.arrays import GraphArrays, halves_of
from sextant.stores.graph.communities.store import KnownReport
from sextant.stores.graph.ids import relation_id
from tests.unit.ingestion.graph.test_communities import arrays

OWN = UUID(int=9)


def graph(
    size: int,
    edges: Sequence[tuple[int, int, float]],
    mentions: Sequence[tuple[int, int]] = (),
    chunks: int = 0,
) -> GraphArrays:
    """Return entities 0..size-1 that know each other; passages 0..chunks-1."""
    made = arrays(
        size,
        [(a, b, "KNOWS", weight) for a, b, weight in edges],
        [(entity, chunk, MentionKind.TERM) for entity, chunk in mentions],
    )
    return replace(made, chunks=halves_of(UUID(int=n + 1) for n in range(chunks)))


def ring(size: int, weight: float = 1.0) -> list[tuple[int, int, float]]:
    return [(n, (n + 1) % size, weight + n / 100) for n in range(size)]


def outline_of(made: GraphArrays, members: int) -> Outline:
    group = CommunityGroup(OWN, 0, None, np.arange(members))
    return outlines(made, network_of(made), [group], made.chunks)[0]


def present(made: GraphArrays, words: str = "", passages: Sequence[str] = ()) -> Present:
    stated = {}
    for row in range(len(made.relation_source)):
        ends = made.entity_id(made.relation_source[row]), made.entity_id(made.relation_target[row])
        own = relation_id(*ends, "KNOWS")
        stated[own] = Relation(own, *ends, "KNOWS", words, float(made.relation_weight[row]))
    texts = {UUID(int=n + 1): text for n, text in enumerate(passages)}
    everyone = [made.entity_id(n) for n in range(len(made.entities))]
    return Present.of(made, everyone, stated, texts)


def known(
    made: GraphArrays,
    members: int,
    cited: Sequence[int] = (),
    *,
    words: str = "",
    passages: Sequence[str] = (),
) -> KnownReport:
    """Return a report that is written now."""
    ids = tuple(UUID(int=n + 1) for n in cited)
    basis = basis_of(present(made, words, passages), outline_of(made, members), ids)
    return KnownReport(OWN, "", OWN, ids, basis)


def test_a_report_of_which_nothing_has_changed_stays() -> None:
    made = graph(6, ring(6))
    assert stays(present(made), outline_of(made, 6), known(made, 6))


def test_a_report_of_which_the_basis_was_not_kept_does_not() -> None:
    made = graph(6, ring(6))
    assert not stays(present(made), outline_of(made, 6), replace(known(made, 6), basis=None))


def test_heavier_relations_and_another_order_of_names_change_no_report() -> None:
    before = graph(6, ring(6))
    after = graph(6, [(a, b, weight * (3 - a / 3)) for a, b, weight in ring(6)])
    assert outline_of(before, 6).entities.tolist() != outline_of(after, 6).entities.tolist()
    assert stays(present(after), outline_of(after, 6), known(before, 6))


def test_a_member_at_the_edge_changes_no_report_and_a_leading_one_does() -> None:
    # The seventh is there all along, joined to nobody in the beginning: its number does not shift.
    before, ids = graph(13, ring(12)), known(graph(13, ring(12)), 12)
    edge = graph(13, [*ring(12), (12, 3, 0.2)])
    assert stays(present(edge), outline_of(edge, 13), ids)
    hub = graph(13, [*ring(12), *((12, n, 5.0) for n in range(12))])
    assert not stays(present(hub), outline_of(hub, 13), ids)
    assert stays(present(before), outline_of(before, 12), ids)


def test_a_third_member_of_two_is_news() -> None:
    before = graph(3, [(0, 1, 1.0)])
    after = graph(3, [(0, 1, 1.0), (1, 2, 1.0)])
    assert not stays(present(after), outline_of(after, 3), known(before, 2))


def test_what_has_come_adds_up() -> None:
    written = known(graph(40, ring(12)), 12)
    kept = 0
    for size in range(13, 40):
        grown = graph(40, [*ring(12), *((n, n % 12, 0.3) for n in range(12, size))])
        if not stays(present(grown), outline_of(grown, size), written):
            break
        kept += 1
    assert 0 < kept < 15


def test_a_report_that_names_who_has_left_is_written_anew() -> None:
    made = graph(6, ring(6))
    assert not stays(present(made), outline_of(made, 5), known(made, 6))


def test_a_report_that_states_what_is_said_otherwise_now_is_written_anew() -> None:
    made = graph(6, ring(6))
    written = known(made, 6, words="met in 1999")
    assert stays(present(made, words="met in 1999"), outline_of(made, 6), written)
    assert not stays(present(made, words="met in 2001"), outline_of(made, 6), written)


def test_an_entity_that_is_called_otherwise_now_changes_the_report() -> None:
    made = graph(6, ring(6))
    renamed = replace(made, names=[f"{name}!" for name in made.names])
    assert not stays(present(renamed), outline_of(renamed, 6), known(made, 6))


@pytest.mark.parametrize(
    ("mentions", "texts", "same"),
    [
        ([(0, 0), (1, 1)], ["a", "b"], True),
        ([(0, 0), (1, 1)], ["other words", "b"], False),
        ([(0, 1), (1, 1)], ["a", "b"], False),
    ],
)
def test_a_cited_passage_must_be_there_unchanged_and_speak_of_a_member(
    mentions: list[tuple[int, int]], texts: list[str], same: bool
) -> None:
    before = graph(6, ring(6), [(0, 0), (1, 1)], 2)
    written = known(before, 6, [0], passages=["a", "b"])
    after = graph(6, ring(6), mentions, 2)
    assert stays(present(after, passages=texts), outline_of(after, 6), written) is same


def test_a_cited_passage_that_is_gone_changes_the_report() -> None:
    before = graph(6, ring(6), [(0, 0), (1, 1)], 2)
    after = graph(6, ring(6), [(1, 1)], 2)
    left = replace(after, chunks=after.chunks[1:], mention_chunk=after.mention_chunk - 1)
    written = known(before, 6, [0], passages=["a", "b"])
    assert not stays(present(left, passages=["a", "b"]), outline_of(left, 6), written)


def test_news_is_the_share_of_the_weight_that_was_not_there() -> None:
    ids = [UUID(int=n) for n in range(4)]
    assert news(ids, np.array([4.0, 3.0, 2.0, 1.0]), set(ids[:2])) == pytest.approx(0.3)
    assert news([], np.empty(0), set()) == 0.0
