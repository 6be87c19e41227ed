"""A question leads through few files: whoever follows it need not read the whole house."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType

from sextant import Sextant
from sextant.domain.settings import Settings
from sextant.models.embedding.cache import CachedEmbedder
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder

ROOT = Path(__file__).resolve().parents[3]
# docs/newcomers.md names the ten to begin with.
_MOST = 70
_ASKED = ContextVar("asked", default=False)


class Watch:
    """Notes the files whose functions are called, in every thread that starts after it."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.is_on = False

    def note(self, frame: FrameType, event: str, _: object) -> None:
        # A worker that polls its queue meanwhile has a context of its own; threads have none.
        is_asked = _ASKED.get() or threading.current_thread() is not threading.main_thread()
        if self.is_on and is_asked and event == "call":
            self.files.add(frame.f_code.co_filename)

    def ours(self) -> list[str]:
        """Return the files of the product, by their places in the repository."""
        real = {Path(file).resolve() for file in self.files if file.endswith(".py")}
        own = [file.relative_to(ROOT) for file in real if file.is_relative_to(ROOT)]
        ours = (file for file in own if file.parts[0] not in {"tests", ".venv"})
        # A server that another test of this process has started may still be listening.
        return sorted(str(file) for file in ours if {"testing", "observe"}.isdisjoint(file.parts))


@contextmanager
def watching() -> Iterator[Watch]:
    """Watch this thread, and those that its event loop starts from now on."""
    watch, before, loop = Watch(), sys.getprofile(), asyncio.get_running_loop()
    threading.setprofile(watch.note)
    sys.setprofile(watch.note)
    with ThreadPoolExecutor(4) as threads:
        loop.set_default_executor(threads)
        try:
            yield watch
        finally:
            sys.setprofile(before)
            threading.setprofile(before)
            loop.set_default_executor(ThreadPoolExecutor())


async def test_a_warm_question_executes_few_of_our_files(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "bridge.md").write_text(
        "# The bridge of Arta\n\nThe bridge of Arta was rebuilt in 1612. It spans the Arachthos.\n"
    )
    (tmp_path / "tea.md").write_text("# Tea\n\nGreen tea comes from Camellia sinensis.\n")
    with watching() as watch:
        async with Sextant.open(settings, embedder=CachedEmbedder(HashEmbedder(384), 9)) as rag:
            await rag.ingest([tmp_path])
            for _ in range(4):
                await rag.query("When was the bridge of Arta rebuilt?")
            _ASKED.set(True)
            watch.is_on = True
            answer = await rag.query("When was the bridge of Arta rebuilt?")
            watch.is_on = False
    assert "1612" in answer.answer
    found = watch.ours()
    assert "nodes/retrieve.py" in found  # so they are noted at all
    assert "retrievers/ranking/mix_ranker.py" in found  # in threads, too
    assert len(found) <= _MOST, "\n".join(found)
