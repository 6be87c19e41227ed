"""Automatic merges follow from names and decisions alone, and know where to stop."""

from __future__ import annotations

import random
from dataclasses import replace
from uuid import UUID

from sextant.domain.scope import Scope
from sextant.ingestion.graph.resolution.name_merger import automatic_merges
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.name_comparison import CurrentMerge, NamedEntity, Names, Pair

SCOPE = Scope("user", "graph")


def ids(*names: str) -> list[UUID]:
    return [entity_id(SCOPE, name) for name in names]


def named(name: str, kind: str = "TERM", mentions: int = 2, own: str | None = None) -> NamedEntity:
    identity = entity_id(SCOPE, name, own) if own else entity_id(SCOPE, name)
    return NamedEntity(identity, name, kind, own, mentions)


def merged(names: Names) -> set[tuple[str, str]]:
    called = {one.id: one.name for one in names.named}
    return {(called[one.from_id], called[one.into_id]) for one in automatic_merges(SCOPE, names)}


def test_spellings_go_into_the_one_that_is_mentioned_most() -> None:
    names = Names(named=[named("New-York"), named("New York", mentions=9), named("Newark")])
    assert merged(names) == {("New-York", "New York")}


def test_of_spellings_mentioned_alike_the_same_one_gives_its_name_in_every_knowledge_base() -> None:
    """Ids decided, which are others in each: a copy could call an entity otherwise."""
    low, high = UUID(int=1), UUID(int=2)
    for one, other in ((low, high), (high, low)):
        spelled = [
            NamedEntity(one, "Müller", "TERM", None, 2),
            NamedEntity(other, "Muller", "TERM", None, 2),
        ]
        assert merged(Names(named=spelled)) == {("Muller", "Müller")}


def test_types_and_ids_of_the_user_keep_names_apart() -> None:
    apart = Names(named=[named("New-York", "CITY"), named("New York", "STATE")])
    assert merged(apart) == set()
    own = Names(named=[named("New-York", own="a"), named("New York", own="b")])
    assert merged(own) == set()
    one = Names(named=[named("New-York", "CITY", 9), named("New York", own="b")])
    assert merged(one) == {("New-York", "New York")}


def test_an_abbreviation_joins_what_it_is_defined_as_unless_it_has_two_meanings() -> None:
    who, full, other = (
        named("WHO", mentions=9),
        named("World Health Organization"),
        named("Who Hears"),
    )
    defined = Names(named=[who, full, other], definitions=[(who.id, full.id)])
    assert merged(defined) == {("WHO", "World Health Organization")}
    twice = replace(defined, definitions=[(who.id, full.id), (who.id, other.id)])
    assert merged(twice) == set()
    spelled = named("World-Health Organization")
    same = Names(named=[who, full, spelled], definitions=[(who.id, full.id), (who.id, spelled.id)])
    assert len(merged(same)) == 2


def test_an_alias_of_the_user_joins_only_what_nothing_else_is_called() -> None:
    apple, city = named("Big Apple"), named("New York", own="ny")
    names = Names(named=[apple, city], user_aliases=[(city.id, "big apple")])
    assert merged(names) == {("Big Apple", "New York")}
    itself = replace(names, user_aliases=[*names.user_aliases, (apple.id, "big apple")])
    assert merged(itself) == {("Big Apple", "New York")}
    other = named("Apples Inc", own="inc")
    both = Names(
        named=[apple, city, other],
        user_aliases=[(city.id, "big apple"), (other.id, "big apple")],
    )
    assert merged(both) == set()


def test_what_the_user_told_apart_stays_apart_also_by_a_third() -> None:
    first, second, third = named("New-York"), named("New York", mentions=9), named("new - york")
    low, high = sorted((first.id, second.id))
    names = Names(named=[first, second, third], distinctions=[(low, high)])
    groups = merged(names)
    assert ("New-York", "New York") not in groups
    assert len(groups) == 1


def test_merges_of_the_user_are_joined_as_one() -> None:
    berlin, capital, spelled = named("Berlin (city)"), named("The Capital"), named("Berlin city")
    decided = CurrentMerge(berlin.id, capital.id, capital.id, automatic=False)
    names = Names(named=[berlin, capital, spelled], merges=[decided])
    (merge,) = automatic_merges(SCOPE, names)
    assert {merge.from_id, merge.into_id} == {capital.id, spelled.id}


def test_a_confirmed_pair_is_merged_and_an_open_one_is_not() -> None:
    one, other = named("Johann Bach"), named("Johan Bach", mentions=9)
    low, high = sorted((one.id, other.id))
    names = Names(named=[one, other], pairs=[Pair(low, high, "open", "", 0.9)])
    assert merged(names) == set()
    confirmed = replace(names, pairs=[Pair(low, high, "same", "", 0.9)])
    assert merged(confirmed) == {("Johann Bach", "Johan Bach")}


def test_the_order_of_what_is_known_does_not_matter() -> None:
    dice = random.Random(5)  # noqa: S311 - a test's dice
    spellings = ["New York", "New-York", "new · york", "NEW—YORK", "World Health Org", "WHO"]
    known = [named(name, dice.choice(["TERM", "CITY"]), dice.randint(1, 3)) for name in spellings]
    definitions = [(entity_id(SCOPE, "WHO"), entity_id(SCOPE, "World Health Org"))]
    expected = automatic_merges(SCOPE, Names(named=known, definitions=definitions))
    for _ in range(20):
        dice.shuffle(known)
        again = automatic_merges(SCOPE, Names(named=list(known), definitions=definitions))
        assert again == expected
