"""From settings to models: what is built, what is refused, and what stays offline."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import SecretStr

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import AnswerSettings, Settings
from sextant.models.chat.chat_model import as_chat_model
from sextant.models.chat.factory import build_chat_model
from sextant.models.embedding.prefixes import prefixes_of
from sextant.models.reranker import HttpReranker, LocalReranker, build_reranker, open_judge


@pytest.fixture(autouse=True)
def no_endpoint_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SEXTANT_CHAT_MODEL"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_chat_model_sextant_is_offline_even_with_a_key() -> None:
    assert build_chat_model(Settings(_env_file=None, openai_api_key="sk-x")) is None


def test_a_chat_model_without_key_or_url_is_refused_with_the_way_out() -> None:
    with pytest.raises(SettingsInvalid) as caught:
        build_chat_model(Settings(_env_file=None, chat_model="gpt-x"))
    assert caught.value.field == "chat_model"
    assert "OPENAI_BASE_URL" in caught.value.next_step


async def test_a_server_of_ones_own_needs_no_key() -> None:
    chat = build_chat_model(
        Settings(_env_file=None, chat_model="qwen3", openai_base_url="http://127.0.0.1:1/v1")
    )
    assert chat is not None
    assert chat.name == "qwen3"
    await chat.close()


def test_importing_the_models_loads_no_heavy_library() -> None:
    modules = (
        "chat.chat_model",
        "embedding.local",
        "embedding.remote",
        "reranker",
    )
    heavy = {"openai", "langchain_openai", "torch", "sentence_transformers", "onnxruntime"}
    imports = ", ".join(f"sextant.models.{module}" for module in modules)
    code = f"import {imports}; import sys; print(*(set({heavy!r}) & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert loaded.split() == []


def test_a_reranker_is_off_by_default_and_built_from_either_form() -> None:
    def built(reranker: str | None) -> object:
        return build_reranker(Settings(_env_file=None, reranker=reranker))

    assert built(None) is None
    assert isinstance(built("https://rerank.example/v1/rerank#m"), HttpReranker)
    assert isinstance(built("sentence-transformers:BAAI/bge-reranker-v2-m3"), LocalReranker)


@pytest.mark.parametrize("given", ["bge-reranker", "sentence-transformers:", "ftp://x/rerank"])
def test_an_unknown_form_of_reranker_is_refused(given: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        build_reranker(Settings(_env_file=None, reranker=given))
    assert caught.value.field == "reranker"


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("./models/e5-base-v2", "query: ", "passage: "),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("text-embedding-3-small", "", ""),
        ("BAAI/bge-m3", "", ""),
        ("acme/code5-embed", "", ""),
    ],
)
def test_prefixes_go_by_the_models_name(model: str, query: str, passage: str) -> None:
    assert prefixes_of(model) == (query, passage)


def test_instructed_e5_models_take_an_instruction_before_the_question_only() -> None:
    query, passage = prefixes_of("intfloat/multilingual-e5-large-instruct")
    assert query.startswith("Instruct: ")
    assert passage == ""


def judged_by(judge: str | None, reranker: str | None = None) -> Settings:
    return Settings(_env_file=None, reranker=reranker, answers=AnswerSettings(judge=judge))


def test_citations_are_judged_by_words_by_the_reranker_or_by_a_model_of_their_own() -> None:
    ranking = build_reranker(judged_by(None, "http://localhost:1/rerank"))
    assert open_judge(judged_by(None), ranking) is None
    assert open_judge(judged_by("reranker"), ranking) is ranking
    assert isinstance(open_judge(judged_by("http://localhost:2/rerank"), None), HttpReranker)
    assert isinstance(open_judge(judged_by("sentence-transformers:x/y"), None), LocalReranker)


@pytest.mark.parametrize("judge", ["reranker", "gpt-5"])
def test_a_judge_that_there_is_not_is_refused_with_the_way_out(judge: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        open_judge(judged_by(judge), None)
    assert caught.value.field == "answers.judge"
    assert "SEXTANT_ANSWERS__JUDGE" in caught.value.next_step


def test_a_model_of_the_callers_own_can_be_stopped_between_its_chunks() -> None:
    from langchain_openai import ChatOpenAI

    own = ChatOpenAI(model="x", api_key=SecretStr("k"), stream_chunk_timeout=9)
    assert as_chat_model(own).llm.stream_chunk_timeout == 0  # type: ignore[attr-defined]
    assert own.stream_chunk_timeout == 9
