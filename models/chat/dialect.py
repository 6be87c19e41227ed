"""Which optional parts of the OpenAI API an endpoint understands, learnt from its refusals.

Endpoints that call themselves compatible differ: some know `response_format: json_schema` (OpenAI,
vLLM, Ollama, llama.cpp), some only `json_object` (DeepSeek), some neither; some refuse
`stream_options`. A request is made with everything first and, when it is refused as invalid,
repeated with less; what then works is what all chat models of this process that ask the same endpoint for
the same model begin with, for an hour: an endpoint that refused what it takes, once, is not held to it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from models.chat.structured import json_schema
from models.failures import is_about_other_than, is_too_long, status_of

_INVALID_REQUEST = frozenset({400, 415, 422})
_JSON_FORMATS = ("json_schema", "json_object", None)
# The fields of a request that `Dialect` adds; a refusal that names another is not about them.
_OURS = ("response_format", "stream", "stream_options")


@dataclass(frozen=True, slots=True)
class Form:
    """With what a request is made: the place in `_JSON_FORMATS`, and whether the usage is asked for."""

    json_format: int = 0
    stream_usage: bool = True


# Seconds after which a call is made with everything again: a refused request an hour costs nothing.
_BELIEVED = 3600.0
# The form that works and until when that is believed, by endpoint and model; a process asks a handful of
# them, so nothing is taken out.
_WORKS: dict[tuple[str, str], tuple[Form, float]] = {}


class Dialect:
    """The options that one chat model's calls may carry."""

    def __init__(self, llm: BaseChatModel) -> None:
        # Only LangChain's OpenAI client passes these options on; told by name, since importing it
        # to compare takes about a second.
        self._speaks_openai = "BaseChatOpenAI" in {cls.__name__ for cls in type(llm).__mro__}
        endpoint = str(getattr(llm, "openai_api_base", None) or "")
        self._whose = (endpoint, str(getattr(llm, "model_name", "")))

    @property
    def form(self) -> Form:
        """What a call begins with: with everything, or what worked after refusals."""
        form, until = _WORKS.get(self._whose, (Form(), 0.0))
        return form if time.monotonic() < until else Form()

    def worked(self, form: Form, begun: Form) -> None:
        """Note that a call was answered in `form`, so that the next ones begin with no more.

        One that was in that form from its beginning has learnt nothing: it may have begun an hour ago.
        """
        if form == begun:
            return
        known = self.form
        less = Form(
            max(known.json_format, form.json_format), known.stream_usage and form.stream_usage
        )
        _WORKS[self._whose] = less, time.monotonic() + _BELIEVED

    def json_options(self, schema: type[BaseModel], form: Form) -> dict[str, Any]:
        """Options for a call that shall answer with JSON of `schema`."""
        if not self._speaks_openai:
            return {}
        kind = _JSON_FORMATS[form.json_format]
        # Without `stream` LangGraph's message stream would turn the call into a streamed one.
        options: dict[str, Any] = {"stream": False}
        asked: dict[str, Any] = {"type": kind}
        if kind == "json_schema":
            asked[kind] = {"name": schema.__name__, "schema": json_schema(schema)}
        if kind is not None:
            # In the body as it is: as an argument, the library walks through the schema and parses the
            # answer by itself, which doubled the time of a call.
            options["extra_body"] = {"response_format": asked}
        return options

    def stream_options(self, form: Form) -> dict[str, Any]:
        """Options for a streamed call."""
        return {"stream_usage": form.stream_usage} if self._speaks_openai else {}

    def lesser(self, error: Exception, options: dict[str, Any], form: Form) -> Form | None:
        """The form to repeat a call in, if `error` may be about one of its `options`."""
        if status_of(error) not in _INVALID_REQUEST or is_too_long(error):
            return None
        if is_about_other_than(_OURS, error):
            return None
        if "response_format" in options.get("extra_body", {}):
            return replace(form, json_format=form.json_format + 1)
        if options.get("stream_usage"):
            return replace(form, stream_usage=False)
        return None
