"""A verb and its particle, in two words or one."""

from __future__ import annotations

import pytest

from sextant.text.particles import join_particles, split_particle_patterns, with_joined


@pytest.mark.parametrize(
    ("question", "text", "read"),
    [
        ("How do I back up the data?", "Backup and restore", "How do I backup the data?"),
        ("How is it backed up?", "Daily backups are kept.", "How is it backup?"),
        ("Where do I Log In?", "The login page", "Where do I login?"),
        ("What does logging in need?", "The login page", "What does login need?"),
        ("Adding on a lamp?", "The addon has a lamp.", "addon a lamp?"),
        ("Who is calling off the run?", "A calloff ends it.", "Who is calloff the run?"),
        ("How do I back up the data?", "Data is backed up daily.", "How do I back up the data?"),
        ("What goes on in there?", "The ongoing work", "What goes on in there?"),
        ("备份怎么做？", "backup", "备份怎么做？"),
    ],
)
def test_a_question_has_them_in_one_word_where_a_text_has(
    question: str, text: str, read: str
) -> None:
    assert with_joined(question, [text]) == read


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


def test_a_verb_is_one_word_with_its_particle_where_a_text_joins_them_by_a_hyphen() -> None:
    assert with_joined("How do I start up?", ["Start-up of the machine"]) == "How do I start-up?"
