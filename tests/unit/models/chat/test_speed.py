"""What is learnt of an endpoint's speed, on a clock of the test's own."""

import pytest

from sextant.models.chat.speed import EndpointSpeed


def test_reading_and_writing_are_told_apart() -> None:
    speed = EndpointSpeed()
    assert speed.seconds(2000, 100) == 0
    speed.observe_stream(prompt=2000, shown=100, written=100, first=25.0, rest=12.5)
    assert (speed.prompt, speed.answer, speed.thinking) == (80, 8, 0)
    assert speed.seconds(1600, 40) == 25
    speed.observe_whole(prompt=800, shown=40, written=40, seconds=15)
    assert speed.prompt == 80


def test_thoughts_before_the_first_piece_are_not_taken_for_reading() -> None:
    speed = EndpointSpeed()
    speed.observe_stream(prompt=2000, shown=60, written=860, first=800 / 60 + 2, rest=1)
    assert speed.prompt == pytest.approx(1000)
    assert speed.thinking == 800
    assert speed.seconds(0, 40) == pytest.approx(14)


def test_silence_is_a_bound_and_the_newest_answer_counts_half() -> None:
    speed = EndpointSpeed()
    speed.observe_silence(prompt=2000, seconds=10)
    assert speed.prompt == 100
    speed.observe_stream(prompt=2000, shown=100, written=100, first=10.0, rest=10.0)
    assert speed.prompt == 150
    speed.observe_silence(prompt=10, seconds=0)
    assert speed.prompt == 150


def test_an_answer_in_one_piece_is_a_first_guess_that_a_streamed_one_replaces() -> None:
    speed = EndpointSpeed()
    assert speed.prompt_tokens_within(1, 1000) == float("inf")
    speed.observe_whole(prompt=1500, shown=100, written=100, seconds=25)
    assert (speed.prompt, speed.answer) == (120, 8)
    assert speed.prompt_tokens_within(50, 200) == 25 * 120
    speed.observe_stream(prompt=2000, shown=100, written=100, first=10.0, rest=5.0)
    assert (speed.prompt, speed.answer, speed.is_guess) == (200, 20, False)
