"""What is learnt of an endpoint's speed, on a clock of the test's own."""

import pytest

from sextant.models.chat.endpoint_memory import EndpointSpeed


def test_reading_and_writing_are_told_apart() -> None:
    speed = EndpointSpeed()
    assert speed.seconds(2000, 100) == 0
    assert speed.prompt_tokens_within(1, 1000) == float("inf")
    speed.observe_stream(prompt=2000, shown=100, written=100, first=25.0, rest=12.5)
    assert (speed.prompt, speed.answer, speed.thinking) == (80, 8, 0)
    assert speed.seconds(1600, 40) == 25
    assert speed.prompt_tokens_within(37.5, 100) == 2000


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
    speed.observe_silence(prompt=2000, seconds=20)
    assert speed.prompt == 100, "one silence is no proof against the answers before"
