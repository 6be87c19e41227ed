"""The parameters of `mix`; one configuration for all evaluation sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MixParameters:
    """What the ranking of `mix` is tuned by; docs/experiments/mix.md tells what each is worth.

    Attributes:
        lexical_coverage: share of the question's information at which words weigh as much as meaning.
        contention: share of the question's information from which a near passage contends; beyond two
            contenders words weigh less, for they do not tell which one answers.
        min_lexical_weight: weight that contention and unknown words leave to words at the least.
        statement_weight: what stating the relation that is asked of a named entity adds to a relevance of 1.
        seed_passages: number of passages that the walk starts from, the most relevant ones.
        sharpness: power of relevance in the seeds and in the bridge; higher trusts the best more.
        entity_seed: what a titled entity starts with, where the most relevant passage starts with 1.
        untitled_seed: share of it for an entity that titles no passage.
        bridge: mass that the bridge starts with, as a share of all other seeds.
        subgraph_size: passages that the walk is kept to, which bounds what a question costs.
        inflow_power: how far mass that merely stayed at a passage is left out where nothing is named.
        unmatched_weight: what relevance counts beside mass where the passages hold none of the question's words.
    """

    lexical_coverage: float = 0.13
    contention: float = 0.3
    min_lexical_weight: float = 0.4
    statement_weight: float = 0.2
    seed_passages: int = 20
    sharpness: int = 3
    entity_seed: float = 20.0
    untitled_seed: float = 0.1
    bridge: float = 0.5
    subgraph_size: int = 800
    inflow_power: float = 0.4
    unmatched_weight: float = 10.0
