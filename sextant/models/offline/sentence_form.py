"""What a sentence is by its form, whatever it speaks of: a question, labels, a pointer to a table, an order."""

from __future__ import annotations

import re

from sextant.models.offline.wording import is_question
from sextant.text.orders import asks_of_orders, orders_answerer

# "The limits are in the table below": says what the table is of, and not what it holds.
_POINTS_TO_TABLE = re.compile(
    r"[见見如](?:下|上|附)?表|[下上附]表(?:所示)?|\b(?:table|list) (?:below|above)"
    r"|\b(?:following|next) (?:table|list)|\bsee table\b",
    re.IGNORECASE,
)
# "Tags: E42, MC-200" lists what a text is about, and says nothing of it.
_LABELS = re.compile(
    r"\b(?:tags?|labels?|keywords?)\b|标签|標籤|关键[词字]|關鍵[詞字]", re.IGNORECASE
)
# A question repeats the words asked for without answering them; the sentence behind it answers. Labels and
# orders to whoever answers state nothing either.
_STATES_NOTHING = 1.0


# What a row is for stands in its first cell; in another one, "other cities" are those of some class.
_ALL_OTHERS = re.compile(
    r"(?:(?:all |any )?others?\b|elsewhere\b|(?:the )?rest\b|otherwise\b|其他|其它|其余|其餘)",
    re.IGNORECASE,
)


def is_for_all_others(row: str) -> bool:
    """Return whether a row is for all that no other row of its table is for."""
    return _ALL_OTHERS.match(row) is not None


def points_to_table(text: str) -> bool:
    """Return whether `text` points to a table above or below."""
    return _POINTS_TO_TABLE.search(text) is not None


class SentenceForm:
    """What a sentence loses by its form where one question is asked.

    Args:
        question: may ask for labels or orders themselves, which then lose nothing.
    """

    def __init__(self, question: str) -> None:
        self._wants_labels = _LABELS.search(question) is not None
        self._wants_orders = asks_of_orders(question)

    def cost(self, text: str) -> float:
        """Return what a sentence that states nothing loses of its score."""
        nothing = is_question(text) or self._only_labels(text) or self.orders(text)
        return _STATES_NOTHING * nothing

    def orders(self, text: str) -> bool:
        """Return whether a text orders how to answer, and the question asks for nothing of the kind."""
        return not self._wants_orders and orders_answerer(text)

    def _only_labels(self, text: str) -> bool:
        label, colon, _ = text.replace("：", ":", 1).partition(":")
        return (
            bool(colon) and not self._wants_labels and _LABELS.fullmatch(label.strip()) is not None
        )
