"""What the doctor says of those who see to what waits, and of the chat models of each role."""

from __future__ import annotations

import asyncio
import re

from pydantic import SecretStr

from sextant import Sextant
from sextant.domain.settings import LimitSettings, ModelSettings, RoleSettings, Settings
from sextant.facade.doctor import Examination, Health, examine
from sextant.facade.worker import working
from sextant.stores.documents.registration import Upload
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import EndpointPace, Reply, VirtualClock, as_json, failing
from tests.integration.own_database import settings_over, short_folder
from tests.provider_servers import ScriptedOllama


async def workers(settings: Settings) -> Examination:
    """Return what is found of workers."""
    return {one.name: one async for one in examine(settings)}["workers"]


async def test_documents_that_wait_without_a_worker_are_a_warning_until_one_comes() -> None:
    with short_folder() as folder:
        settings = settings_over(folder)
        async with Sextant.open(settings) as rag:
            assert (await workers(settings)).health is Health.OFF  # who ingests alone needs none

            upload = Upload("berths.txt", "berths.txt", "text/plain", b"Berth 7 is taken.")
            await rag.library().add([upload], "harbour")
            found = await workers(settings)
            assert (found.health, found.exit_code) == (Health.WARNING, 0)
            assert found.detail == "none at work; waiting: 1 document"
            assert "sextant worker" in found.next_step

            async with working(rag.worker()), asyncio.timeout(60):
                while (  # noqa: ASYNC110
                    await workers(settings)
                ).detail != "1 worker at work; nothing waits":
                    await asyncio.sleep(0.2)


async def test_each_model_is_asked_once_whatever_its_roles(settings: Settings) -> None:
    key = "key-that-nobody-else-may-see"
    refused = failing(401, f"The key {key} is wrong.")
    async with ScriptedOpenAI(lambda _: "yes") as large, ScriptedOllama(lambda _: refused) as small:
        reading = ModelSettings(
            name="ollama:small", base_url=small.base_url, api_key=SecretStr(key)
        )
        chosen = settings.model_copy(
            update={
                "chat_model": "large",
                "vision_model": "large",
                "openai_base_url": large.base_url,
                "model_retries": 0,
                "models": RoleSettings(judge=ModelSettings(temperature=0.0), extract=reading),
            }
        )
        found = {one.name: one async for one in examine(chosen)}
    assert found["chat model"].detail == "large answers"
    assert found["extract model"].health is Health.FAILED
    assert "SEXTANT_MODELS__EXTRACT__API_KEY" in found["extract model"].next_step
    assert key not in str(found)
    assert not {"judge model", "vision model"} & found.keys()
    assert (len(large.chat_requests), len(small.requests)) == (1, 1)


async def test_a_slow_model_with_a_short_context_is_measured_and_what_to_set_is_said(
    settings: Settings,
) -> None:
    def reply(request: ApiRequest) -> Reply | str:
        code = re.search(r"code word is (\w+)", request.prompt)
        numbers = " ".join(map(str, range(30))) if "numbers" in request.prompt else ""
        words = f"{code[1] if code else 'None.'} {numbers}"
        return as_json({"colour": "yellow"}) if request.wants_json else words

    clock, reported = VirtualClock.of_running_loop(), list[str]()
    pace = EndpointPace(1000, 0.9, context=4096, cuts=True)
    async with ScriptedOpenAI(reply, pace=pace, clock=clock) as endpoint:
        chosen = settings.model_copy(
            update={
                "chat_model": "slow",
                "openai_base_url": endpoint.base_url,
                "limits": LimitSettings(answer_seconds=140),
            }
        )
        examined = examine(chosen, measure=True, report=reported.append)
        found = {one.name: one async for one in examined}["chat model"]
    assert found.health is Health.WARNING
    assert found.measured["context_tokens"] == 4096
    assert found.measured["cuts_prompts"] is True
    assert "OLLAMA_CONTEXT_LENGTH" in found.next_step
    assert "SEXTANT_LIMITS__ANSWER_SECONDS" in found.next_step
    assert reported[0].startswith("chat model: measuring")
