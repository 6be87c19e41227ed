"""Read failed model calls: whether another try is worth while, when, and what to tell a person."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, TypeVar

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ContextTooLong,
    ModelOutputInvalid,
    ModelRejected,
    ModelUnavailable,
    SextantError,
    Wording,
)
from sextant.models import wordings
from sextant.text.characters import clean_text

_log = logging.getLogger(__name__)

E = TypeVar("E", bound=SextantError)

# 408, 425 and 429 ask for another try (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4); 409 is how servers say that a
# model is being loaded, and 424 that it failed; 5xx is the server's fault, save 501: what is not implemented now will
# not be in a second.
_TRANSIENT_STATUS = frozenset({408, 409, 424, 425, 429, *range(500, 600)} - {501})
# Base classes of "no answer came" in httpx, openai and anthropic. By name: the packages are heavy to import, and may
# not be installed.
_CONNECTION_ERRORS = frozenset({"TransportError", "APIConnectionError"})
# Their causes where no connection could be made.
_NO_CONNECTION = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"})
# Redirects that are not followed, by what is raised instead.
_REDIRECTS = {
    "InsecureRedirect": wordings.REDIRECTED_IN_CLEAR,
    "TooManyRedirects": wordings.REDIRECTED_IN_CIRCLES,
}
# LangChain's classes, for providers whose errors carry no status.
_LANGCHAIN_STATUS = {
    "ModelAuthenticationError": 401,
    "ModelPermissionDeniedError": 403,
    "ModelNotFoundError": 404,
    "ModelRateLimitError": 429,
    "ModelInvalidRequestError": 400,
    "ModelAPIError": 500,
}
# Codes of errors in answers of status 200.
_STATUS_OF_CODE = {
    "invalid_api_key": 401,
    "insufficient_quota": 402,
    "rate_limit_exceeded": 429,
    "server_error": 500,
}
# How endpoints say that a key is wrong, or that they have no such model, by a status that means something else.
_MEANT_STATUS = {
    401: re.compile(r"\bAPI key not valid\b|\bincorrect API key\b", re.IGNORECASE),
    404: re.compile(r"\bmodel_not_found\b|\bModel does not exist\b|无可用渠道"),
}
# What clients raise at an answer that is no JSON, or JSON of another shape.
_NOT_OF_THE_API = (ValueError, TypeError, AttributeError, LookupError)
# How endpoints say that a prompt exceeds the context, or the tokens of a minute.
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|\btoo (?:long|large)\b|\btoo many tokens: |\binput length\b"
    r"|超长|过长|(?:token|长度|上下文)[^。]{0,8}超[过出限]|超[过出][^。]{0,12}(?:token|长度|上下文)"
    r"|(?:\bprompt|tokens?\b|\blength\b|`inputs`|\brequest )[^.]{0,60}(?:exceed|longer than|less than|<=)",
    re.IGNORECASE,
)
_ANSWER_LIMIT = re.compile(r"\bmax_(?:completion_)?tokens\b", re.ASCII)
# How they tell its length: llama.cpp's field `n_ctx`, "maximum context length is 4096", "context window of 2048",
# "context size (4096 tokens)", Anthropic's "208310 tokens > 200000 maximum", Hugging Face's "must be <= 4096".
_CONTEXT = re.compile(
    r"\bn_ctx\W+(\d+)|\bcontext[ _](?:length|window|size)[^.\d]{0,20}(\d+)|> ?(\d+) maximum|\bmust be <= ?(\d+)",
    re.IGNORECASE,
)
# How endpoints say that an account is empty, whatever the status.
_NO_MONEY = re.compile(
    r"\bbalance\b|\bArrearage\b|\bFreeTierOnly\b|\bbudget has been exceeded\b|欠费|余额不足|(?:额度|余量)(?:已用尽|不足|失败)",
    re.IGNORECASE,
)
# "Please try again in 1m30.5s", "Please retry after 20 seconds"
_TRY_AGAIN = re.compile(r"\b(?:try again|retry) (?:in|after) (?:(\d+)m)?(\d+(?:\.\d+)?) ?s", re.I)
# How endpoints say that a filter stopped the prompt or the answer.
_FILTERED = re.compile(
    r"content[ _](?:filter|(?:management )?policy)|inspection_failed|inappropriate content|requires moderation"
    r"|SensitiveContent|blocked due to safety|censorship|敏感内容",
    re.IGNORECASE,
)
_MESSAGE = re.compile(r"(?:^|_)(?:message|msg|detail)$")
# 'input': {'messages': […]}, input_value='…'
_REPEATED = re.compile(
    r"""(?s)\b(?:input(?:_value)?|messages|prompt)\\?['"]?\s?[:=]\s?(?:[{\[].*|(?P<quote>\\?['"])(?:\\.|[^\\])*?(?P=quote))"""
)


@dataclass(frozen=True, slots=True)
class Service:
    """A model endpoint as error messages name it, with the settings that choose it.

    `label_zh` is its name in Chinese. `secret` is its key, which some endpoints repeat in their answers.
    """

    label: str
    model_setting: str = "the model's name"
    key_setting: str = "the API key"
    url_setting: str = "the base URL"
    timeout_setting: str = "SEXTANT_MODEL_TIMEOUT"
    length_setting: str = "SEXTANT_LIMITS__CONTEXT_TOKENS"
    label_zh: str = ""
    secret: str = field(default="", repr=False)

    def error(self, kind: type[E], wordings: Mapping[str, Wording], **known: object) -> E:
        """Return an error about this endpoint that says this (`sextant.models.wordings`), filled with what is `known`."""
        known |= {
            "model": self.model_setting,
            "key": self.key_setting,
            "url": self.url_setting,
            "timeout": self.timeout_setting,
            "length": self.length_setting,
        }
        names = {"en": f"The {self.label}", "zh": self.label_zh or self.label}
        if "detail" in known:  # the sentence has a full stop of its own
            known["detail"] = str(known["detail"]).rstrip(" .。")
        return kind.worded(
            {
                language: Wording(
                    f"{names[language]} {message.format(**known)}", step.format(**known)
                )
                for language, (message, step) in wordings.items()
            }
        )


def redact(text: str, secret: str) -> str:
    """Return `text` without a secret; a short one ("x") only where it is a word, since in others it is a coincidence."""
    form = re.escape(secret) if len(secret) >= 8 else rf"(?<!\w){re.escape(secret)}(?!\w)"
    return re.sub(form, "********", text) if secret else text


def is_transient(error: BaseException) -> bool:
    """Return whether the same call may succeed a moment later.

    After 408, 425, 429, 5xx, a broken connection, silence, or an error within a stream.
    """
    if isinstance(error, SextantError):
        return error.retryable
    if _out_of_quota(error) or is_too_long(error) or is_filtered(error) or _misdirection(error):
        return False
    status = status_of(error)
    if status is not None:
        return status in _TRANSIENT_STATUS
    failed = _is_connection_failure(error) or _is_in_stream(error)
    return failed or getattr(error, "is_retryable", False) is True


def is_silence(error: BaseException) -> bool:
    """Return whether no answer came in time."""
    # asyncio, httpx, openai and LangChain each have their own; all say so in the class name.
    return any("Timeout" in name for name in _ancestry(error))


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error means by its words, or else has, whichever client raised it."""
    told = [getattr(one, "status_code", None) for one in (error, _response(error))]
    told.append(_body_of(error).get("code"))
    # A 200 that cannot be read is a failure of another kind.
    known = [status for status in told if isinstance(status, int) and 400 <= status < 600]
    known += filter(None, [_STATUS_OF_CODE.get(_body_code(error))])
    known += (status for name, status in _LANGCHAIN_STATUS.items() if name in _ancestry(error))
    status = next(iter(known), None)
    if status == 429 or (status is None and not _is_in_stream(error)):
        return status
    words = words_of(error)
    return next((meant for meant, said in _MEANT_STATUS.items() if said.search(words)), status)


def retry_after(error: BaseException, now: datetime | None = None) -> float | None:
    """Return seconds the endpoint asks us to wait: `retry-after-ms`, Retry-After as seconds or a date, or in words.

    LiteLLM's proxy passes the header of its provider on under a longer name.
    """
    headers = getattr(_response(error), "headers", None) or {}
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after") or headers.get("llm_provider-retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    if status_of(error) == 429 and (said := _TRY_AGAIN.search(words_of(error))):
        return 60 * float(said[1] or 0) + float(said[2])
    try:
        moment = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def is_too_long(error: BaseException) -> bool:
    """Return whether the endpoint refused a request because the model cannot read so much."""
    status, words = status_of(error), words_of(error)
    if status == 429:
        return "request too large" in words.lower()
    return (
        status == 413
        or "ContextOverflowError" in _ancestry(error)
        or _body_code(error) in ("context_length_exceeded", "exceed_context_size_error")
        or (
            (status in (400, 422, 500) or (status is None and _is_in_stream(error)))
            and _TOO_LONG.search(words) is not None
            # A refusal that is about the limit of answers tells no length of the context.
            and not (context_of(error) is None and _ANSWER_LIMIT.search(words))
        )
    )


def is_filtered(error: BaseException) -> bool:
    """Return whether a content filter stopped the prompt or the answer."""
    return (
        status_of(error) in (None, 400, 403, 451) and _FILTERED.search(words_of(error)) is not None
    )


def context_of(error: BaseException) -> int | None:
    """Return the context's length in tokens that a refusal tells; None: it tells none."""
    found = _CONTEXT.search(words_of(error))
    return int(next(filter(None, found.groups()))) if found else None


def is_about_other_than(fields: tuple[str, ...], error: BaseException) -> bool:
    """Return whether a refusal is about something else than `fields` of the request, by its `param` or `code`."""
    named = _body_of(error).get("param")
    if isinstance(named, str) and named:
        return not named.startswith(fields)
    met_by_any = ("model_not_found", "invalid_model", "invalid_api_key")
    return _body_code(error) in met_by_any or is_filtered(error)


def mentions(field: str, error: BaseException) -> bool:
    """Return whether a refusal names this field of the request, anywhere in its body."""
    return re.search(rf"\b{re.escape(field)}\b", words_of(error), re.ASCII) is not None


def words_of(error: BaseException) -> str:
    """Return the text of a refusal without what it repeats of the request."""
    text = f"{getattr(error, 'body', None)} {getattr(error, 'message', None) or error}"
    return _REPEATED.sub("", text)


def as_sextant_error(error: Exception, service: Service) -> SextantError:
    """Return the typed error, with its next step, for whatever a client library raised."""
    if isinstance(error, SextantError):
        return error
    if (misdirected := _misdirection(error)) is not None:
        return service.error(ModelRejected, misdirected)
    refused: SextantError
    if is_filtered(error):
        refused = service.error(ModelOutputInvalid, wordings.WITHHELD)
    elif _out_of_quota(error):
        refused = service.error(ModelRejected, wordings.NO_QUOTA)
    elif is_too_long(error):
        refused = service.error(ContextTooLong, wordings.TOO_LONG, status=status_of(error) or 400)
    elif (status := status_of(error)) is not None:
        refused = _refusal_error(error, status, service)
    else:
        unanswered = _without_answer(error, service)
        if unanswered is None and isinstance(error, _NOT_OF_THE_API):
            _log.warning("%s: what it answered cannot be read: %r", service.label, error)
            unanswered = service.error(ModelUnavailable, wordings.UNREADABLE)
        detail = _detail(error, service.secret)
        return unanswered or service.error(ModelUnavailable, wordings.FAILED, detail=detail)
    refused.usage = Usage(1)  # providers bill answers, not errors
    return refused


def _without_answer(error: Exception, service: Service) -> ModelUnavailable | None:
    """Return the typed error where no answer came, or half of one; None: the failure is another."""
    chain = _chain_of(error, contexts=True)
    if any(_ancestry(one) & _NO_CONNECTION for one in chain):
        unreachable = service.error(ModelUnavailable, wordings.UNREACHABLE)
        unreachable.unreachable = True
        return unreachable
    if is_silence(error):
        return service.error(ModelUnavailable, wordings.SILENT)
    if _is_connection_failure(error):
        return service.error(ModelUnavailable, wordings.BROKE_OFF)
    return None


def _refusal_error(error: Exception, status: int, service: Service) -> ModelUnavailable:
    detail = _detail(error, service.secret)
    if status == 429:
        if (seconds := retry_after(error)) is None:
            return service.error(ModelUnavailable, wordings.TOO_OFTEN, detail=detail)
        return service.error(
            ModelUnavailable, wordings.TOO_OFTEN_UNTIL, seconds=max(1, ceil(seconds))
        )
    if status in _TRANSIENT_STATUS:
        return service.error(ModelUnavailable, wordings.OUT_OF_ORDER, status=status, detail=detail)
    wordings_of = wordings.REFUSED.get(status, wordings.REFUSED_OTHERWISE)
    return service.error(ModelRejected, wordings_of, status=status, detail=detail)


def _response(error: BaseException) -> Any:  # noqa: ANN401 - of whichever client
    return getattr(_client_error(error), "response", None)


def _client_error(error: BaseException) -> BaseException:
    """Return the error of the provider's client, from which LangChain may have raised its own."""
    chain = _chain_of(error)
    return next((one for one in chain if getattr(one, "response", None) is not None), error)


def _body_of(error: BaseException) -> Mapping[str, Any]:
    """Return the error object of the body; OpenAI's client has unwrapped it, others have not."""
    source = _client_error(error)
    body = getattr(source, "body", None) or getattr(source, "details", None)
    if body is None:
        with suppress(Exception):  # no JSON, or not read
            body = _response(error).json()
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        body = body.get("error") or body.get("detail") or body
    return body if isinstance(body, dict) else {"message": body} if isinstance(body, str) else {}


def _body_code(error: BaseException) -> str:
    body = _body_of(error)  # where a code may be a number that says no more than the status
    named = (body.get(field) for field in ("code", "type"))
    return next((name for name in named if isinstance(name, str) and name), "")


def _out_of_quota(error: BaseException) -> bool:
    status = status_of(error)
    if status == 402 or _body_code(error) == "insufficient_quota":
        return True
    told = status in (400, 403, 429) or (status is None and _is_in_stream(error))
    return told and _NO_MONEY.search(words_of(error)) is not None


def _ancestry(error: BaseException) -> set[str]:
    return {cls.__name__ for cls in type(error).__mro__}


def _chain_of(error: BaseException, *, contexts: bool = False) -> Iterator[BaseException]:
    """Yield an error and its causes, nearest first; with `contexts` also what was being handled where no cause is named."""
    below: BaseException | None = error
    while below is not None:
        yield below
        below = below.__cause__ or (below.__context__ if contexts else None)


def _misdirection(error: BaseException) -> Mapping[str, Wording] | None:
    """Return what to say of a redirect that was not followed; None: there was none."""
    names = (name for one in _chain_of(error) for name in _REDIRECTS if name in _ancestry(one))
    return next(map(_REDIRECTS.__getitem__, names), None)


def _is_connection_failure(error: BaseException) -> bool:
    return isinstance(error, OSError) or bool(_ancestry(error) & _CONNECTION_ERRORS)


def _is_in_stream(error: BaseException) -> bool:
    """Return whether it is an error that an endpoint wrote into an answer of status 200."""
    return type(error).__name__ == "APIError"


def _detail(error: BaseException, secret: str = "") -> str:
    message = message_in(_body_of(error)) or getattr(error, "message", "")
    # Without the tags of a proxy's page.
    text = re.sub(r"<[^<>]{1,200}>", " ", str(message or error)) or type(error).__name__
    return clean_text(redact(" ".join(text.split()), secret))[:200]


def message_in(value: object) -> str:
    """Return the first text under a key like `message`, `detail` or `status_msg`, at any depth; "": there is none."""
    if isinstance(value, list):
        return next(filter(None, map(message_in, value)), "")
    if not isinstance(value, dict):
        return ""
    texts = (
        one for key, one in value.items() if _MESSAGE.search(key) and isinstance(one, str) and one
    )
    return next(texts, "") or message_in(list(value.values()))


def _number(value: str | None) -> float | None:
    with suppress(ValueError):
        if 0 <= (number := float(value or "")) < float("inf"):
            return number
    return None
