"""A grader that knows the right passages: what a chat model's judgement is worth to the loop, at best."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant import prompts
from sextant.domain.answers import Usage
from sextant.models.chat.chat_model import T
from sextant.nodes.budget import prompt_size
from sextant.nodes.grade import Grades

_PASSAGE = re.compile(r'<passage number="(\d+)" from="[^"]*">\n(.*?)\n</passage>', re.DOTALL)
# So much of a passage's beginning tells it from all others.
_TELLING = 150
_REPLY_TOKENS = 20


class KnowingGrader:
    """Stands in for the chat model of `sextant.nodes.grade`, and reads the prompt that it would be given.

    Args:
        gold: the texts of the passages that together answer the question.
    """

    name = "knows the right passages"

    def __init__(self, gold: Sequence[str]) -> None:
        self._gold = [prompts.as_data(text.strip()[:_TELLING]) for text in gold]

    async def structured(
        self,
        messages: prompts.Messages,
        schema: type[T],
        *,
        repair: bool = True,  # noqa: ARG002
        patient: bool = True,  # noqa: ARG002
    ) -> tuple[T, Usage]:
        """Return the judgement: which of the passages are right, and whether all that are stand there."""
        shown = _PASSAGE.findall("\n".join(text for _, text in messages))
        held = {text: [int(n) for n, body in shown if text in body] for text in self._gold}
        relevant = [number for numbers in held.values() for number in numbers]
        graded = Grades(relevant=relevant, sufficient=all(held.values()))
        usage = Usage(1, prompt_size(messages), _REPLY_TOKENS, estimated=True)
        return schema.model_validate(graded.model_dump()), usage
