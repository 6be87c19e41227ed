"""Tables of earlier turns: "and the second row?" is about the table that came with the question before."""

from __future__ import annotations

from typing import Any

from sextant.nodes.context import RunContext
from sextant.nodes.multimodal.attachments import Opened, look_at
from sextant.nodes.question.conversation import leans_on_history
from sextant.nodes.state import State


async def look_again(stored: Opened, state: State, run: RunContext) -> dict[str, Any]:
    """Return the tables that the conversation has at hand, as a state update, where the question is about them.

    It is when it leans on what was said, or when rules compute what it asks of them. Any other
    question leaves the tables, and they are at hand no more.
    """
    if not stored.parts:
        return {}
    update = await look_at(stored, state, run)
    computed = any(plain["findings"] for plain in update["attachments"])
    return update if computed or leans_on_history(state.question) else {"tables": []}
