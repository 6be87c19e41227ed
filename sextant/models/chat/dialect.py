"""Which optional parts of the OpenAI API an endpoint understands, learnt from its refusals.

Endpoints that call themselves compatible differ. `response_format: json_schema` is known to OpenAI, vLLM, Ollama and
llama.cpp, `json_object` alone to DeepSeek, neither to some. Some refuse `stream_options`, streams, a temperature of 0,
or a system message; the limit of an answer is called `max_tokens` or `max_completion_tokens`, and may be bounded.
Some break (500) at what they do not know.

A request is made with everything first. When it is refused as invalid, it is repeated with less. What then works is
what all chat models of this process begin with at this endpoint, for an hour: one refusal may be a mistake.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable
from pydantic import BaseModel

from sextant.models.chat import endpoint_memory
from sextant.models.chat.endpoint_memory import (
    BELIEVED,
    LEAST_CONTEXT,
    MAX_COMPLETION_TOKENS,
    MAX_TOKENS,
    ContextLimit,
    RequestForm,
)
from sextant.models.chat.structured import ModelReply, instruction, json_schema
from sextant.models.failures import (
    context_of,
    is_about_other_than,
    is_filtered,
    is_silence,
    is_too_long,
    is_transient,
    mentions,
    status_of,
    words_of,
)

_INVALID_REQUEST = frozenset({400, 415, 416, 422})
_JSON_FORMATS = ("json_schema", "json_object", None)
_WORDS_ALONE = len(_JSON_FORMATS) - 1
# How templates of models say that they take no system message, or none but turns.
_NO_SYSTEM = re.compile(
    r"\bsystem\W+(?:role|message|prompt|instruction)|['\"]system['\"]|\bdeveloper (?:instruction|message)"
    r"|\broles must alternate",
    re.I,
)
# How endpoints say that a model, or who asks it, may have no stream.
_NO_STREAM = re.compile(
    r"\bto stream\b|\bstream(?:ing)?\b[^.]{0,20}\bnot\b|\bnot\b[^.]{0,20}\bstream", re.I
)

# The fields of a request that `Dialect` adds; a refusal that names another is not about them.
_OURS = ("response_format", "stream", "stream_options")
# A prompt of which an endpoint says that it read less than this share was cut, and not only counted by another tokenizer.
_READ_SHARE, _LEAST_CUT = 1 / 2, 1000
_OPENAI = "openai.com"


def speaks_openai(llm: object) -> bool:
    """Return whether a model is LangChain's OpenAI client, or built on it: only these pass the options on."""
    # By name, since importing it to compare takes about a second.
    return "BaseChatOpenAI" in {cls.__name__ for cls in type(llm).__mro__}


class Dialect:
    """The options that one chat model's calls may carry.

    Args:
        llm: the model.
        answer_tokens: the token limit of each call; of a model that brings one, its own counts.
        json_only: only calls for JSON carry the limit, since the caller's own model bounds its texts itself.

    Attributes:
        known: what was learnt of the model.
    """

    def __init__(self, llm: BaseChatModel, answer_tokens: int, *, json_only: bool = False) -> None:
        self._speaks_openai = speaks_openai(llm)
        endpoint = _endpoint_of(llm)
        self._key = (
            endpoint or ("" if self._speaks_openai else type(llm).__name__),
            str(getattr(llm, "model_name", None) or getattr(llm, "model", "")),
        )
        self.known = endpoint_memory.MEMORY.of(*self._key)
        self._llm = llm
        # A call's `extra_body` replaces the model's.
        self._body = dict(getattr(llm, "extra_body", None) or {})
        self._json_tokens = None if _has_limit(llm, self._body) else answer_tokens
        self._text_tokens = None if json_only else self._json_tokens
        self._has_temperature = getattr(
            llm, "temperature", None
        ) is not None or "temperature" in _sent(llm, self._body)
        host = urlsplit(endpoint).hostname or _OPENAI
        limits = (MAX_TOKENS, MAX_COMPLETION_TOKENS)
        # Two names of one limit: OpenAI's newer models refuse the first, many compatible servers ignore the second.
        is_openai = host == _OPENAI or host.endswith(f".{_OPENAI}")
        if is_openai and self._speaks_openai:
            self.known.thinks_unopened = False  # it keeps thoughts apart
        self._whole = RequestForm(limits=limits[::-1] if is_openai else limits)

    @property
    def form(self) -> RequestForm:
        """Return the form in which a call is first made: with everything, or as it worked after refusals."""
        known = self.known
        return known.form if known.form and time.time() < known.until else self._whole

    def lower_limit(self, tokens: int | None) -> int | None:
        """Return a limit of answers if it is lower than the usual one and the model can answer within it; else None."""
        usual = self._json_tokens
        is_lower = tokens is not None and usual is not None and tokens < usual
        return tokens if is_lower and self._speaks_openai and not self.known.needs_room else None

    async def save_news(self) -> None:
        """Write what was learnt to the data folder, if it changed enough to matter to the next process."""
        if endpoint_memory.MEMORY.has_news(*self._key):
            await asyncio.to_thread(endpoint_memory.MEMORY.save, *self._key)

    async def learn_refused_length(self, error: Exception, prompt_tokens: int) -> None:
        """Note the context's length after a refusal as too long: the number in the refusal, else half of what was sent."""
        if is_too_long(error):
            asked = prompt_tokens + (self._text_tokens or 0)
            said = context_of(error) or 0
            tokens = said if said >= LEAST_CONTEXT else max(LEAST_CONTEXT, asked // 2)
            self.known.limit = ContextLimit.learnt_now(tokens)
            await self.save_news()

    def learn_read(self, read: int, prompt_tokens: int) -> bool:
        """Compare the tokens that an endpoint has read with those that were sent; return whether it has cut the prompt."""
        is_cut = prompt_tokens >= _LEAST_CUT and LEAST_CONTEXT <= read < _READ_SHARE * prompt_tokens
        if is_cut:
            self.known.limit = ContextLimit.learnt_now(read, is_cut=True)
        elif (known := self.known.context) and read > known.tokens:
            self.known.limit = None  # it was given more meanwhile
        return is_cut

    def worked(self, form: RequestForm, begun: RequestForm) -> None:
        """Note that a call was answered in `form`, so that the next ones begin with it.

        A call that began in that form proves nothing new: it may have begun an hour ago.
        """
        if form == begun:
            return
        known = self.form
        self.known.form = RequestForm(
            max(known.json_format, form.json_format),
            known.stream_usage and form.stream_usage,
            min(known.limits, form.limits, key=len),
            known.temperature and form.temperature,
            known.system and form.system,
            known.streams and form.streams,
        )
        self.known.until = time.time() + BELIEVED

    def options(
        self, form: RequestForm, body: dict[str, Any] | None = None, tokens: int | None = None
    ) -> dict[str, Any]:
        """Return the options of a call: the fields of its body, and the limit of its answer."""
        if not self._speaks_openai:
            return {}
        if tokens and (context := self.known.context):
            tokens = min(tokens, context.for_answer)
        limit = {form.limits[0]: tokens} if tokens and form.limits else {}
        # A body that says so comes whole: the client asks for a stream in any case.
        whole = {} if form.streams else {"stream": False}
        sent = self._body | limit | whole | (body or {})
        usage = {"stream_usage": form.stream_usage and form.streams}
        return usage | ({"extra_body": sent} if sent else {})

    def text_options(self, form: RequestForm, answer_tokens: int | None = None) -> dict[str, Any]:
        """Return the options of a call for text, in so many tokens or the usual limit."""
        return self.options(form, tokens=answer_tokens or self._text_tokens)

    def states_schema(self, form: RequestForm) -> bool:
        """Return whether a call for JSON carries the schema beside its messages."""
        return self._speaks_openai and _JSON_FORMATS[form.json_format] == "json_schema"

    def bind_schema(self, schema: type[BaseModel], form: RequestForm) -> Runnable[Any, Any] | None:
        """Return another provider's model bound to a schema by LangChain; None where its class cannot be bound.

        It answers with a mapping whose `raw` is the message.
        """
        if self._speaks_openai or _JSON_FORMATS[form.json_format] != "json_schema":
            return None
        named = {"title": schema.__name__, "description": "", **json_schema(schema)}
        try:
            return self._llm.with_structured_output(named, method="json_schema", include_raw=True)
        except Exception:  # noqa: BLE001 - each class refuses in its own way
            return None

    def json_options(
        self, schema: type[BaseModel], form: RequestForm, answer_tokens: int | None = None
    ) -> dict[str, Any]:
        """Return options for a call that shall answer with JSON of `schema`, in so many tokens or the usual limit."""
        kind = _JSON_FORMATS[form.json_format]
        asked: dict[str, Any] = {"type": kind}
        if kind == "json_schema":
            asked[kind] = {"name": schema.__name__, "schema": json_schema(schema)}
        # In the body: as an argument, the library would walk through the schema and parse the answer itself, which
        # doubled the time of a call.
        body: dict[str, Any] = {} if kind is None else {"response_format": asked}
        if form.temperature and not self._has_temperature and not self.known.thinks_unopened:
            body["temperature"] = 0  # models that think repeat themselves without end at 0
        return self.options(form, body, answer_tokens or self._json_tokens)

    def lesser(
        self, error: Exception, options: dict[str, Any], form: RequestForm
    ) -> RequestForm | None:
        """Return the form to repeat a call in, if `error` may be about one of its `options` or its system message."""
        status, body = status_of(error), options.get("extra_body", {})
        if status not in (*_INVALID_REQUEST, 500) or is_too_long(error) or is_filtered(error):
            return None
        limited = status in _INVALID_REQUEST and any(name in body for name in form.limits[:1])
        if limited and (mentions(MAX_TOKENS, error) or mentions(MAX_COMPLETION_TOKENS, error)):
            # Unknown by this name, or too large.
            return replace(form, limits=form.limits[1:])
        if form.streams and _NO_STREAM.search(words_of(error)):
            return replace(form, streams=False)
        if self._speaks_openai and form.system and _NO_SYSTEM.search(words_of(error)):
            return replace(form, system=False)
        if status != 500:
            return self._without_refused(error, options, body, form)
        # A server that breaks at `response_format` would do so each time.
        has_format = "response_format" in body
        return replace(form, json_format=_WORDS_ALONE) if has_format else None

    def _without_refused(
        self, error: Exception, options: dict[str, Any], body: dict[str, Any], form: RequestForm
    ) -> RequestForm | None:
        """Return the form without the option that a refusal names, or may be about."""
        has_temperature = form.temperature and not self._has_temperature and "temperature" in body
        if has_temperature and mentions("temperature", error):
            return replace(form, temperature=False)
        if is_about_other_than(_OURS, error):
            return None
        if "response_format" in body:
            return _with_lesser_json(form, error)
        return replace(form, stream_usage=False) if options.get("stream_usage") else None

    def lesser_than_bound(self, error: Exception, form: RequestForm) -> RequestForm | None:
        """Return the form without a schema that was bound, if `error` may be about that."""
        if (status := status_of(error)) is None:
            is_ours = not (is_transient(error) or is_silence(error))
        else:
            is_ours = status in _INVALID_REQUEST and not is_too_long(error)
            is_ours = is_ours and not is_about_other_than(_OURS, error)
        return replace(form, json_format=_WORDS_ALONE) if is_ours else None


def arrange(messages: list[BaseMessage], form: RequestForm) -> list[BaseMessage]:
    """Return a prompt as it is sent: without a system message where the endpoint takes none."""
    if form.system or len(messages) < 2 or not isinstance(messages[0], SystemMessage):
        return messages
    system, first, *others = messages
    if not isinstance(first, HumanMessage):
        return messages
    content = first.content
    longer = (
        f"{system.text}\n\n{content}"
        if isinstance(content, str)
        else [{"type": "text", "text": system.text}, *content]
    )
    return [first.model_copy(update={"content": longer}), *others]


def _with_lesser_json(form: RequestForm, error: Exception) -> RequestForm:
    """Return the form with the next way to ask for JSON; what nobody named goes with the last."""
    lesser = form.json_format + 1
    is_vague = _JSON_FORMATS[lesser] is None and not mentions("response_format", error)
    return replace(form, json_format=lesser, temperature=form.temperature and not is_vague)


def _endpoint_of(llm: BaseChatModel) -> str:
    """Return the base URL of a model of OpenAI's family; "" for OpenAI's own, and for other providers.

    Classes that are built on LangChain's have the URL in fields of their own, and their client has it.
    """
    if given := getattr(llm, "openai_api_base", None):
        return str(given)
    url = str(getattr(getattr(llm, "root_async_client", None), "base_url", ""))
    return "" if urlsplit(url).hostname == f"api.{_OPENAI}" else url


def _has_limit(llm: BaseChatModel, body: dict[str, Any]) -> bool:
    """Return whether the model itself says how long its answers may be."""
    sent = _sent(llm, body)
    return bool(getattr(llm, "max_tokens", None)) or not sent.isdisjoint(RequestForm().limits)


def _sent(llm: BaseChatModel, body: dict[str, Any]) -> set[str]:
    """Return the further fields that the model sends with every call."""
    return body.keys() | (getattr(llm, "model_kwargs", None) or {}).keys()


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A call as it is made; `bound` is asked instead of the plain model, where there is such."""

    messages: list[BaseMessage]
    options: dict[str, Any]
    bound: Runnable[Any, Any] | None = None
    is_json: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked for: text, or JSON of a schema.

    Attributes:
        prompt: the messages.
        dialect: of the model.
        answer_tokens: the limit of the answer; None: the usual one.
        schema: of the JSON; None: text is asked for.
        language: of the instructions for JSON.
        repair: what was wrong with the last answer, for a second one.
    """

    prompt: list[BaseMessage]
    dialect: Dialect
    answer_tokens: int | None = None
    schema: type[ModelReply] | None = None
    language: str = "en"
    repair: str = ""

    def send(self, form: RequestForm) -> SentRequest:
        """Return the call in a form; the prompt states the schema where the request does not."""
        dialect, schema = self.dialect, self.schema
        if schema is None:
            options = dialect.text_options(form, self.answer_tokens)
            return SentRequest(arrange(self.prompt, form), options)
        stated = dialect.states_schema(form)
        text = instruction(schema, self.language, with_schema=not stated)
        text = f"{text}\n\n{self.repair}" if self.repair else text
        messages = arrange(_with_instruction(self.prompt, text), form)
        options = dialect.json_options(schema, form, self.answer_tokens)
        return SentRequest(messages, options, dialect.bind_schema(schema, form), is_json=True)


def _with_instruction(prompt: list[BaseMessage], text: str) -> list[BaseMessage]:
    """Return `prompt` with `text` appended to its last message; chat templates want user and assistant to take turns."""
    *before, last = prompt
    content = last.content
    longer = (
        f"{content}\n\n{text}"
        if isinstance(content, str)
        else [*content, {"type": "text", "text": text}]
    )
    return [*before, last.model_copy(update={"content": longer})]
