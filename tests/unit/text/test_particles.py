"""A verb and its particle."""

from __future__ import annotations

from sextant.text.word_forms import join_particles


def test_stop_words_are_no_verbs() -> None:
    assert join_particles("What is there in the box, and what is that about over there?") == []
