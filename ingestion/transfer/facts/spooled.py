"""The facts of an import by the entity they are of, in the temporary file that holds its lines."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import orjson

from domain.text import normalise_name
from ingestion.transfer.facts.passages import Fact, Subject
from ingestion.transfer.spool import Numbered, Stated

_TABLES = """
create table subject (
  key text primary key, norm text, name text, own_id text, description text, plain int, line int);
create index subject_norm on subject (norm, plain);
create table subject_alias (norm text, key text, name text, primary key (norm, key)) without rowid;
create index subject_alias_of on subject_alias (key, norm);
create table named (norm text primary key) without rowid;
create table triple (source text, type text, target text, primary key (source, type, target)) without rowid;
create table stated (source text, type text, target text, primary key (source, type, target)) without rowid;
create table fact (line int primary key, source text, type text, target text, description text);
create index fact_of on fact (source, type, target, line);
"""
# A fact by its ends' keys is also the triple of their names, where the names alone mean them.
_UNSTATED = """
  from fact f join subject t on t.key = f.target join subject s on s.key = f.source
  where not exists (select 1 from stated o where (o.source, o.type, o.target) = (f.source, f.type, f.target))
    and not (s.plain and t.plain and exists (
      select 1 from triple o where (o.source, o.type, o.target) = (s.norm, f.type, t.norm)))
"""


class Named(NamedTuple):
    """An entity that a relation names: its key, its name, and whether the name alone means it."""

    key: str
    name: str
    own_id: str = ""
    plain: bool = True


class FactSpool:
    """Entities and facts of one import; every method blocks, so call them in a thread."""

    def __init__(self, rows: sqlite3.Connection) -> None:
        self._rows = rows
        self._rows.executescript(_TABLES)

    def add_subjects(self, subjects: Iterable[tuple[Subject, Sequence[str]]]) -> None:
        """Keep what lines say of entities, with their aliases; a later line of the same one counts."""
        for one, aliases in subjects:
            self._rows.execute(
                "insert or replace into subject values (?, ?, ?, ?, ?, ?, ?)",
                (
                    one.key,
                    normalise_name(one.name),
                    one.name,
                    one.own_id,
                    one.description,
                    one.plain,
                    one.line,
                ),
            )
            self._rows.executemany(
                "insert or ignore into subject_alias values (?, ?, ?)",
                [(normalise_name(alias), one.key, alias) for alias in aliases],
            )

    def add_told(self, names: Iterable[str], triples: Iterable[tuple[str, str, str]]) -> None:
        """Note what chunks name and state."""
        self._rows.executemany(
            "insert or ignore into named values (?)", [(normalise_name(name),) for name in names]
        )
        self._rows.executemany(
            "insert or ignore into triple values (?, ?, ?)",
            [(normalise_name(s), said, normalise_name(t)) for s, said, t in triples],
        )

    def add_facts(self, relations: Sequence[Numbered[Stated]], ends: dict[str, Named]) -> None:
        """Keep relations whose ends are known; those that name chunks are stated already."""
        self._rows.execute("begin")
        for number, line in relations:
            source, target = ends.get(line.source), ends.get(line.target)
            if source is None or target is None or source.key == target.key:
                continue
            said = source.key, line.relation_type, target.key
            if line.chunk_ids:
                self._rows.execute("insert or ignore into stated values (?, ?, ?)", said)
                continue
            for one in (source, target):
                self._rows.execute(
                    "insert or ignore into subject values (?, ?, ?, ?, '', ?, ?)",
                    (one.key, normalise_name(one.name), one.name, one.own_id, one.plain, number),
                )
            self._rows.execute(
                "insert into fact values (?, ?, ?, ?, ?)", (number, *said, line.description)
            )
        self._rows.execute("commit")

    def by_key(self, keys: Collection[str]) -> dict[str, Named]:
        """Those of these entities that lines describe."""
        found = self._rows.execute(
            "select key, name, own_id, plain from subject where key in (select value from json_each(?))",
            (orjson.dumps([*keys]).decode(),),
        )
        return {key: Named(key, name, own_id, bool(plain)) for key, name, own_id, plain in found}

    def by_norm(self, norms: Collection[str]) -> dict[str, Named]:
        """Whom these names alone mean, of those that lines describe."""
        found = self._rows.execute(
            "select norm, key, name, own_id from subject where plain and norm in (select value from json_each(?))",
            (orjson.dumps([*norms]).decode(),),
        )
        return {norm: Named(*row) for norm, *row in found}

    def named(self, norms: Collection[str]) -> set[str]:
        """Those of these names that chunks have."""
        found = self._rows.execute(
            "select norm from named where norm in (select value from json_each(?))",
            (orjson.dumps([*norms]).decode(),),
        )
        return {norm for (norm,) in found}

    def by_alias(self, norms: Collection[str]) -> list[tuple[str, Named]]:
        """Whom lines give these aliases, each with the alias."""
        found = self._rows.execute(
            "select a.norm, s.key, s.name, s.own_id, s.plain from subject_alias a join subject s using (key) "
            "where a.norm in (select value from json_each(?))",
            (orjson.dumps([*norms]).decode(),),
        )
        return [
            (norm, Named(key, name, own_id, bool(plain)))
            for norm, key, name, own_id, plain in found
        ]

    def subjects(self) -> Iterator[Subject]:
        """The entities of which something is to be told, in an order of their own."""
        query = (
            "select key, name, own_id, description, plain, line from subject where description <> '' "
            "or key in (select key from subject_alias) "
            f"or key in (select f.source {_UNSTATED}) order by key"
        )
        for key, name, own_id, description, plain, line in self._rows.execute(query):
            yield Subject(key, name, own_id, description, bool(plain), line)

    def aliases(self, key: str) -> list[str]:
        """What else an entity is called."""
        query = (
            "select a.name from subject_alias a join subject s using (key) "
            "where a.key = ? and a.norm <> s.norm order by a.norm"
        )
        return [name for (name,) in self._rows.execute(query, (key,))]

    def facts(self, key: str) -> Iterator[Fact]:
        """What an entity is to others, each once and as its last line says it, by type and name."""
        # SQLite takes the other columns from the row that has the greatest line.
        query = (
            f"select f.type, f.target, t.name, f.description, max(f.line) {_UNSTATED} and f.source = ? "
            "group by f.type, f.target order by f.type, t.norm, f.target"
        )
        for *said, _ in self._rows.execute(query, (key,)):
            yield Fact(*said)

    def lines_of(self, key: str, fact: Fact) -> list[int]:
        """The lines that say a fact."""
        query = "select line from fact where source = ? and type = ? and target = ?"
        return [
            line for (line,) in self._rows.execute(query, (key, fact.relation_type, fact.target))
        ]
