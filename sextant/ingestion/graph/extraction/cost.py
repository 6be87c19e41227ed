"""Estimate the cost of extraction before anything is sent, and limit it.

Prompts are counted by `sextant.text.characters.estimate_tokens`; an answer counts as long as the prompt allows, which
grows with the passages. So a call costs about twice the tokens of its passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sextant.domain.answers import Usage
from sextant.domain.settings import Settings
from sextant.text.characters import estimate_tokens

# A call asks for this many entities and relations, and one more for so many tokens of the passages.
_FEW, _TOKENS_OF_ONE = 2, 90
_PASSAGE_TOKENS = 12  # of an answer, for each passage
_PAIR_TOKENS = 24  # of an entity and a relation, as JSON
# An answer may have so many tokens more than so many times its expected length: some models write white space.
_LIMIT_BASE, _LIMIT_FACTOR = 150, 2
# A passage may have twice its share of the items; small models fill any list.
_LEAST_OF_PASSAGE, _SHARE_FACTOR = 3, 2


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The estimated cost of a run."""

    passages: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


def most_found(passage_tokens: int) -> int:
    """Return the number of entities, and of relations, that a call asks for at most."""
    return _FEW + passage_tokens // _TOKENS_OF_ONE


def most_of_passage(passage_tokens: int, number: int) -> int:
    """Return the number of entities, and of relations, that a call asks for in each of its `number` passages."""
    return max(_LEAST_OF_PASSAGE, -(-_SHARE_FACTOR * most_found(passage_tokens) // number))


def answer_limit(passage_tokens: int, number: int, settings: Settings) -> int:
    """Return the limit of an answer about `number` passages."""
    allowed = _LIMIT_BASE + _LIMIT_FACTOR * _answer_tokens(passage_tokens, number)
    return min(allowed, settings.limits.answer_tokens)


def _answer_tokens(passage_tokens: int, number: int) -> int:
    """Return the estimated length of a full answer."""
    return _PASSAGE_TOKENS * number + _PAIR_TOKENS * max(number, most_found(passage_tokens))


def estimate_call(prompt: str, passages: Sequence[str], settings: Settings) -> Usage:
    """Estimate the usage of a call about passages, gleaning included; `prompt` is the whole first prompt."""
    prompt_tokens = estimate_tokens(prompt)
    passage_tokens = sum(map(estimate_tokens, passages))
    answer_tokens = _answer_tokens(passage_tokens, len(passages))
    answer_tokens = min(answer_tokens, answer_limit(passage_tokens, len(passages), settings))
    rounds = settings.extraction.gleaning
    # A round of gleaning repeats the passages and the extractions, and finds little.
    return Usage(
        1 + rounds,
        prompt_tokens + rounds * (prompt_tokens + answer_tokens),
        answer_tokens + rounds * answer_tokens // 3,
        estimated=True,
    )


@dataclass(slots=True)
class CostBudget:
    """A limit of tokens for concurrent calls; None: no limit.

    A call reserves its estimate before it starts, scaled by how far earlier calls exceeded theirs. So only the first
    concurrent calls can exceed the limit.
    """

    tokens: int | None = None
    spent: Usage = field(default_factory=Usage)
    exhausted: bool = False
    _reserved: Usage = field(default_factory=Usage)
    _expected: Usage = field(default_factory=Usage)  # of the calls that have ended

    def reserve(self, need: Usage) -> bool:
        """Reserve `need`; return False, and set `exhausted`, if it exceeds the limit."""
        if self.exhausted or not self._fits(self._reserved + need):
            self.exhausted = True
            return False
        self._reserved += need
        return True

    def settle(self, reserved: Usage, used: Usage) -> None:
        """Replace the reservation of a call that has ended by its usage."""
        self._reserved -= reserved
        self.spent += used
        self._expected += reserved

    def _fits(self, ahead: Usage) -> bool:
        if self.tokens is None:
            return True
        used, expected = _tokens(self.spent), _tokens(self._expected)
        excess = max(1.0, used / expected) if expected else 1.0
        return used + excess * _tokens(ahead) <= self.tokens


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
