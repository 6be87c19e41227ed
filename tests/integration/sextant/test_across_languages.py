"""A question is answered from documents in the other language, beside others in its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sextant import Sextant
from sextant.domain.settings import Settings

FILES = {
    "parking.md": "# Parking\n\nVisitors park in the yard. The garage closes at 22:00.\n",
    "请假.md": "# 请假制度\n\n员工入职满一年后每年享有十天年假。病假须提供医院证明。\n",
}


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How many days of annual leave do employees get?", "十天年假"),
        ("What is the daily rate of the canteen?", ""),
    ],
)
async def test_what_only_the_other_language_says_is_quoted(
    settings: Settings, tmp_path: Path, question: str, told: str
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    async with Sextant.open(settings) as rag:
        await rag.ingest([tmp_path])
        answer = await rag.query(question)
    assert answer.declined is (not told)
    assert told in answer.answer
