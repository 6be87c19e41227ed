"""The examples of answers in the OpenAPI document, over the knowledge base of `examples`."""

from __future__ import annotations

from typing import Any

import orjson

from sextant.server.schemas.examples import ENTITY_ID, GRAPH, SOME_ID

_QUESTION = "Rust 的所有权规则是什么？"
_SENTENCE = "每个值都有一个所有者；同一时刻只有一个所有者；所有者离开作用域时，值被丢弃。"
RUN_ID = "4dea06af44cac09fb9a2f82b88f15d73"
THREAD_ID = "rust-for-beginners"

RESUME: dict[str, Any] = {"threadId": "nothing-to-decide", "decisions": [{"type": "approve"}]}
QUERY: dict[str, Any] = {
    "query": _QUESTION,
    "graphId": GRAPH,
    "mode": "mix",
    "topK": 3,
    "threadId": THREAD_ID,
}
_CITATION: dict[str, Any] = {
    "marker": 1,
    "sentence": f"{_SENTENCE}[1]",
    "source": "Rust 程序设计",
    "quote": _SENTENCE,
    "start": 11,
    "end": 50,
    "support": 1.0,
    "cell": "",
}
_SOURCE: dict[str, Any] = {
    "marker": 1,
    "documentId": str(SOME_ID),
    "filename": "Rust 程序设计",
    "chunkId": str(SOME_ID),
    "title": "所有权",
    "sectionPath": ["所有权"],
    "page": None,
    "text": f"Rust 的所有权规则：{_SENTENCE}",
    "score": 1.0,
    "lanes": {"mix": {"rank": 1, "score": 1.0, "weight": 1.0, "contribution": 1.0}},
    "kind": "document",
    "label": "",
    "externalId": None,
}
ANSWER: dict[str, Any] = {
    "answer": f"根据文档：\n{_SENTENCE}[1]",
    "mode": "mix",
    "citations": [_CITATION],
    "sources": [_SOURCE],
    "graphContext": {
        "entities": [{"id": str(ENTITY_ID), "name": "所有权系统", "type": "concept"}],
        "relationships": [],
    },
    "attempts": 0,
    "trust": "quoted",
    "grounded": False,
    "declined": False,
    "notFound": [],
    "effort": "medium",
    "warnings": [],
    "codedWarnings": [],
    "language": "zh",
    "timings": {"retrieve": 21.9, "generate": 83.6},
    "model": "extractive",
    "usage": {
        "calls": 0,
        "promptTokens": 0,
        "completionTokens": 0,
        "estimated": False,
        "truncated": False,
        "models": {},
    },
    "costs": {"generate": {"calls": 0, "milliseconds": 83.6}},
    "prompt": "",
}


def _event(number: int, name: str, data: object) -> str:
    return f"id: {RUN_ID}-{number}\nevent: {name}\ndata: {orjson.dumps(data).decode()}\n\n"


EVENTS = (
    _event(1, "status", {"node": "retrieve", "detail": "", "attempt": 0})
    + _event(2, "token", {"text": _SENTENCE})
    + _event(3, "citation", {"citation": _CITATION})
    + _event(4, "sources", {"sources": [_SOURCE]})
    + _event(5, "done", ANSWER)
)

MODEL: dict[str, Any] = {"id": "sextant", "object": "model", "created": 0, "owned_by": "sextant"}
MODELS: dict[str, Any] = {"object": "list", "data": [MODEL]}
CHAT: dict[str, Any] = {
    "model": f"sextant-mix:{GRAPH}",
    "messages": [{"role": "user", "content": _QUESTION}],
}
_ABOUT: dict[str, Any] = {
    "id": "chatcmpl-dc8fbcf26e5c5a2eee5878f5",
    "created": 1795339409,
    "model": f"sextant-mix:{GRAPH}",
}
COMPLETION: dict[str, Any] = {
    **_ABOUT,
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": ANSWER["answer"], "refusal": None},
            "finish_reason": "stop",
            "logprobs": None,
        }
    ],
    "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "citations": [_CITATION],
    "sources": [_SOURCE],
    "sextant": {
        "mode": "mix",
        "effort": "medium",
        "attempts": 0,
        "trust": "quoted",
        "grounded": False,
        "declined": False,
        "not_found": [],
        "warnings": [],
        "coded_warnings": [],
        "timings": {"retrieve": 15.7, "generate": 84.8},
    },
}
_CHUNK = {
    **_ABOUT,
    "object": "chat.completion.chunk",
    "choices": [{"index": 0, "delta": {"content": _SENTENCE}, "finish_reason": None}],
}
CHUNKS = f"data: {orjson.dumps(_CHUNK).decode()}\n\ndata: [DONE]\n\n"

THREADS: dict[str, Any] = {
    "threads": [
        {
            "threadId": THREAD_ID,
            "title": _QUESTION,
            "createdAt": "2026-11-22T09:30:00Z",
            "updatedAt": "2026-11-22T09:31:07Z",
        }
    ],
    "nextCursor": None,
}
_SAID: dict[str, Any] = {
    "mode": "",
    "trust": "unsupported",
    "grounded": False,
    "declined": False,
    "citations": [],
    "sources": [],
}
THREAD: dict[str, Any] = {
    "threadId": THREAD_ID,
    "turns": [
        {"role": "user", "text": _QUESTION, **_SAID, "warnings": []},
        {
            "role": "assistant",
            "text": ANSWER["answer"],
            "mode": "mix",
            "trust": "quoted",
            "grounded": False,
            "declined": False,
            "citations": [_CITATION],
            "sources": [
                {name: value for name, value in _SOURCE.items() if name not in {"text", "lanes"}}
            ],
            "warnings": [],
        },
    ],
}
