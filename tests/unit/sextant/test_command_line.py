"""The command line starts light, says what went wrong, and exits with a status that tells why."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
import typer

from sextant.cli import app as cli
from sextant.cli import documents, terminal
from sextant.cli.session import AsJson, question_of
from sextant.cli.transfer import _left_out_message
from sextant.domain.errors import DatabaseUnavailable, QuestionInvalid, SextantError


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.chdir(str(tmp_path))
    for name in ("DATABASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "SEXTANT_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)


def failing(error: BaseException, name: str = "config") -> typer.Typer:
    app = typer.Typer()

    @app.command(name)
    def fail(*, as_json: AsJson = False) -> None:
        raise error

    return app


def test_help_lists_every_command_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in cli.COMMANDS:
        assert any(line.split()[:1] == [name] and len(line.split()) > 3 for line in lines), name


@pytest.mark.parametrize("group", ["", *cli.COMMANDS])
def test_a_list_of_commands_says_of_each_in_a_whole_sentence_what_it_does(
    group: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.run([*group.split(), "--help"]) == 0
    commands = capsys.readouterr().out.partition("Commands:")[2].strip().splitlines()
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []


def test_without_arguments_it_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 0
    assert "Commands:" in capsys.readouterr().out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([name, "--help"]) == 0
    assert f"sextant {name}" in capsys.readouterr().out


def test_deleting_a_graph_asks_first_and_opens_nothing_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    assert cli.run(["graphs", "delete", "hr"]) == 130
    assert "'hr'" in capsys.readouterr().err


def test_without_a_name_the_documents_of_the_only_knowledge_base_are_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rag = AsyncMock()
    rag.find_graph.return_value = "shop"
    rag.documents.return_value = []
    monkeypatch.setattr(documents, "with_sextant", lambda work: asyncio.run(work(rag)))
    assert cli.run(["documents", "list"]) == 0
    rag.documents.assert_awaited_once_with("shop")
    assert "Using shop, the only knowledge base there is" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["graphs"], ["graphs", "list"], ["graphs", "--json"]])
def test_a_group_without_a_command_lists(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "with_sextant", lambda _: [])
    assert cli.run(words) == 0
    assert capsys.readouterr().out.split() in (["GRAPH", "DOCUMENTS", "CHUNKS", "CREATED"], ["[]"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["graphs", "show"], "Commands: list, delete. `sextant graphs --help`"),
        (["graph"], "Commands: status, sync, rebuild, show. `sextant graph --help`"),
        (["documents", "list", "--all"], "`sextant documents list --help`"),
        (["show"], "`sextant --help`"),
    ],
)
def test_a_wrong_command_is_told_with_those_that_there_are(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    assert told in capsys.readouterr().err


def test_help_loads_nothing_heavy() -> None:
    """Start-up time is a promise (0.3 s), kept by what is not imported."""
    code = (
        "import sys; from sextant.cli.app import run; run(['--help']);"
        "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "langchain_core", "langgraph", "numpy", "onnxruntime", "psycopg", "rich"}
    assert not heavy & set(done.stderr.split())


def test_taking_documents_in_without_a_chat_model_loads_no_langchain() -> None:
    """Half a second of CPU that nothing would use."""
    code = "import sys, sextant.ingestion.pipeline, sextant.ingestion.graph.upkeep; print('langchain_core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_question_may_be_typed_without_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    rag = AsyncMock()
    monkeypatch.setattr("sextant.cli.search.with_sextant", lambda work, **_: asyncio.run(work(rag)))
    assert cli.run(["search", "how", "many", "days?", "--graph", "hr", "--json"]) == 0
    assert rag.search.await_args.args == ("how many days?",)


def test_an_unknown_command_or_option_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["conifg"]) == 2
    assert "conifg" in capsys.readouterr().err
    assert cli.run(["config", "--colour"]) == 2
    assert "--colour" in capsys.readouterr().err
    assert cli.run(["ask", "what", "works", "at", "-5", "°C?"]) == 2
    assert "Put -- before words that begin with a dash" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (QuestionInvalid("The question is empty.", next_step="Ask something."), 2),
        (DatabaseUnavailable("The database does not answer.", next_step="Start it."), 3),
        (SextantError("It broke.", next_step="Try again."), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_the_exit_status_tells_whose_fault_it_is(
    error: BaseException,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sextant.cli.upkeep.app", failing(error))
    assert cli.run(["config"]) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    if isinstance(error, SextantError):
        assert error.message in shown.err
        assert error.next_step in shown.err


@pytest.mark.parametrize(
    ("command", "module", "goes_on"),
    [("import", "transfer", True), ("config", "upkeep", False)],
)
def test_who_stops_a_command_is_told_what_stays(
    command: str,
    module: str,
    goes_on: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(f"sextant.cli.{module}.app", failing(KeyboardInterrupt(), command))
    assert cli.run([command]) == 130
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Stopped.")
    assert ("What is stored stays" in shown.err) == goes_on


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (["version"], "sextant --version"),
        (["chunks", "search", "pumps"], "sextant search"),
        (["graph", "show", "x", "--format=table"], "--json"),
        (["entities", "search", "x", "--type", "PERSON"], "--filter entityTypes=TYPE"),
        (["serve", "--log", "debug"], "SEXTANT_LOG_LEVEL"),
    ],
)
def test_what_earlier_versions_had_is_told_with_what_stands_for_it(
    arguments: list[str], instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(arguments) == 2
    assert instead in capsys.readouterr().err


def test_a_choice_that_there_is_not_is_told_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["mcp", "--names", "spaced"]) == 2
    assert ": 'spaced' is not one of 'dotted', 'compat'." in capsys.readouterr().err


def test_who_loses_the_database_amid_an_import_is_told_what_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = DatabaseUnavailable("PostgreSQL does not answer.", next_step="Run `sextant doctor`.")
    monkeypatch.setattr("sextant.cli.transfer.app", failing(gone, "import"))
    assert cli.run(["import"]) == 3
    assert "What is stored stays" in capsys.readouterr().err


def test_an_error_is_json_where_json_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = QuestionInvalid("The question is empty.", next_step="Ask something.", field="query")
    monkeypatch.setattr("sextant.cli.upkeep.app", failing(error))
    assert cli.run(["config", "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"] == {
        "code": "question_invalid",
        "message": "The question is empty.",
        "next_step": "Ask something.",
        "field": "query",
        "retryable": False,
    }


def test_config_shows_value_default_and_origin_and_masks_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("SEXTANT_RETRIEVAL__TOP_K", "7")
    assert cli.run(["config", "--json"]) == 0
    printed = capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads(printed)}
    assert rows["retrieval.top_k"] | {"description": ""} == {
        "name": "retrieval.top_k",
        "variable": "SEXTANT_RETRIEVAL__TOP_K",
        "value": 7,
        "default": 10,
        "origin": "environment",
        "description": "",
    }
    assert "very-secret" not in printed
    assert cli.run(["config"]) == 0
    assert "very-secret" not in capsys.readouterr().out


def test_a_bad_setting_stops_every_command_with_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEXTANT_RETRIEVAL__TOPK", "7")
    assert cli.run(["config", "--json"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "settings_invalid"
    assert "SEXTANT_RETRIEVAL__TOP_K" in error["next_step"]


@pytest.mark.parametrize("folder", ["", "/data/question-sets"])
def test_a_folder_of_question_sets_in_the_environment_is_no_unknown_setting(
    folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEXTANT_EVAL_DIR", folder)
    assert cli.run(["config", "--json"]) == 0
    assert "eval_dir" not in capsys.readouterr().out.lower()


@pytest.mark.parametrize("command", [["documents", "delete"], ["structure"]])
def test_what_is_no_id_of_a_document_is_told_where_ids_are(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*command, "handbook.pdf"]) == 2
    told = capsys.readouterr().err
    assert "`handbook.pdf` is not the id of a document; `sextant documents list` shows them" in told


def test_columns_line_up_under_wide_characters(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.table(("NAME", "SIZE"), [("合同.md", "1"), ("contract.md", "2")])
    assert capsys.readouterr().out.splitlines() == [
        "NAME         SIZE",
        "合同.md      1",
        "contract.md  2",
    ]


def test_a_dash_is_the_question_that_a_pipe_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.BytesIO("\ufeff试用期多长？\n".encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped, encoding="ascii"))
    assert question_of(["-"]) == "试用期多长？"
    monkeypatch.setattr(sys, "stdin", None)  # the shell closed it
    assert question_of(["-"]) == ""
    assert question_of(["How", "long", "-"]) == "How long -"


def test_a_pipe_gets_no_control_codes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sextant", "config"], capture_output=True, check=True
    )
    assert b"\x1b" not in done.stdout + done.stderr


def test_what_a_folder_holds_and_is_not_read_is_told_with_the_way_for_images() -> None:
    assert _left_out_message([Path("scan.PNG"), Path("a.bin"), Path("b.jpeg"), Path("c.bin")]) == (
        "2 files left out, being of no kind that is read: 2 .bin\n"
        "2 images left out: images are read where they are named, not in folders"
    )
    assert _left_out_message([Path("scan.png")]).startswith("1 image left out:")


def test_a_pipe_in_a_folder_is_not_told_as_a_link(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "linked.txt").symlink_to(__file__)
    assert _left_out_message(sorted(tmp_path.iterdir())) == (
        "2 files left out, being of no kind that is read: 1 linked from outside, "
        "1 pipe, socket or device"
    )
