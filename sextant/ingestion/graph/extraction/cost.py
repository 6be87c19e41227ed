"""What extraction will cost, before anything is sent, and a cap that stops it in time.

All figures before the fact are estimates. Prompts are counted by `sextant.text.characters.estimate_tokens`; an
answer is taken for what the prompt allows it, which grows with the passages. So a call about a
section costs about twice its tokens, instructions included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

from sextant.domain.answers import Usage
from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import ExtractionSettings, Settings
from sextant.text.characters import estimate_tokens

_MILLION = 1_000_000  # tokens, of which prices are told
# Entities, and relations, that a call is asked for: some few, and one more for so many tokens of the passages.
_FEW, _TOKENS_OF_ONE = 2, 90
_PASSAGE_TOKENS = 12  # of the answer around what was found in one passage
_PAIR_TOKENS = 24  # of an entity and a relation, as JSON
# What cuts an answer off: twice as much and some, for models that write JSON in lines.
_LIMIT_BASE, _LIMIT_FACTOR = 150, 2
# Of one passage at most twice its share is asked for; small models fill whatever list they are given.
_LEAST_OF_PASSAGE, _SHARE_FACTOR = 3, 2


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """About how much it takes to read some passages; `cost` is None without prices."""

    passages: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


def most_found(passage_tokens: int) -> int:
    """Return how many entities, and how many relations, a call about so many tokens asks for at most."""
    return _FEW + passage_tokens // _TOKENS_OF_ONE


def most_of_passage(passage_tokens: int, number: int) -> int:
    """Return how many entities, and relations, of each passage a call about so many tokens in so many asks for."""
    return max(_LEAST_OF_PASSAGE, -(-_SHARE_FACTOR * most_found(passage_tokens) // number))


def answer_limit(passage_tokens: int, number: int, settings: Settings) -> int:
    """Return the tokens after which an answer about so many in so many passages is cut off."""
    allowed = _LIMIT_BASE + _LIMIT_FACTOR * _answer_tokens(passage_tokens, number)
    return min(allowed, settings.limits.answer_tokens)


def _answer_tokens(passage_tokens: int, number: int) -> int:
    """Return about how long an answer is that gives all it may."""
    return _PASSAGE_TOKENS * number + _PAIR_TOKENS * max(number, most_found(passage_tokens))


def estimate_call(prompt: str, passages: Sequence[str], settings: Settings) -> Usage:
    """About what reading passages together takes, gleaning included; `prompt` is all that is sent first."""
    prompt_tokens = estimate_tokens(prompt)
    passage_tokens = sum(map(estimate_tokens, passages))
    answer_tokens = _answer_tokens(passage_tokens, len(passages))
    answer_tokens = min(answer_tokens, answer_limit(passage_tokens, len(passages), settings))
    rounds = settings.extraction.gleaning
    # A round of gleaning repeats the passages and what was found, and seldom finds much.
    return Usage(
        1 + rounds,
        prompt_tokens + rounds * (prompt_tokens + answer_tokens),
        answer_tokens + rounds * answer_tokens // 3,
        estimated=True,
    )


def cost_of(usage: Usage, settings: ExtractionSettings) -> float | None:
    """Return what tokens cost at the configured prices; None when there are none."""
    if settings.input_price is None and settings.output_price is None:
        return None
    prompt_cost = usage.prompt_tokens * (settings.input_price or 0)
    return (prompt_cost + usage.completion_tokens * (settings.output_price or 0)) / _MILLION


@dataclass(slots=True)
class CostBudget:
    """A cap on tokens and on money, for calls that run side by side.

    A call reserves its estimate before it starts, made larger as far as earlier calls took more than
    theirs. So the cap is passed by no more than what the first calls side by side are wrong by.
    """

    settings: ExtractionSettings
    tokens: int | None = None
    cost: float | None = None
    spent: Usage = field(default_factory=Usage)
    exhausted: bool = False
    _reserved: Usage = field(default_factory=Usage)
    _expected: Usage = field(default_factory=Usage)  # of the calls that have ended

    @classmethod
    def of(cls, settings: ExtractionSettings) -> CostBudget:
        """Return the cap that the settings name.

        Raises:
            OptionInvalid: a budget in money is set, but no price.
        """
        budget = cls(settings, settings.budget_tokens)
        if settings.budget_cost is not None:
            budget.limit_cost(settings.budget_cost)
        return budget

    def limit_cost(self, cost: float) -> None:
        """Cap what the rest may cost in money.

        Raises:
            OptionInvalid: it is no amount above 0, or there are no prices to go by.
        """
        if not 0 < cost < inf:
            raise OptionInvalid(
                f"A budget in money cannot be {cost}.",
                next_step="Give an amount above 0, or none for no limit.",
                field="budget_cost",
            )
        if cost_of(Usage(), self.settings) is None:
            raise OptionInvalid(
                "A budget in money needs prices.",
                next_step="Set SEXTANT_EXTRACTION__INPUT_PRICE and SEXTANT_EXTRACTION__OUTPUT_PRICE, "
                "or give the budget in tokens.",
                field="budget_cost",
            )
        self.cost = cost

    def reserve(self, need: Usage) -> bool:
        """Set `need` aside; False, and `exhausted` from then on, when it does not fit any more."""
        if self.exhausted or not self._fits(self._reserved + need):
            self.exhausted = True
            return False
        self._reserved += need
        return True

    def settle(self, reserved: Usage, used: Usage) -> None:
        """Settle a call that has ended: what it took replaces what was set aside for it."""
        self._reserved = Usage(
            self._reserved.calls - reserved.calls,
            self._reserved.prompt_tokens - reserved.prompt_tokens,
            self._reserved.completion_tokens - reserved.completion_tokens,
        )
        self.spent += used
        self._expected += reserved

    def _fits(self, ahead: Usage) -> bool:
        return self._within(self.tokens, _tokens, ahead) and self._within(
            self.cost, lambda usage: cost_of(usage, self.settings) or 0, ahead
        )

    def _within(self, cap: float | None, measure: Callable[[Usage], float], ahead: Usage) -> bool:
        if cap is None:
            return True
        used, expected = measure(self.spent), measure(self._expected)
        excess = max(1.0, used / expected) if expected else 1.0
        return used + excess * measure(ahead) <= cap


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
