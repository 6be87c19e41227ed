"""One file per node of the workflow: `async (state, runtime) -> update`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.lazy import lazily

if TYPE_CHECKING:
    from sextant.nodes.answers.answer_generator import AnswerGenerator as AnswerGenerator

__all__ = ["AnswerGenerator"]
__getattr__ = lazily(__name__, {"AnswerGenerator": "sextant.nodes.answers.answer_generator"})
