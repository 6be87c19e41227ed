"""One file per node of the workflow: `async (state, runtime) -> update`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.system import load_lazily

if TYPE_CHECKING:
    from sextant.nodes.answers.answer_generator import AnswerGenerator as AnswerGenerator

__getattr__, __dir__, __all__ = load_lazily(
    __name__, {"sextant.nodes.answers.answer_generator": ["AnswerGenerator"]}
)
