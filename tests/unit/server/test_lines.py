"""A body is cut into its lines, however it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.errors import FileTooLarge
from sextant.server.connections import lines_of


async def parts(given_parts: list[bytes]) -> AsyncIterator[bytes]:
    for part in given_parts:
        yield part


@given(st.lists(st.binary(max_size=8).map(lambda part: part.replace(b"x", b"\n"))))
async def test_the_cuts_do_not_matter(body: list[bytes]) -> None:
    whole = b"".join(body)
    expected = whole.split(b"\n")
    found = [line async for line in lines_of(parts(body), 1000)]
    assert found == (expected if expected[-1] else expected[:-1])


@pytest.mark.parametrize("body", [[b"abcd"], [b"ab", b"cd"], [b"ab\nabcd\n"], [b"ab\nab", b"cd\n"]])
async def test_a_line_that_is_too_long_ends_it(body: list[bytes]) -> None:
    assert [line async for line in lines_of(parts([b"abc\n", b"abc"]), 3)] == [b"abc", b"abc"]
    with pytest.raises(FileTooLarge):
        async for _ in lines_of(parts(body), 3):
            pass
