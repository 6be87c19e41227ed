"""One tree of errors for every failure that a caller can act on.

| branch | HTTP | exit | meaning |
|---|---|---|---|
| `InputError` | 422 | 2 | the request is wrong: change it; `NotFound` 404, `FileTypeUnknown` 415, `FileTooLarge` 413 |
| `Unauthorised`, `Forbidden` | 401, 403 | 2 | no valid key or token; the key lacks a permission |
| `Overloaded` | 503 | 3 | no capacity now; `Limited` 429: the caller has used up its own |
| `ConflictError` | 409 | 1 | stored state and the request or the settings disagree |
| `DependencyError` | 503 | 3 | a service is down; `TimedOut` 504, `ModelRejected` 502 |
| `ModelOutputInvalid` | 502 | 1 | a chat model's output does not fit its schema |
| `Cancelled` | 503 | 1 | the work was stopped |

Every error has a stable code, a sentence for a person (`message`) and what to do next (`next_step`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

if TYPE_CHECKING:
    from sextant.domain.answers import Usage

DOCTOR_ZH = "请运行 `sextant doctor`，待数据库恢复后再试。"

# The message for an unexpected exception.
UNFORESEEN = "An internal error occurred; the log has its details."

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Wording(NamedTuple):
    """The text of an error in one language: what happened, and what to do next."""

    message: str
    next_step: str = ""

    def __str__(self) -> str:
        # Chinese sentences follow one another without a space.
        space = "" if self.message.endswith("。") else " "
        return f"{self.message}{space}{self.next_step}".strip()


class SextantError(RuntimeError):
    """Base of all errors raised on purpose.

    It is a RuntimeError, because LangGraph's server shows the message of built-in error classes only; for any other
    class it shows "An internal error occurred".

    Attributes:
        code: stable machine-readable name, also used in HTTP problem documents.
        status: HTTP status a server answers with.
        exit_code: process exit status of the command line (1 failed, 2 bad input, 3 dependency down).
        retryable: whether the same call may succeed later.
        field: the input field at fault, if one is.
        next_step: what the reader should do now.
        translations: message and next step in other languages, by language.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Derive the code from the class name, unless the class sets one."""
        super().__init_subclass__()
        if "code" not in vars(cls):
            cls.code = _CAPITAL.sub("_", cls.__name__).lower()

    def __init__(
        self,
        message: str,
        *,
        next_step: str = "",
        field: str | None = None,
        translations: Mapping[str, Wording] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self.field = field
        self.translations = dict(translations or {})

    @classmethod
    def worded(cls, wordings: Mapping[str, Wording]) -> Self:
        """Return an error with this text by language, English among them."""
        others = dict(wordings)
        message, next_step = others.pop("en")
        return cls(message, next_step=next_step, translations=others)

    def __str__(self) -> str:
        return str(Wording(self.message, self.next_step))

    def wording(self, language: str) -> Wording:
        """Return the text in `language`; in English if there is no translation."""
        return self.translations.get(language) or Wording(self.message, self.next_step)

    def speak(self, language: str) -> Self:
        """Set message and next step to `language` if there is a translation, and return the error."""
        self.message, self.next_step = self.wording(language)
        return self

    def in_language(self, language: str) -> str:
        """Return message and next step in `language` as one text."""
        return str(self.wording(language))


@contextmanager
def speak_in(language: str) -> Iterator[None]:
    """Translate an error that the block raises, if it has a translation."""
    try:
        yield
    except SextantError as error:
        error.speak(language)
        raise


class InputError(SextantError):
    """The request is wrong."""

    code = "input_invalid"
    status = 422
    exit_code = 2


class QuestionInvalid(InputError):
    """The question is empty or longer than the limit."""


class OptionInvalid(InputError):
    """An option is unknown, of the wrong type or out of its range."""


class SettingsInvalid(InputError):
    """A setting from the environment or `.env` cannot be used."""


class NotFound(InputError):
    """The thing does not exist or belongs to another user; a caller cannot tell which."""

    status = 404


class GraphNotFound(NotFound):
    """No knowledge base of that id belongs to this user."""


class EntityNotFound(NotFound):
    """No entity of that id belongs to this user and graph."""


class DocumentNotFound(NotFound):
    """No document of that id belongs to this user and graph."""


class PageNotFound(NotFound):
    """The document has no page of that number to show."""


class ChunkNotFound(NotFound):
    """No chunk of that id belongs to this user and graph."""


class RunNotFound(NotFound):
    """No running or cached answer of that id belongs to this user."""


class ConversationNotFound(NotFound):
    """The user has no conversation of that name."""


class ModeNotAvailable(InputError):
    """The retrieval mode is unknown, or this build or configuration cannot serve it."""


class FileRejected(InputError):
    """A file cannot be ingested."""


class FileEmpty(FileRejected):
    """The file is empty, or has no text."""


class FileTypeUnknown(FileRejected):
    """The format is unknown, or does not match the file's extension."""

    status = 415


class FileTooLarge(FileRejected):
    """The file exceeds a size limit."""

    status = 413


class FileEncrypted(FileRejected):
    """The file needs a password."""


class FileBroken(FileRejected):
    """The file is damaged or does not follow its own format."""


class FileUnsafe(FileRejected):
    """The file is too expensive to read: a compression bomb, too many pages, a parser beyond its limits."""


class Unauthorised(SextantError):
    """The request has no key or token, or one that is wrong, expired or revoked."""

    status = 401
    exit_code = 2


class Forbidden(SextantError):
    """The caller is known and lacks a permission."""

    status = 403
    exit_code = 2


class Overloaded(SextantError):
    """The server has no capacity left for now.

    Attributes:
        retry_after: seconds after which to try again, where that is known.
    """

    status = 503
    exit_code = 3
    retryable = True
    retry_after: int | None = None


class Limited(Overloaded):
    """The caller has used up its rate, its runs or its budget for now."""

    status = 429


class ConflictError(SextantError):
    """Stored state and the request or the settings disagree."""

    code = "conflict"
    status = 409


class DecisionNeeded(ConflictError):
    """A run stopped because a person must decide.

    Attributes:
        request: the decision to make, as agent-chat-ui shows it: `action_requests` and `review_configs`.
    """

    request: Mapping[str, Any] = {}

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> DecisionNeeded:
        """Return the error for a request; the descriptions of its actions are the message."""
        texts = (str(action.get("description", "")) for action in request["action_requests"])
        error = cls(
            "\n".join(texts), next_step="Resume the conversation with a decision (docs/studio.md)."
        )
        error.request = request
        return error


class ConversationBusy(ConflictError):
    """Another turn of the conversation is still running."""

    retryable = True


class ConversationUnreadable(ConflictError):
    """The stored conversation is not in a format of this version."""


class Superseded(ConflictError):
    """The ingestion was replaced, cancelled, or taken over by another worker."""


class EmbeddingModelChanged(ConflictError):
    """Stored vectors come from another embedding model or have another dimension."""


class DependencyError(SextantError):
    """A required service does not answer."""

    code = "dependency_unavailable"
    status = 503
    exit_code = 3
    retryable = True


class DatabaseUnavailable(DependencyError):
    """PostgreSQL cannot be reached, or the connection was lost."""


class GraphStoreUnavailable(DependencyError):
    """Neo4j cannot be reached, or the connection was lost."""


class TimedOut(DependencyError):
    """A step of the answer took longer than it may."""

    status = 504


class ModelUnavailable(DependencyError):
    """A chat, embedding or reranking model does not answer.

    Attributes:
        usage: tokens used in spite of the failure; None if unknown.
        unreachable: no connection to the endpoint could be made, so other requests would fail, too.
    """

    usage: Usage | None = None
    unreachable: bool = False


class ModelRejected(ModelUnavailable):
    """A model endpoint refuses the request: wrong key, unknown model, request too long, no quota."""

    status = 502
    retryable = False


class ContextTooLong(ModelRejected):
    """The request is longer than the model can read; a shorter context may do."""


class ModelOutputInvalid(SextantError):
    """A chat model's structured output did not fit its schema, even after one repair.

    Attributes:
        usage: tokens of these outputs, the repair included; None if not counted.
    """

    status = 502
    retryable = True
    usage: Usage | None = None


class Cancelled(SextantError):
    """The work was stopped before its end."""

    status = 503
    retryable = True


def describe_reason(error: BaseException) -> Any:  # noqa: ANN401 - JSON
    """Return the reason of a failure as a parameter of a warning, in each language."""
    if not isinstance(error, SextantError):
        return next(iter(str(error).splitlines()), type(error).__name__)
    return {"code": error.code, "en": error.in_language("en"), "zh": error.in_language("zh")}


def error_of(
    code: str, message: str, *, next_step: str = "", field: str | None = None
) -> SextantError:
    """Return the error from its data in an event or a problem document."""
    kind = next((known for known in _kinds(SextantError) if known.code == code), SextantError)
    return kind(message, next_step=next_step, field=field)


def _kinds(kind: type[SextantError]) -> Iterator[type[SextantError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
