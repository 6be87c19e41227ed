"""A verb and its particle, in two words or one."""

from __future__ import annotations

import pytest

from sextant.text.word_forms import join_particles, split_particle_patterns


def test_stop_words_are_no_verbs() -> None:
    assert join_particles("What is there in the box, and what is that about over there?") == []


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("when is the next backup?", "it is backed up at night", True),
        ("where is the login?", "whoever logs in there", True),
        ("when is the next backup?", "there is no way back", False),
        ("when is the next backup?", "the backs are up", False),
    ],
)
def test_a_text_may_have_the_word_of_a_question_in_two(
    question: str, text: str, *, told: bool
) -> None:
    assert any(pattern.search(text) for _, pattern in split_particle_patterns(question)) is told
