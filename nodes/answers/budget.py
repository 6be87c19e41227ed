"""Sharing out the tokens of a prompt between passages, reports, and facts of the graph."""

from __future__ import annotations

from collections.abc import Sequence


def shares(needs: Sequence[int], weights: Sequence[float], total: int) -> list[int]:
    """Divide `total` by need: nobody gets more than it needs, and what one leaves the others get.

    Weighted max-min fairness (Bertsekas and Gallager, "Data Networks", §6.5.2): while there is
    something left, those in need divide it in proportion to their weights.

    Args:
        needs: tokens that each group would take whole.
        weights: of each group, > 0.
        total: tokens there are.

    Returns:
        Tokens for each group; together at most `total`, and `needs` itself when that fits.
    """
    given = [0] * len(needs)
    wanting = [place for place, need in enumerate(needs) if need > 0]
    left = total
    while wanting and left > 0:
        whole = sum(weights[place] for place in wanting)
        portion = {place: int(left * weights[place] / whole) for place in wanting}
        content = [place for place in wanting if needs[place] <= portion[place]]
        if not content:
            for place in wanting:
                given[place] = portion[place]
            break
        for place in content:
            given[place] = needs[place]
            left -= needs[place]
        wanting = [place for place in wanting if place not in content]
    return given


def share_out(
    costs: Sequence[Sequence[int]], weights: Sequence[float], total: int
) -> list[list[int]]:
    """Choose which items of each group go into a prompt of `total` tokens.

    Every group first fills its share with its items in order; one that does not fit is passed over
    for shorter ones behind it. What the groups leave goes to items passed over, the first group's
    first. So nothing is left out that would still have fitted.

    Args:
        costs: tokens of the items of each group, best first.
        weights: of the groups, > 0; they count only when not everything fits.
        total: tokens there are.

    Returns:
        For each group the places of the items kept, in order.
    """
    given = shares([sum(group) for group in costs], weights, total)
    kept = [
        _filling(group, range(len(group)), room) for group, room in zip(costs, given, strict=True)
    ]
    left = total - sum(costs[at][place] for at, places in enumerate(kept) for place in places)
    for at, group in enumerate(costs):
        passed_over = [place for place in range(len(group)) if place not in kept[at]]
        more = _filling(group, passed_over, left)
        left -= sum(group[place] for place in more)
        kept[at] = sorted([*kept[at], *more])
    return kept


def _filling(costs: Sequence[int], places: Sequence[int], room: int) -> list[int]:
    """Return the `places` that fit into the room, taken one after the other."""
    kept = []
    for place in places:
        if costs[place] <= room:
            kept.append(place)
            room -= costs[place]
    return kept
