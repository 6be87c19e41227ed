"""One file per node of the workflow: `async (state, runtime) -> update`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.lazy import lazily

if TYPE_CHECKING:
    from nodes.answers.answer_generator import AnswerGenerator as AnswerGenerator

__all__ = ["AnswerGenerator"]
__getattr__ = lazily(__name__, {"AnswerGenerator": "nodes.answers.answer_generator"})
