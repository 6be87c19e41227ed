"""Which optional parts of the OpenAI API an endpoint understands, learnt from its refusals.

Endpoints that call themselves compatible differ: some know `response_format: json_schema` (OpenAI,
vLLM, Ollama, llama.cpp), some only `json_object` (DeepSeek), some neither; some refuse
`stream_options`. A request is made with everything first and, when it is refused as invalid,
repeated with less; what was refused is not sent again.
"""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from models.failures import is_too_long, status_of
from models.structured import json_schema

_INVALID_REQUEST = frozenset({400, 415, 422})
_JSON_FORMATS = ("json_schema", "json_object", None)


class Dialect:
    """The options that one chat model's calls may carry."""

    def __init__(self, llm: BaseChatModel) -> None:
        # Only LangChain's OpenAI client passes these options on; told by name, since importing it
        # to compare takes about a second.
        self._speaks_openai = "BaseChatOpenAI" in {cls.__name__ for cls in type(llm).__mro__}
        self._json_format = 0
        self._stream_usage = True

    def json_options(self, schema: type[BaseModel]) -> dict[str, Any]:
        """Options for a call that shall answer with JSON of `schema`."""
        if not self._speaks_openai:
            return {}
        kind = _JSON_FORMATS[self._json_format]
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
        return {"stream_usage": self._stream_usage} if self._speaks_openai else {}

    def learn(self, error: Exception, options: dict[str, Any]) -> bool:
        """Whether `error` may be about one of `options` and the call be repeated without it."""
        if status_of(error) not in _INVALID_REQUEST or is_too_long(error):
            return False
        if form := options.get("extra_body", {}).get("response_format"):
            refused = _JSON_FORMATS.index(form["type"])
            self._json_format = max(self._json_format, refused + 1)
            return True
        if options.get("stream_usage"):
            self._stream_usage = False
            return True
        # Refused without any of them: they were not the reason.
        self._json_format, self._stream_usage = 0, True
        return False
