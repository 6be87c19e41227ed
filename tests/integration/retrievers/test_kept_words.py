"""Words of a knowledge base kept on disk: another process reads them, and trusts them only as far as it may."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.tasks import run_sync
from sextant.domain.warnings import CodedWarning, WarningCode, collect_warnings
from sextant.ingestion.pipeline import Ingestor
from sextant.retrievers.index.scope_index import ScopeIndex, ScopeIndexes
from sextant.stores.array_files import ArrayFiles, Arrays, index_files
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from tests.integration.retrievers.test_scope_index import WORDS, CountingChunks, add

QUESTION = "Does comet meet the tide or the dough?"


@pytest.fixture
def files(tmp_path: Path) -> ArrayFiles:
    return ArrayFiles(tmp_path / "index")


async def built(
    database: Database, scope: Scope, files: ArrayFiles | None, worth_keeping: int = 1
) -> tuple[ScopeIndex, int]:
    """Return the index as a process that has just started has it, and of how many documents it read texts."""
    chunks, record = CountingChunks(database), GraphRecord(database)
    indexes = ScopeIndexes(chunks, record, 1000, files=files, worth_keeping=worth_keeping)
    index = await indexes.get(scope)
    await indexes.close()
    return index, sum(map(len, chunks.read))


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def assert_same(one: ScopeIndex, other: ScopeIndex) -> None:
    rows = np.arange(len(other.chunk_ids))
    np.testing.assert_array_equal(one.chunk_ids.halves, other.chunk_ids.halves)
    np.testing.assert_array_equal(
        one.lexical.match(QUESTION).weights(rows), other.lexical.match(QUESTION).weights(rows)
    )
    assert one.passages.rounded is not None
    assert other.passages.rounded is not None
    np.testing.assert_allclose(
        one.passages.rounded.vectors, other.passages.rounded.vectors, atol=1e-6
    )


async def test_a_process_that_starts_reads_only_what_has_changed_since_the_last_one(
    graphed: Ingestor, database: Database, scope: Scope, files: ArrayFiles
) -> None:
    await add(graphed, scope, *WORDS[:5])
    first, read = await built(database, scope, files)
    assert read == 5
    again, read = await built(database, scope, files)
    assert read == 0
    assert_same(again, first)
    await add(graphed, scope, WORDS[5])
    now, read = await built(database, scope, files)
    assert read == 1
    assert_same(now, (await built(database, scope, None))[0])


async def test_each_of_many_short_processes_keeps_what_it_has_read(
    graphed: Ingestor, database: Database, scope: Scope, files: ArrayFiles, tmp_path: Path
) -> None:
    await add(graphed, scope, *WORDS[:3])
    await built(database, scope, files)
    for word in WORDS[3:5]:
        [file] = files_in(tmp_path / "index")
        long_ago = time.time() - 3600
        os.utime(file, (long_ago, long_ago))
        await add(graphed, scope, word)
        assert (await built(database, scope, files))[1] == 1
    assert (await built(database, scope, files))[1] == 0


class _Late(ArrayFiles):
    """Something happens between the reading of texts and the writing of their words."""

    def __init__(self, folder: Path, before: Callable[[], None]) -> None:
        super().__init__(folder)
        self._before = before

    def save(self, scope: Scope, code: str, arrays: Arrays) -> None:
        self._before()
        super().save(scope, code, arrays)


async def test_what_is_deleted_while_words_are_being_written_is_gone_too(
    graphed: Ingestor, database: Database, settings: Settings, scope: Scope
) -> None:
    documents, loop = DocumentStore(database), asyncio.get_running_loop()
    ids = await add(graphed, scope, *WORDS[:3])

    def delete() -> None:
        asyncio.run_coroutine_threadsafe(documents.delete(scope, ids[0]), loop).result()

    folder = settings.data_dir / "index"
    await built(database, scope, _Late(folder, delete))
    assert files_in(folder) == []


class _Meanwhile:
    """An array that is asked for while others of its file are written already."""

    def __init__(self, happens: Callable[[], None]) -> None:
        self._happens = happens

    def __array__(self, dtype: object = None, copy: object = None) -> npt.NDArray[Any]:
        self._happens()
        return np.arange(3)


def test_two_that_write_at_once_do_not_write_into_each_others_file(files: ArrayFiles) -> None:
    scope = Scope("ann", "g")
    late: Any = _Meanwhile(lambda: files.save(scope, "code", {"a": np.arange(5)}))
    files.save(scope, "code", {"a": np.arange(10_000), "b": late})
    kept = files.load(scope, "code")
    assert kept is not None
    np.testing.assert_array_equal(kept["a"], np.arange(10_000))


async def test_what_is_deleted_is_gone_from_the_disk_and_from_answers(
    graphed: Ingestor, database: Database, settings: Settings, scope: Scope
) -> None:
    files, documents = index_files(settings), DocumentStore(database)
    ids = await add(graphed, scope, *WORDS[2:6])
    await built(database, scope, files)
    [kept] = files_in(settings.data_dir / "index")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert b"comet" in kept.read_bytes()
    await documents.delete(scope, ids[WORDS[2:6].index("comet")])
    assert not kept.exists()
    index, read = await built(database, scope, files)
    assert read == 3
    assert "comet" not in index.lexical.vocabulary
    assert b"comet" not in kept.read_bytes()
    await KnowledgeBases(database).delete(scope)
    assert not kept.exists()


async def test_words_deleted_on_another_machine_do_not_stay_where_the_rest_is_too_little_to_keep(
    graphed: Ingestor, database: Database, scope: Scope, files: ArrayFiles, tmp_path: Path
) -> None:
    ids = await add(graphed, scope, *WORDS[:3])
    await built(database, scope, files, worth_keeping=3)
    [file] = files_in(tmp_path / "index")
    # With a data folder of its own, which is not where these words are kept.
    await DocumentStore(database).delete(scope, ids[0])
    assert file.exists()
    await built(database, scope, files, worth_keeping=3)
    assert files_in(tmp_path / "index") == []


async def test_nobody_waits_at_the_end_for_what_another_loop_began_and_it_is_kept_all_the_same(
    graphed: Ingestor, settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    """As `retrieve` of a synchronous caller does, whose retriever is closed by an asynchronous one."""
    await add(graphed, scope, *WORDS[:3])
    closed = threading.Event()

    async def ask() -> tuple[Database, ScopeIndexes]:
        database = await Database.open(settings)
        late = _Late(tmp_path / "index", lambda: assert_set(closed))
        record = GraphRecord(database)
        indexes = ScopeIndexes(ChunkStore(database), record, 1000, files=late, worth_keeping=1)
        await indexes.get(scope)
        return database, indexes

    def assert_set(event: threading.Event) -> None:
        assert event.wait(20)

    database, indexes = await asyncio.to_thread(run_sync, ask)
    await indexes.close()
    closed.set()
    await asyncio.to_thread(run_sync, indexes.close)
    assert len(files_in(tmp_path / "index")) == 1
    await asyncio.to_thread(run_sync, database.close)


_DIES = f"""
import os, sys
from pathlib import Path
import numpy as np
from sextant.domain.scope import Scope
from sextant.stores.array_files import ArrayFiles

class Dies:
    def __array__(self, dtype=None, copy=None):
        os.kill(os.getpid(), {signal.SIGKILL:d})

terms = np.frombuffer(b"comet" * 10_000, np.uint8)
ArrayFiles(Path(sys.argv[1])).save(Scope("ann", "g"), "code", {{"terms": terms, "late": Dies()}})
"""


def test_what_a_killed_process_left_half_written_is_deleted_with_the_rest(tmp_path: Path) -> None:
    files, theirs = ArrayFiles(tmp_path), Scope("bob", "g")
    files.save(theirs, "code", {"a": np.arange(3)})
    died = subprocess.run([sys.executable, "-c", _DIES, str(tmp_path)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert any(b"comet" in file.read_bytes() for file in files_in(tmp_path))
    files.forget(Scope("ann", "g"))
    assert not any(b"comet" in file.read_bytes() for file in files_in(tmp_path))
    assert files.load(theirs, "code") is not None


def test_a_clock_that_was_set_back_does_not_stop_the_writing(tmp_path: Path) -> None:
    files, scope = ArrayFiles(tmp_path), Scope("ann", "g")
    files.save(scope, "code", {"a": np.arange(3)})
    [file] = files_in(tmp_path)
    os.utime(file, (time.time() + 86_400, time.time() + 86_400))
    files.save(scope, "code", {"a": np.arange(5)})
    kept = files.load(scope, "code")
    assert kept is not None
    np.testing.assert_array_equal(kept["a"], np.arange(5))


@pytest.mark.parametrize("harm", ["cut short", "other bytes", "emptied", "no archive", "a folder"])
async def test_a_damaged_file_is_as_if_it_were_not_there(
    graphed: Ingestor, database: Database, scope: Scope, tmp_path: Path, harm: str
) -> None:
    files = ArrayFiles(tmp_path)
    await add(graphed, scope, *WORDS[:3])
    first, _ = await built(database, scope, files)
    [file] = files_in(tmp_path)
    whole = file.read_bytes()
    middle = len(whole) // 2
    harmed = {
        "cut short": whole[:middle],
        "other bytes": whole[:middle] + bytes(64) + whole[middle + 64 :],
        "emptied": b"",
        "no archive": b"\x93NUMPY nothing",
    }
    file.unlink()
    if harm == "a folder":
        file.mkdir()
    else:
        file.write_bytes(harmed[harm])
    again, read = await built(database, scope, files)
    assert read == 3
    assert_same(again, first)


async def test_words_of_one_tenant_are_not_taken_for_anothers(
    graphed: Ingestor, database: Database, scope: Scope, files: ArrayFiles, tmp_path: Path
) -> None:
    other = Scope("mallory", scope.graph_id)
    await add(graphed, scope, *WORDS[:3])
    await built(database, scope, files)
    [file] = files_in(tmp_path / "index")
    await add(graphed, other, WORDS[4])
    await built(database, other, files)
    [theirs] = [one for one in files_in(tmp_path / "index") if one != file]
    theirs.write_bytes(file.read_bytes())
    index, read = await built(database, other, files)
    assert read == 1
    assert "bread" not in index.lexical.vocabulary


def test_words_cut_by_other_code_are_not_taken(files: ArrayFiles) -> None:
    scope, arrays = Scope("ann", "g"), {"a": np.arange(3)}
    files.save(scope, "this code", arrays)
    assert files.load(scope, "other code") is None
    kept = files.load(scope, "this code")
    assert kept is not None
    np.testing.assert_array_equal(kept["a"], arrays["a"])


def test_files_used_longest_ago_make_room_for_others(tmp_path: Path) -> None:
    files, arrays = ArrayFiles(tmp_path, max_bytes=25_000), {"a": np.zeros(10_000, np.uint8)}
    scopes = [Scope("ann", name) for name in ("first", "second", "third")]
    for scope in scopes:
        files.save(scope, "code", arrays)
    assert [files.load(scope, "code") is None for scope in scopes] == [True, False, False]


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    files = ArrayFiles(tmp_path / "file" / "index")
    files.save(Scope("ann", "g"), "code", {"a": np.arange(3)})
    files.forget(Scope("ann", "g"))
    assert files.load(Scope("ann", "g"), "code") is None


async def test_a_knowledge_base_whose_texts_are_cut_in_no_time_is_not_kept(
    graphed: Ingestor, database: Database, scope: Scope, files: ArrayFiles, tmp_path: Path
) -> None:
    await add(graphed, scope, *WORDS[:2])
    indexes = ScopeIndexes(ChunkStore(database), GraphRecord(database), 1000, files=files)
    await indexes.get(scope)
    await indexes.close()
    assert not (tmp_path / "index").exists()


async def test_who_stops_waiting_for_a_first_index_is_told_so_and_the_next_process_has_its_words(
    graphed: Ingestor, database: Database, scope: Scope, files: ArrayFiles
) -> None:
    await add(graphed, scope, *WORDS[:3])
    chunks = CountingChunks(database)
    chunks.gate.clear()
    indexes = ScopeIndexes(chunks, GraphRecord(database), 1000, files=files, worth_keeping=1)
    with collect_warnings() as notices, pytest.raises(TimeoutError):
        await asyncio.wait_for(indexes.get(scope), 0.5)
    assert notices == [CodedWarning(WarningCode.INDEX_BUILDING)]
    asyncio.get_running_loop().call_later(0.2, chunks.gate.set)
    await indexes.close()
    _, read = await built(database, scope, files)
    assert read == 0


async def test_without_a_place_to_keep_words_nobody_waits_for_them_at_the_end(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, WORDS[0])
    chunks = CountingChunks(database)
    chunks.gate.clear()
    indexes = ScopeIndexes(chunks, GraphRecord(database), 1000)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(indexes.get(scope), 0.5)
    await asyncio.wait_for(indexes.close(), 10)
