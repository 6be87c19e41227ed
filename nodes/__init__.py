"""One file per node of the workflow: `async (state, runtime) -> update`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodes.answers.answer_generator import AnswerGenerator as AnswerGenerator

__all__ = ["AnswerGenerator"]


def __getattr__(name: str) -> object:
    """Import `AnswerGenerator` when it is first asked for, so that `import nodes.x` stays cheap."""
    if name == "AnswerGenerator":
        from nodes.answers.answer_generator import AnswerGenerator

        return AnswerGenerator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
