"""A letter or a number that singles out one of a kind, and the article that does not."""

from __future__ import annotations

import pytest

from sextant.text.analysis import designators_in, marks_in


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is the yield of grade c?", ["grade c"]),
        ("Is plan B cheaper than plan A?", ["plan B", "plan A"]),
        ("What is grade a used for?", ["grade a"]),
        ("How strong is type 2?", ["type 2"]),
        ("Who supplies a beam?", []),
        ("What do I need for a trip?", []),
        ("What is a yield?", []),
    ],
)
def test_what_singles_out_one_of_a_kind(question: str, found: list[str]) -> None:
    assert designators_in(question) == found
    assert marks_in(question) == {one[-1] for one in found}
