"""The rivals: plain tables of the same rows in the same server, and LanceDB.

The naive build N2 is ours, not anybody's product: one table with an HNSW index and a b-tree of tenants,
ILIKE counts, jieba and BM25Okapi over the candidates of each query, three queries one after the other.

ILIKE costs what the case rules of the text's collation cost. Of libc they are, unless somebody says
otherwise, in every server that `initdb` makes under a UTF-8 locale, as the containers of PostgreSQL and
pgvector, Debian's packages do. Sextant's own server has the built-in rules,
which cost half of that, so ILIKE is measured by both.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection

from benchmarks.hybrid.corpus import DIMENSION, Library, Question
from sextant.retrievers.arrays import min_max
from sextant.retrievers.ranking.fusion import rrf

WANTED = 20
# Candidates that HNSW looks at: a common number, and those at which the rival is as exact as we are.
WIDTHS = (100, 200, 300, 400, 600, 800, 1000)
# PostgreSQL's own case rules of Unicode (from 17 on), those of Sextant's server.
BUILT_IN = "pg_c_utf8"
_TABLES = f"""
create schema if not exists bench;
create table bench.vectors (id int primary key, tenant int not null, embedding vector({DIMENSION}));
create table bench.texts (
  id int primary key, tenant int not null, content text collate "{BUILT_IN}" not null
);
"""
_LIBC = """
select collname from pg_collation
where collprovider = 'c' and collencoding = pg_char_to_encoding('UTF8') order by collname limit 1
"""
_INDEXES = """
set maintenance_work_mem = '1GB';
create index on bench.texts (tenant);
create index on bench.vectors (tenant);
create index on bench.vectors using hnsw (embedding vector_cosine_ops) with (m = 16, ef_construction = 64);
analyze bench.vectors;
analyze bench.texts;
"""
# The best design of one table: it looks on until it has found enough, by custom plans.
_SESSION = """
set hnsw.iterative_scan = relaxed_order;
set plan_cache_mode = force_custom_plan;
"""
_NEAREST = """
select id from bench.vectors where tenant = %b order by embedding <=> %b limit %b
"""
_TEXTS = "select id, content from bench.texts where id = any(%b)"


class PlainTables:
    """One table of vectors and one of texts, tenants apart by a column."""

    def __init__(self, connection: AsyncConnection[Any], libc: str | None) -> None:
        self._connection = connection
        self.libc = (
            libc  # a collation of UTF-8 by the C library; none where the system has no such locale
        )

    @staticmethod
    async def build(conninfo: str, library: Library) -> None:
        """Fill the tables and index them."""
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await register_vector_async(connection)
            await connection.execute(_TABLES)
            order = [row for rows in library.arrivals() for row in rows]
            tenants = library.tenants.tolist()
            async with connection.cursor() as cursor:
                async with cursor.copy("copy bench.vectors from stdin (format binary)") as rows:
                    rows.set_types(["int4", "int4", "vector"])
                    for row in order:
                        await rows.write_row((row, tenants[row], library.vectors[row]))
                async with cursor.copy("copy bench.texts from stdin (format binary)") as rows:
                    rows.set_types(["int4", "int4", "text"])
                    for row in order:
                        await rows.write_row((row, tenants[row], library.texts[row]))
            await connection.execute(_INDEXES)

    @classmethod
    async def open(cls, conninfo: str) -> PlainTables:
        """Return a connection to the tables, at the least of the widths."""
        connection = await AsyncConnection.connect(conninfo, autocommit=True)
        await register_vector_async(connection)
        await connection.execute(_SESSION)
        connection.prepare_threshold = 0
        libc = await (await connection.execute(_LIBC)).fetchone()
        tables = cls(connection, libc[0] if libc else None)
        await tables.look_at(WIDTHS[0])
        return tables

    async def look_at(self, width: int) -> None:
        """Have HNSW look at so many candidates."""
        await self._connection.execute(f"set hnsw.ef_search = {width}")

    @property
    def backend(self) -> int:
        """Return the server process of its connection."""
        return self._connection.info.backend_pid

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def nearest(self, question: Question, count: int = WANTED) -> list[int]:
        """Return rows by cosine, by the index."""
        values = (question.tenant, question.vector, count)
        return [row[0] for row in await self._rows(_NEAREST, values)]

    async def counted(
        self, question: Question, limit: int | None = WANTED, *, collation: str = BUILT_IN
    ) -> dict[int, int]:
        """Return rows that hold keywords by ILIKE, with how many, most first."""
        patterns = ["%" + _escaped(word) + "%" for word in question.keywords]
        counts = " + ".join(f'(content collate "{collation}" ilike %b)::int' for _ in patterns)
        query = f"""
            select id, n from (
              select id, {counts} as n from bench.texts where tenant = %b offset 0
            ) as counted where n > 0 order by n desc, id limit %b"""
        return dict(await self._rows(query, (*patterns, question.tenant, limit)))

    async def texts(self, rows: Sequence[int]) -> dict[int, str]:
        """Return the texts of rows."""
        return dict(await self._rows(_TEXTS, (list(rows),)))

    async def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        cursor = self._connection.cursor(binary=True)
        await cursor.execute(query.encode(), values)
        return await cursor.fetchall()


def _escaped(word: str) -> str:
    return word.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")


class Naive:
    """N2: what one would write first, and correct."""

    def __init__(self, tables: PlainTables, collation: str) -> None:
        self._tables, self._collation = tables, collation
        self._jieba = importlib.import_module("jieba")
        self._jieba.setLogLevel(60)
        self._bm25 = importlib.import_module("rank_bm25").BM25Okapi

    async def search(self, question: Question) -> list[int]:
        """Return vector lane, keyword lane, BM25 over the candidates, fused with 0.7 and 0.3."""
        near = await self._tables.nearest(question)
        held = list(await self._tables.counted(question, collation=self._collation))
        texts = await self._tables.texts(list(dict.fromkeys(near + held)))
        if not texts:
            return []
        cut = [self._jieba.lcut(text.lower()) for text in texts.values()]
        asked = [token for word in question.keywords for token in self._jieba.lcut(word)]
        by_words = dict(zip(texts, min_max(self._bm25(cut).get_scores(asked)), strict=True))
        rankings = {"vector": list(map(str, near)), "keyword": list(map(str, held))}
        fused = rrf(rankings, {"vector": 0.7, "keyword": 0.3})
        shares = min_max([score for _, score in fused])
        scored = {
            int(row): 0.7 * share + 0.3 * by_words[int(row)]
            for (row, _), share in zip(fused, shares, strict=True)
        }
        return sorted(scored, key=lambda row: -scored[row])[:10]


class Lance:
    """LanceDB's own hybrid search: IVF_HNSW_SQ, full text by words cut by rjieba, RRF."""

    def __init__(self, folder: Path, library: Library) -> None:
        os.environ.setdefault("LANCEDB_LOG", "error")  # else it warns of each search
        lancedb = importlib.import_module("lancedb")
        arrow = importlib.import_module("pyarrow")
        self._fuse = importlib.import_module("lancedb.rerankers").RRFReranker()
        self._cut = importlib.import_module("rjieba").cut
        flat = arrow.array(np.ascontiguousarray(library.vectors).ravel())
        rows = arrow.table(
            {
                "id": arrow.array(range(len(library.texts))),
                "tenant": arrow.array(library.tenants.astype(int)),
                "text": library.texts,
                "words": [self._words(text) for text in library.texts],
                "vector": arrow.FixedSizeListArray.from_arrays(flat, DIMENSION),
            }
        )
        self._table = lancedb.connect(str(folder)).create_table("chunks", rows)
        self._table.create_scalar_index("tenant", index_type="BITMAP")
        self._table.create_index(
            metric="cosine",
            vector_column_name="vector",
            index_type="IVF_HNSW_SQ",
            m=16,
            ef_construction=64,
        )
        self._table.create_fts_index(
            "words",
            base_tokenizer="whitespace",
            stem=False,
            remove_stop_words=False,
            with_position=False,
        )

    def _words(self, text: str) -> str:
        words = self._cut(text.lower())
        return " ".join(word for word in words if any(map(str.isalnum, word)))

    async def search(self, question: Question) -> list[int]:
        """Return the ten best, with their texts."""
        found = (
            self._table.search(
                query_type="hybrid", vector_column_name="vector", fts_columns="words"
            )
            .vector(question.vector)
            .text(self._words(question.text))
            .distance_type("cosine")
            .nprobes(20)
            .ef(100)
            .where(f"tenant = {question.tenant}", prefilter=True)
            .rerank(self._fuse)
            .select(["id", "text"])
            .limit(10)
            .to_list()
        )
        return [row["id"] for row in found]


def installed(*modules: str) -> bool:
    """Return whether these packages (requirements.txt beside this file) are there."""
    return all(importlib.util.find_spec(module) for module in modules)
