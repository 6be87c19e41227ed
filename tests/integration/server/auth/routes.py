"""Every route that demands something: what it demands, and how it answers its owner and a stranger.

A stranger is another user with every permission, who asks for the owner's ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sextant.domain.scope import Permission

GRAPH = "shared"
READ, INGEST, ADMIN = Permission
QUESTION = "Who signs the contract of the Northern office?"
MCP = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
LINES = {"Content-Type": "application/x-ndjson"}


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids of one user, that others may try, too."""

    document: str
    entity: str
    chunk: str
    run: str
    graph: str = GRAPH
    thread: str = "about contracts"


Sent = Callable[[Ids], dict[str, Any]]


def nothing(_: Ids) -> dict[str, Any]:
    return {}


def of_graph(ids: Ids) -> dict[str, Any]:
    return {"params": {"graphId": ids.graph}}


@dataclass(frozen=True, slots=True)
class Row:
    """One route.

    Attributes:
        path: as the application knows it, with its parameters in braces.
        send: what goes with a request.
        owner: status of the owner's request.
        stranger: status of the same request by a stranger: as if nothing were there.
        ends: whether the owner's request does away with what it names.
    """

    method: str
    path: str
    permission: Permission
    owner: int
    stranger: int
    send: Sent = nothing
    ends: bool = False

    def url(self, ids: Ids) -> str:
        """Return the path with these ids in it."""
        told = {
            "documentId": ids.document, "entityId": ids.entity, "runId": ids.run,
            "graphId:path": ids.graph, "threadId:path": ids.thread, "model:path": "sextant", "page": "1",
        }  # fmt: skip
        path = self.path
        for name, value in told.items():
            path = path.replace("{" + name + "}", value)
        return path


def asking(**more: Any) -> Sent:
    return lambda ids: {"json": {"query": QUESTION, "graphId": ids.graph} | more}


def in_thread(ids: Ids) -> dict[str, Any]:
    """Return a question of a conversation: of the asker's own, whosever name it has."""
    return {
        "json": {
            "query": QUESTION, "graphId": ids.graph, "mode": "naive", "threadId": ids.thread
        }
    }  # fmt: skip


def calling(name: str, **arguments: Any) -> Sent:
    """Return a call of a tool, whose ids are the owner's."""

    def call(ids: Ids) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments | {"graph_id": ids.graph}}
        return {"headers": MCP, "json": LIST_TOOLS | {"method": "tools/call", "params": params}}

    return call


def chat(ids: Ids) -> dict[str, Any]:
    said = [{"role": "user", "content": QUESTION}]
    return {"json": {"model": "sextant-naive", "messages": said, "graph_id": ids.graph}}


def decision(ids: Ids) -> dict[str, Any]:
    return {"json": {"threadId": ids.thread, "decisions": [{"type": "approve"}]}}


def tools(_: Ids) -> dict[str, Any]:
    return {"headers": MCP, "json": LIST_TOOLS}


def text(ids: Ids) -> dict[str, Any]:
    return {"json": {"text": "The office has a door.", "title": "door", "graphId": ids.graph}}


def title(_: Ids) -> dict[str, Any]:
    return {"json": {"title": "Doors"}}


def lines(_: Ids) -> dict[str, Any]:
    return {"headers": LINES, "content": b'{"type": "entity", "name": "door"}\n'}


TABLE = (
    Row("POST", "/api/query", READ, 200, 404, in_thread),
    Row("POST", "/api/query/resume", READ, 404, 404, decision),  # nothing stopped there
    Row("GET", "/api/threads", READ, 200, 200),
    Row("GET", "/api/threads/{threadId:path}", READ, 200, 404),
    Row("PATCH", "/api/threads/{threadId:path}", READ, 204, 404, title),
    Row("DELETE", "/api/threads/{threadId:path}", READ, 204, 404, ends=True),
    Row("GET", "/api/query/{runId}/events", READ, 200, 404),
    Row("DELETE", "/api/query/{runId}", READ, 204, 404),
    Row("GET", "/v1/models", READ, 200, 200),
    Row("GET", "/v1/models/{model:path}", READ, 200, 200),
    Row("POST", "/v1/chat/completions", READ, 200, 404, chat),
    Row("POST", "/search", READ, 200, 404, asking(limit=5, includeNeighbors=True)),
    Row("POST", "/api/knowledge/entities/search", READ, 200, 404, asking()),
    Row("GET", "/api/knowledge/entities/duplicates", READ, 200, 404, of_graph),
    Row("GET", "/api/knowledge/entities/{entityId}", READ, 200, 404, of_graph),
    Row("GET", "/api/knowledge/graph", READ, 200, 404, of_graph),
    Row("GET", "/api/knowledge/communities", READ, 200, 404, of_graph),
    Row("GET", "/documents/{documentId}/structure", READ, 200, 404, of_graph),
    Row("POST", "/documents", INGEST, 202, 202, text),
    Row("GET", "/documents", READ, 200, 404, of_graph),
    Row("GET", "/documents/{documentId}", READ, 200, 404),
    Row("DELETE", "/documents/{documentId}", INGEST, 204, 404, ends=True),
    Row("POST", "/documents/{documentId}/retry", INGEST, 409, 404),
    Row("POST", "/documents/{documentId}/cancel", INGEST, 409, 404),
    Row("GET", "/documents/{documentId}/events", READ, 200, 404),
    Row("GET", "/documents/{documentId}/text", READ, 200, 404),
    Row("GET", "/documents/{documentId}/boxes", READ, 200, 404),
    Row(
        "GET", "/documents/{documentId}/pages/{page}", READ, 404, 404
    ),  # imported, so without a file
    Row("GET", "/documents/{documentId}/file", READ, 404, 404),  # the same
    Row("GET", "/api/graphs", READ, 200, 200),
    Row("POST", "/api/graphs/{graphId:path}/import", INGEST, 200, 200, lines),
    Row("GET", "/api/graphs/{graphId:path}/export", READ, 200, 404),
    Row("GET", "/api/graphs/{graphId:path}/questions", READ, 200, 404),
    Row("DELETE", "/api/graphs/{graphId:path}", ADMIN, 204, 404, ends=True),
    Row("GET", "/metrics", ADMIN, 200, 200),
    Row("POST", "/mcp", READ, 200, 200, tools),
    Row("POST", "/mcp-compat", READ, 200, 200, tools),
)
