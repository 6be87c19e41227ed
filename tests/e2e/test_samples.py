"""Every sample format: ingested by the command line, asked about, answered with its own words."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.e2e.conftest import SAMPLES, Sextant

QUESTIONS: list[dict[str, Any]] = json.loads((SAMPLES / "questions.json").read_bytes())["questions"]
FILES = sorted(path.name for path in (SAMPLES / "documents").iterdir())


def one_per_file() -> list[Any]:
    """For each sample file that has one, the first question that it alone answers."""
    first: dict[str, dict[str, Any]] = {}
    for question in QUESTIONS:
        if len(question["files"]) == 1:
            first.setdefault(question["files"][0], question)
    return [pytest.param(question, id=question["id"]) for question in first.values()]


@pytest.fixture(scope="module")
def ingested(sextant: Sextant) -> dict[str, Any]:
    """Return what the command line told of each sample file, by name."""
    told = sextant("ingest", SAMPLES / "documents", "--graph", "samples", "--json").json()
    return {file["filename"]: file for file in told["files"]}


def test_every_sample_is_taken_in(ingested: dict[str, Any]) -> None:
    assert sorted(ingested) == FILES
    assert all(file["error"] is None and file["chunks"] > 0 for file in ingested.values())


def test_the_same_bytes_again_are_the_same_documents(
    sextant: Sextant, ingested: dict[str, Any]
) -> None:
    again = sextant("ingest", SAMPLES / "documents", "--graph", "samples", "--json").json()
    assert {file["filename"]: file["document_id"] for file in again["files"]} == {
        name: file["document_id"] for name, file in ingested.items()
    }
    assert all(file["unchanged"] for file in again["files"])


@pytest.mark.parametrize("question", one_per_file())
def test_a_question_is_answered_from_its_file_with_quotes_that_hold(
    question: dict[str, Any], sextant: Sextant, ingested: dict[str, Any]
) -> None:
    answer = sextant("ask", question["question"], "--graph", "samples", "--json").json()
    cited = {source["filename"] for source in answer["sources"]}
    assert set(question["files"]) <= cited, answer["answer"]
    said = "".join(answer["answer"].split())
    for phrase in question["answer_contains"]:
        assert "".join(phrase.split()) in said
    for citation in answer["citations"]:
        assert citation["quote"]
        assert f"[{citation['marker']}]" in answer["answer"]
    used = set(re.findall(r"\[(\d+)\]", answer["answer"]))
    assert used == {str(source["marker"]) for source in answer["sources"]}


@pytest.mark.parametrize(
    "question", ["1998 年世界杯冠军是谁？", "What is the capital of Mongolia?"]
)
def test_what_the_documents_do_not_tell_is_said_so(
    question: str, sextant: Sextant, ingested: dict[str, Any]
) -> None:
    answer = sextant("ask", question, "--graph", "samples", "--json").json()
    assert answer["answer"].startswith(("文档中没有", "The documents do not say"))
    assert answer["declined"]
    assert not answer["grounded"]
    # At most the nearest passage is named, and as no more than that.
    assert all(citation["support"] == 0.0 for citation in answer["citations"][:1])
    assert len(answer["citations"]) <= 1


def test_an_answer_on_the_terminal_shows_source_section_page_and_quote(
    sextant: Sextant, ingested: dict[str, Any]
) -> None:
    shown = sextant("ask", "糖尿病患者的主要症状是什么？", "--graph", "samples")
    assert shown.status == 0
    text, *blocks = shown.out.split("\n\n")
    assert "[1]" in text
    assert blocks[0].startswith("[1] 糖尿病诊疗指南.pdf · 第2章 主要症状 › 2.1 典型症状 · 第 2 页")
    assert "“" in blocks[0]
    assert "\x1b" not in shown.out + shown.err


@pytest.mark.parametrize(
    ("mode", "lanes"),
    [
        ("naive", {"vector"}),
        ("local", {"local", "walk"}),
        ("mix", {"mix", "walk", "keyword"}),
        ("hybrid", {"local", "walk", "keyword"}),
    ],
)
def test_search_explains_rank_and_score_in_every_lane_and_the_times(
    sextant: Sextant, ingested: dict[str, Any], mode: str, lanes: set[str]
) -> None:
    shown = sextant("search", "付款节点", "--graph", "samples", "--mode", mode, "--explain")
    assert "软件开发合同.docx" in shown.out.splitlines()[0]
    [header] = [line for line in shown.out.splitlines() if line.startswith("RESULT")]
    columns = ["RESULT", "SCORE", "LANE", "RANK", "OWN", "SCORE", "WEIGHT", "ADDS", "MS"]
    assert header.split() == columns
    rows = shown.out.splitlines()[shown.out.splitlines().index(header) + 1 :]
    assert re.match(
        r"1 +\d+\.\d{4} +[a-z]+ +1 +\d+\.\d{4} +[01][.\d]* +\d+\.\d{4} +\d+\.\d", rows[0]
    )
    explained = rows[: next(place for place, row in enumerate(rows) if row.startswith("ADDS"))]
    assert lanes <= {word for row in explained for word in row.split()}
    assert any(line.startswith("total") for line in shown.out.splitlines())


def test_entities_are_searched_within_filters(sextant: Sextant, ingested: dict[str, Any]) -> None:
    def found(*filters: str) -> list[dict[str, Any]]:
        options = [part for one in filters for part in ("--filter", one)]
        # As long as it takes: a lane that is given up finds less.
        patience = {"SEXTANT_RETRIEVAL__LANE_TIMEOUT": "120"}
        searched = sextant(
            "entities", "search", "糖尿病", *options, "--graph", "samples", "--json", **patience
        )
        results: list[dict[str, Any]] = searched.json()["results"]
        return results

    [first, *_] = everything = found()
    kind = first["entity"]["entityType"]
    assert {one["entity"]["entityType"] for one in found(f"entityTypes={kind}")} == {kind}
    later = found("createdAfter=2020-01-01")
    assert [one["entity"]["id"] for one in later] == [one["entity"]["id"] for one in everything]
    assert found("createdBefore=2020-01-01") == []


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix", "auto"])
def test_every_mode_answers_with_citations_of_stored_passages(
    sextant: Sextant, ingested: dict[str, Any], mode: str
) -> None:
    question = "糖尿病患者的主要症状是什么？"
    answer = sextant("ask", question, "--graph", "samples", "--mode", mode, "--json").json()
    assert answer["mode"] == ("mix" if mode == "auto" else mode)
    assert (answer["trust"], answer["grounded"]) == ("quoted", False)
    texts = {source["filename"]: source["text"] for source in answer["sources"]}
    assert "糖尿病诊疗指南.pdf" in texts
    for citation in answer["citations"]:
        assert citation["quote"] in texts[citation["source"]] or len(answer["sources"]) > len(texts)


def test_documents_are_listed_and_deleted(sextant: Sextant) -> None:
    file = SAMPLES / "documents" / "release-notes.md"
    [stored] = sextant("ingest", file, "--graph", "short", "--json").json()["files"]
    [listed] = sextant("documents", "list", "--graph", "short", "--json").json()
    assert listed["id"] == stored["document_id"]
    assert "release-notes.md" in sextant("documents", "list", "--graph", "short").out
    assert sextant("documents", "delete", listed["id"], "--graph", "short").status == 0
    assert sextant("documents", "list", "--graph", "short", "--json").json() == []
    again = sextant("documents", "delete", listed["id"], "--graph", "short", "--json")
    assert again.status == 2
    assert again.error()["code"] == "document_not_found"
