"""Every statement says what it is for and names the tenant's scope or user."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from sextant.stores.postgresql.migrations import migrations, schema
from sextant.stores.postgresql.queries import load_cypher, load_queries

TOPICS = sorted(
    file.name.removesuffix(".sql") for file in (files("sextant.stores") / "sql/queries").iterdir()
)
TENANT_TABLES = {
    name
    for sql in schema().values()
    for name, columns in re.findall(
        r"^create (?:table|view) (\w+) (.*?);$", sql, re.MULTILINE | re.DOTALL
    )
    if "user_id" in columns
}
# Run by the schema's owner, about all tenants at once.
OWNERS = {"embedding_space.has_chunks", "embedding_space.all_scopes", "api_keys.end"}
ALL = [
    pytest.param(f"{topic}.{name}", sql, id=f"{topic}.{name}")
    for topic in TOPICS
    for name, sql in load_queries(topic).items()
]


CYPHER = [
    pytest.param(f"{topic}.{name}", text, id=f"{topic}.{name}")
    for topic in ("reads", "writes")
    for name, text in load_cypher(topic).items()
]

# Temporary tables of one transaction that carry the scope of the writer that fills them.
WORKING_TABLES = {
    table
    for topic in TOPICS
    for sql in load_queries(topic).values()
    for table in re.findall(r"create temporary table (\w+) \(\s*scope_id int", sql)
}


def given(code: str) -> bool:
    """Return whether a statement is given its scope or user."""
    return "%(scope_id)s" in code or "%(user_id)s" in code


def of_a_conversation(name: str, code: str) -> bool:
    """Return whether a statement is given the key of a conversation, which begins with a hash of its user."""
    return name.startswith("threads.") and re.search(r"%\(keys?\)s", code) is not None


def working(code: str) -> set[str]:
    """Return the working tables that a statement reads."""
    return WORKING_TABLES & set(re.findall(r"(?:from|join|using|update)\s+(\w+)", code))


@pytest.mark.parametrize(("name", "sql"), ALL)
def test_what_an_index_by_documents_leaves_out_is_spelt_out(name: str, sql: str) -> None:
    """Whether a parameter is the nil id a plan that is made once cannot know: it read the whole scope instead."""
    assert "document_id <> %(nil)s" not in sql, name


@pytest.mark.parametrize(("name", "sql"), ALL)
def test_a_statement_begins_with_a_sentence(name: str, sql: str) -> None:
    assert re.match(r"-- \w.{5,}", sql.splitlines()[0])


@pytest.mark.parametrize(("name", "sql"), ALL)
def test_a_statement_on_tenant_tables_binds_the_scope_or_the_user(name: str, sql: str) -> None:
    code = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
    touched = TENANT_TABLES & set(re.findall(r"(?:from|join|into|update)\s+(\w+)", code))
    if touched and name not in OWNERS:
        joined = bool(working(code)) and len(re.findall(r"\bscope_id\b", code)) > 1
        assert given(code) or joined or of_a_conversation(name, code), touched


@pytest.mark.parametrize(("name", "sql"), ALL)
def test_a_working_table_is_filled_with_the_writers_scope_alone(name: str, sql: str) -> None:
    filled = set(re.findall(r"insert into (\w+)", sql)) & WORKING_TABLES
    assert not filled or given(sql) or working(sql), (name, filled)


def test_the_tables_of_documents_are_among_those_checked() -> None:
    assert {"graphs", "documents", "chunks", "chunk_vectors", "chunk_grams"} <= TENANT_TABLES


@pytest.mark.parametrize("name", schema())
def test_a_file_of_the_schema_begins_with_what_it_is_about(name: str) -> None:
    assert re.match(r"-- \w.{15,}", schema()[name])


def test_no_two_migrations_have_one_number() -> None:
    versions = [one.version for one in migrations()]
    assert versions == sorted(set(versions))


@pytest.mark.parametrize(("name", "text"), CYPHER)
def test_a_cypher_statement_begins_with_a_sentence_and_keeps_to_a_graph(
    name: str, text: str
) -> None:
    assert re.match(r"// \w.{5,}", text.splitlines()[0])
    assert "$graph" in text, name
    labelled = re.findall(r":(?:__\w+__|Chunk) \{(\w+):", text)
    assert set(labelled) <= {"graph_key"}, name
