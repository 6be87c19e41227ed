"""Which optional parts of the OpenAI API an endpoint understands, learnt from its refusals.

Endpoints that call themselves compatible differ: some know `response_format: json_schema` (OpenAI,
vLLM, Ollama, llama.cpp), some only `json_object` (DeepSeek), some neither; some refuse
`stream_options`; some call the limit of an answer `max_tokens`, some `max_completion_tokens`. A request is
made with everything first and, when it is refused as invalid, repeated with less; what then works is what
all chat models of this process that ask the same endpoint for the same model begin with, for an hour: an
endpoint that refused what it takes, once, is not held to it.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, TypeAdapter

from sextant.models.chat.structured import json_schema
from sextant.models.failures import is_about_other_than, is_too_long, mentions, status_of

_INVALID_REQUEST = frozenset({400, 415, 422})
_JSON_FORMATS = ("json_schema", "json_object", None)
# The fields of a request that `Dialect` adds; a refusal that names another is not about them.
_OURS = ("response_format", "stream", "stream_options")
# What endpoints call the most tokens of an answer. OpenAI's newer models refuse the first; many compatible
# servers know nothing else, and ignore the second without a word.
_MAX_TOKENS, _MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
_OPENAI = "openai.com"


@dataclass(frozen=True, slots=True)
class RequestForm:
    """With what a request is made.

    Attributes:
        json_format: index into `_JSON_FORMATS`.
        stream_usage: whether a stream is asked for its usage.
        limits: names of the token limit that were not refused; the first is used.
    """

    json_format: int = 0
    stream_usage: bool = True
    limits: tuple[str, ...] = (_MAX_TOKENS, _MAX_COMPLETION_TOKENS)


@dataclass(slots=True)
class _Learnt:
    """What is known of one model of one endpoint.

    Attributes:
        form: the form that works.
        until: when that is no longer believed, by `time.monotonic`.
        thinks_unopened: whether its answers begin with a thought that no tag opens; None: too few are known.
        plain_answers: how many of these there were, all without such a thought.
    """

    form: RequestForm | None = None
    until: float = 0.0
    thinks_unopened: bool | None = None
    plain_answers: int = 0


# Seconds after which a call is made with everything again: a refused request an hour costs nothing.
_BELIEVED = 3600.0
# By endpoint and model; a process asks a handful of them, so nothing is taken out.
_LEARNT: dict[tuple[str, str], _Learnt] = {}
# Where what is known of thoughts outlasts the process; None: nowhere.
_MEMORY: list[Path] = []
# By endpoint and model whether it thinks so, or the number of answers that do not tell yet.
_MEMORY_FORMAT = TypeAdapter(dict[str, dict[str, bool | int]])
# Models may think before one answer and not before the next, so it takes some to believe that one does not.
_PLAIN_ANSWERS, _PLAIN_ANSWERS_OF_THINKING = 3, 10
_THINKING_NAME = re.compile(
    r"(?<![a-z])(?:r1|qwq|qwen-?3|glm-?(?:4\.[5-9]|z1)|gpt-oss|magistral|minimax-?m\d|exaone-deep|nemotron|k2)(?![a-z])"
    r"|think|reason",
    re.IGNORECASE,
)


def remember_in(file: Path) -> None:
    """Begin with what other processes have learnt of endpoints, and write there what this one learns."""
    _MEMORY[:] = [file]
    for endpoint, models in _read_memory(file).items():
        for model, known in models.items():
            learnt = _Learnt()
            if isinstance(known, bool):
                learnt.thinks_unopened = known
            else:
                learnt.plain_answers = known
            _LEARNT.setdefault((endpoint, model), learnt)


def _read_memory(file: Path) -> dict[str, dict[str, bool | int]]:
    try:
        return _MEMORY_FORMAT.validate_json(file.read_bytes())
    except (OSError, ValueError):
        return {}


def _write_memory(endpoint: str, model: str, learnt: _Learnt) -> None:
    """Add to the file what was learnt; who cannot write learns it again in the next process."""
    for file in _MEMORY:
        known = _read_memory(file)
        thinks = learnt.thinks_unopened
        known.setdefault(endpoint, {})[model] = learnt.plain_answers if thinks is None else thinks
        with suppress(OSError):
            whole = file.with_suffix(f".{os.getpid()}")
            whole.write_bytes(_MEMORY_FORMAT.dump_json(known))
            whole.replace(file)


class Dialect:
    """The options that one chat model's calls may carry.

    Args:
        llm: the model.
        answer_tokens: the token limit of each call; of a model that brings one, its own counts.
        json_only: only calls for JSON carry it; how long its texts are is between the model and whoever made it.
    """

    def __init__(self, llm: BaseChatModel, answer_tokens: int, *, json_only: bool = False) -> None:
        # Only LangChain's OpenAI client passes these options on; told by name, since importing it
        # to compare takes about a second.
        self._speaks_openai = "BaseChatOpenAI" in {cls.__name__ for cls in type(llm).__mro__}
        endpoint = str(getattr(llm, "openai_api_base", None) or "")
        self._key = (
            endpoint or ("" if self._speaks_openai else type(llm).__name__),
            str(getattr(llm, "model_name", None) or getattr(llm, "model", "")),
        )
        self._learnt = _LEARNT.setdefault(self._key, _Learnt())
        # A call's `extra_body` replaces the model's.
        self._body = dict(getattr(llm, "extra_body", None) or {})
        self._json_tokens = None if _has_limit(llm, self._body) else answer_tokens
        self._text_tokens = None if json_only else self._json_tokens
        host = urlsplit(endpoint).hostname or _OPENAI
        limits = (_MAX_TOKENS, _MAX_COMPLETION_TOKENS)
        is_openai = host == _OPENAI or host.endswith(f".{_OPENAI}")
        self._keeps_thoughts_apart = is_openai and self._speaks_openai
        self._whole = RequestForm(limits=limits[::-1] if is_openai else limits)

    @property
    def form(self) -> RequestForm:
        """Return what a call begins with: with everything, or what worked after refusals."""
        known = self._learnt
        return known.form if known.form and time.monotonic() < known.until else self._whole

    @property
    def thinks_unopened(self) -> bool | None:
        """Return whether answers begin with a thought that ends in a tag but does not begin with one; None: not known.

        OpenAI keeps thoughts apart.
        """
        known = self._learnt.thinks_unopened
        return False if known is None and self._keeps_thoughts_apart else known

    def learn_thoughts(self, *, unopened: bool) -> None:
        """Note whether an answer began with such a thought: one that did tells for good, one that did not tells little."""
        learnt = self._learnt
        if learnt.thinks_unopened or (learnt.thinks_unopened is False and not unopened):
            return
        if unopened:
            learnt.thinks_unopened = True
        else:
            learnt.plain_answers += 1
            may_think = _THINKING_NAME.search(self._key[1])
            enough = _PLAIN_ANSWERS_OF_THINKING if may_think else _PLAIN_ANSWERS
            learnt.thinks_unopened = False if learnt.plain_answers >= enough else None
        _write_memory(*self._key, learnt)

    def worked(self, form: RequestForm, begun: RequestForm) -> None:
        """Note that a call was answered in `form`, so that the next ones begin with no more.

        One that was in that form from its beginning has learnt nothing: it may have begun an hour ago.
        """
        if form == begun:
            return
        known = self.form
        self._learnt.form = RequestForm(
            max(known.json_format, form.json_format),
            known.stream_usage and form.stream_usage,
            min(known.limits, form.limits, key=len),
        )
        self._learnt.until = time.monotonic() + _BELIEVED

    def options(self, form: RequestForm) -> dict[str, Any]:
        """Return options for a call that answers in one piece."""
        return self._carrying({}, self._text_tokens, form) if self._speaks_openai else {}

    def states_schema(self, form: RequestForm) -> bool:
        """Return whether a call for JSON carries the schema beside its messages."""
        return self._speaks_openai and _JSON_FORMATS[form.json_format] == "json_schema"

    def json_options(self, schema: type[BaseModel], form: RequestForm) -> dict[str, Any]:
        """Return options for a call that shall answer with JSON of `schema`."""
        if not self._speaks_openai:
            return {}
        kind = _JSON_FORMATS[form.json_format]
        asked: dict[str, Any] = {"type": kind}
        if kind == "json_schema":
            asked[kind] = {"name": schema.__name__, "schema": json_schema(schema)}
        # In the body as it is: as an argument, the library walks through the schema and parses the
        # answer by itself, which doubled the time of a call.
        body = {} if kind is None else {"response_format": asked}
        # Without `stream` LangGraph's message stream would turn the call into a streamed one.
        return {"stream": False} | self._carrying(body, self._json_tokens, form)

    def stream_options(self, form: RequestForm) -> dict[str, Any]:
        """Return options for a streamed call."""
        if not self._speaks_openai:
            return {}
        return {"stream_usage": form.stream_usage} | self._carrying({}, self._text_tokens, form)

    def lesser(
        self, error: Exception, options: dict[str, Any], form: RequestForm
    ) -> RequestForm | None:
        """Return the form to repeat a call in, if `error` may be about one of its `options`."""
        if status_of(error) not in _INVALID_REQUEST or is_too_long(error):
            return None
        body = options.get("extra_body", {})
        if any(limit in body and mentions(limit, error) for limit in form.limits[:1]):
            return replace(form, limits=form.limits[1:])
        if is_about_other_than(_OURS, error):
            return None
        if "response_format" in body:
            return replace(form, json_format=form.json_format + 1)
        if options.get("stream_usage"):
            return replace(form, stream_usage=False)
        return None

    def _carrying(
        self, body: dict[str, Any], tokens: int | None, form: RequestForm
    ) -> dict[str, Any]:
        """Return `body` with the token limit and what the model sends with every call, as an option."""
        limit = {form.limits[0]: tokens} if tokens and form.limits else {}
        body = self._body | limit | body
        return {"extra_body": body} if body else {}


def _has_limit(llm: BaseChatModel, body: dict[str, Any]) -> bool:
    """Return whether the model itself says how long its answers may be."""
    sent = body.keys() | (getattr(llm, "model_kwargs", None) or {}).keys()
    return bool(getattr(llm, "max_tokens", None)) or not sent.isdisjoint(RequestForm().limits)
