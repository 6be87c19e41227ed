"""Which optional parts of the OpenAI API an endpoint understands, learnt from its refusals.

Endpoints that call themselves compatible differ: some know `response_format: json_schema` (OpenAI,
vLLM, Ollama, llama.cpp), some only `json_object` (DeepSeek), some neither; some refuse
`stream_options`. A request is made with everything first and, when it is refused as invalid,
repeated with less; what was refused is not sent again, by no chat model of this process that asks the
same endpoint for the same model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from models.failures import is_about_other_than, is_too_long, status_of
from models.structured import json_schema

_INVALID_REQUEST = frozenset({400, 415, 422})
_JSON_FORMATS = ("json_schema", "json_object", None)
# The fields of a request that `Dialect` adds; a refusal that names another is not about them.
_OURS = ("response_format", "stream", "stream_options")


@dataclass(slots=True)
class _Understood:
    """What an endpoint is known to take: the place in `_JSON_FORMATS`, and `stream_options`."""

    json_format: int = 0
    stream_usage: bool = True


# By endpoint and model; a process asks a handful of them, so nothing is ever taken out.
_UNDERSTOOD: dict[tuple[str, str], _Understood] = {}


class Dialect:
    """The options that one chat model's calls may carry."""

    def __init__(self, llm: BaseChatModel) -> None:
        # Only LangChain's OpenAI client passes these options on; told by name, since importing it
        # to compare takes about a second.
        self._speaks_openai = "BaseChatOpenAI" in {cls.__name__ for cls in type(llm).__mro__}
        endpoint = str(getattr(llm, "openai_api_base", None) or "")
        model = str(getattr(llm, "model_name", ""))
        self._known = _UNDERSTOOD.setdefault((endpoint, model), _Understood())

    def json_options(self, schema: type[BaseModel]) -> dict[str, Any]:
        """Options for a call that shall answer with JSON of `schema`."""
        if not self._speaks_openai:
            return {}
        kind = _JSON_FORMATS[self._known.json_format]
        # Without `stream` LangGraph's message stream would turn the call into a streamed one.
        options: dict[str, Any] = {"stream": False}
        form: dict[str, Any] = {"type": kind}
        if kind == "json_schema":
            form[kind] = {"name": schema.__name__, "schema": json_schema(schema)}
        if kind is not None:
            # In the body as it is: as an argument, the library walks through the schema and parses the
            # answer by itself, which doubled the time of a call.
            options["extra_body"] = {"response_format": form}
        return options

    def stream_options(self) -> dict[str, Any]:
        """Options for a streamed call."""
        return {"stream_usage": self._known.stream_usage} if self._speaks_openai else {}

    def learn(self, error: Exception, options: dict[str, Any]) -> bool:
        """Whether `error` may be about one of `options` and the call be repeated without it."""
        if status_of(error) not in _INVALID_REQUEST or is_too_long(error):
            return False
        if is_about_other_than(_OURS, error):
            return False
        if form := options.get("extra_body", {}).get("response_format"):
            refused = _JSON_FORMATS.index(form["type"])
            self._known.json_format = max(self._known.json_format, refused + 1)
            return True
        if options.get("stream_usage"):
            self._known.stream_usage = False
            return True
        # Refused without any of them: they were not the reason.
        self._known.json_format, self._known.stream_usage = 0, True
        return False
