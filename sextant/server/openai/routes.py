"""`/v1/models` and `/v1/chat/completions`."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import Request, Response

from sextant.domain.answers import Answer
from sextant.facade.questions import Options
from sextant.server.answers import AnswerRequest, respond_with_answer, stream_answer
from sextant.server.lifespan import serving_of
from sextant.server.openai import completions as messages
from sextant.server.openai.completions import CompletionWriter
from sextant.server.openai.schemas import ChatRequest, errors
from sextant.server.routing import Reader, rag_of
from sextant.server.routing import router as new_router

router = new_router("openai", prefix="/v1")

_STREAM = {
    "description": "The answer as OpenAI describes it, with `stream` its chunks; `citations`, `sources` and `sextant` are ours."
}
_ERRORS = errors(404, 409, 502)


@router.get("/models")
async def list_models(request: Request, principal: Reader) -> dict[str, Any]:
    """List the models: one for each mode and effort, and one for each further knowledge base."""
    graphs = await rag_of(request, principal).graphs()
    return {"object": "list", "data": messages.models_response(graph.graph_id for graph in graphs)}


@router.get(
    "/models/{model:path}",
    responses=errors(404),
)
async def get_model(
    model: str,
    principal: Reader,  # noqa: ARG001 - a guard
) -> dict[str, Any]:
    """Describe one model."""
    messages.parse_model_name(model, None)
    return messages.model_response(model)


@router.post("/chat/completions", response_class=Response, responses={200: _STREAM, **_ERRORS})
async def chat_completions(request: Request, principal: Reader, chat: ChatRequest) -> Response:
    """Answer the last message of a chat, with citations in the text and as fields beside it."""
    most_turns = serving_of(request).settings.limits.history_turns
    mode, effort, graph_id = messages.parse_model_name(chat.model, chat.graph_id)
    conversation = messages.read_conversation(chat.messages, most_turns)
    bounds = chat.filters
    options = Options(
        graph_id=graph_id,
        mode=mode,
        top_k=chat.top_k,
        history=conversation.history,
        filters=bounds.model_dump(mode="json", exclude_defaults=True) if bounds else None,
        multimodal_content=conversation.images,
        effort=effort,
    )
    question = AnswerRequest(conversation.question, options)
    rag = rag_of(request, principal)
    question.options["graph_id"] = await rag.find_graph(question.options["graph_id"])
    usage = chat.stream_options is not None and bool(chat.stream_options.include_usage)
    completion = CompletionWriter(chat.model, chat.list_sources, usage)
    if chat.stream:
        _, response = stream_answer(request, principal, question, completion.encoder())
        return response

    def respond(answer: Answer) -> Response:
        body = orjson.dumps(completion.whole(answer))
        return Response(body, media_type="application/json")

    return await respond_with_answer(request, principal, question, respond)
