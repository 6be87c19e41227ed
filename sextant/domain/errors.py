"""Every failure that a caller can act on, as one tree.

    SextantError                         code                     HTTP  exit
    ├── InputError                       input_invalid            422   2   the request is at fault: change it
    │   ├── QuestionInvalid              question_invalid
    │   ├── OptionInvalid                option_invalid                     (a field is out of range or unknown)
    │   ├── SettingsInvalid              settings_invalid
    │   ├── ModeNotAvailable             mode_not_available
    │   ├── NotFound                                              404
    │   │   ├── GraphNotFound            graph_not_found
    │   │   ├── DocumentNotFound         document_not_found
    │   │   ├── PageNotFound             page_not_found
    │   │   ├── EntityNotFound           entity_not_found
    │   │   ├── ChunkNotFound            chunk_not_found
    │   │   ├── RunNotFound              run_not_found                      (over, or on another server)
    │   │   └── ConversationNotFound     conversation_not_found
    │   └── FileRejected                 file_rejected
    │       ├── FileEmpty                file_empty
    │       ├── FileTypeUnknown          file_type_unknown        415
    │       ├── FileTooLarge             file_too_large           413
    │       ├── FileEncrypted            file_encrypted
    │       ├── FileBroken               file_broken
    │       └── FileUnsafe               file_unsafe                        (bomb, too many pages, past its limits)
    ├── Unauthorised                     unauthorised             401   2   (no key or token, or one that does not hold)
    ├── Forbidden                        forbidden                403   2   (the key lacks a permission)
    ├── Overloaded                       overloaded               503   3   (every slot or place is taken)
    │   └── Limited                      limited                  429       (this caller's own are)
    ├── ConflictError                    conflict                 409   1   stored state and settings disagree
    │   ├── DecisionNeeded               decision_needed                    (a person must decide before the run goes on)
    │   ├── ConversationBusy             conversation_busy                  (a turn of it is under way)
    │   ├── ConversationUnreadable       conversation_unreadable            (what is stored is no state of ours)
    │   ├── Superseded                   superseded                         (another ingestion took its place)
    │   └── EmbeddingModelChanged        embedding_model_changed
    ├── DependencyError                  dependency_unavailable   503   3   no answer; trying again may help
    │   ├── DatabaseUnavailable          database_unavailable
    │   ├── GraphStoreUnavailable        graph_store_unavailable
    │   ├── TimedOut                     timed_out                504
    │   ├── ModelUnavailable             model_unavailable
    │   │   └── ModelRejected            model_rejected           502       (key, model name or request refused)
    │   │       └── ContextTooLong       context_too_long                   (the model cannot read so much)
    │   └── RetrievalError               retrieval_failed                   (every lane failed; carries each cause)
    │       └── SearchWithoutDatabase    database_unavailable               (each for want of PostgreSQL)
    ├── ModelOutputInvalid               model_output_invalid     502   1
    └── Cancelled                        cancelled                503   1   (somebody stopped it, or the server ends)

A status or exit that is not given is that of the branch. Each error is a sentence for a person (`message`)
plus what to do next (`next_step`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

if TYPE_CHECKING:
    from sextant.domain.answers import Usage

# What to do about a database that does not answer.
DOCTOR_ZH = "请运行 `sextant doctor`，待数据库恢复后再试。"

# What anybody is told of an exception that nobody foresaw.
UNFORESEEN = "An internal error occurred; the log has its details."

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Wording(NamedTuple):
    """What an error says in one language: what happened, and what its reader should do now."""

    message: str
    next_step: str = ""

    def __str__(self) -> str:
        # Chinese sentences follow one another without a space.
        space = "" if self.message.endswith("。") else " "
        return f"{self.message}{space}{self.next_step}".strip()


class SextantError(RuntimeError):
    """Base of all errors raised on purpose.

    A RuntimeError, because LangGraph's server shows those who wait for a run only what Python's own kinds
    of errors say; of any other it says "An internal error occurred".

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
        """Take the code from the name, unless the class says another."""
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
        """Return the error that says this, by language."""
        others = dict(wordings)
        message, next_step = others.pop("en")
        return cls(message, next_step=next_step, translations=others)

    def __str__(self) -> str:
        return str(Wording(self.message, self.next_step))

    def wording(self, language: str) -> Wording:
        """Return what it says in `language`; in English where it has no translation."""
        return self.translations.get(language) or Wording(self.message, self.next_step)

    def speak(self, language: str) -> Self:
        """Return itself, from now on in `language` where it has a translation."""
        self.message, self.next_step = self.wording(language)
        return self

    def in_language(self, language: str) -> str:
        """Return the same in one sentence after the other."""
        return str(self.wording(language))


@contextmanager
def speak_in(language: str) -> Iterator[None]:
    """Have an error that the block raises speak a language, where it has words in it."""
    try:
        yield
    except SextantError as error:
        error.speak(language)
        raise


class InputError(SextantError):
    """The request itself is at fault."""

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
    """What the request names is not there, or belongs to somebody else, which nobody can tell apart."""

    status = 404


class GraphNotFound(NotFound):
    """No knowledge base of that id belongs to this user."""


class EntityNotFound(NotFound):
    """No entity of that id belongs to this user and graph."""


class DocumentNotFound(NotFound):
    """No document of that id belongs to this user and graph."""


class PageNotFound(NotFound):
    """The document has no page of that number that could be shown."""


class ChunkNotFound(NotFound):
    """No chunk of that id belongs to this user and graph."""


class RunNotFound(NotFound):
    """No answer of that id is under way or kept for this user."""


class ConversationNotFound(NotFound):
    """The user has no conversation of that name."""


class ModeNotAvailable(InputError):
    """The retrieval mode is unknown, or this build or configuration cannot serve it."""


class FileRejected(InputError):
    """A file cannot be ingested."""


class FileEmpty(FileRejected):
    """The file has no bytes, or no text was found in it."""


class FileTypeUnknown(FileRejected):
    """The content is of no format we read, or contradicts the file's extension."""

    status = 415


class FileTooLarge(FileRejected):
    """The file exceeds a size limit."""

    status = 413


class FileEncrypted(FileRejected):
    """The file needs a password."""


class FileBroken(FileRejected):
    """The file is damaged or does not follow its own format."""


class FileUnsafe(FileRejected):
    """The file would exhaust this machine: a compression bomb, too many pages, a parser past its limits."""


class Unauthorised(SextantError):
    """Nobody we know asks: no key or token, or one that is wrong, expired or revoked."""

    status = 401
    exit_code = 2


class Forbidden(SextantError):
    """The caller is known and may not do this."""

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
    """What is stored and what is configured disagree."""

    code = "conflict"
    status = 409


class DecisionNeeded(ConflictError):
    """A run stopped where a person must decide.

    Attributes:
        request: what to decide, as agent-chat-ui shows it: `action_requests` and `review_configs`.
    """

    request: Mapping[str, Any] = {}

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> DecisionNeeded:
        """Return the error for a request, whose descriptions are its message."""
        texts = (str(action.get("description", "")) for action in request["action_requests"])
        error = cls(
            "\n".join(texts), next_step="Resume the conversation with a decision (docs/studio.md)."
        )
        error.request = request
        return error


class ConversationBusy(ConflictError):
    """A turn of the conversation is under way; they come one after the other."""

    retryable = True


class ConversationUnreadable(ConflictError):
    """What is stored of the conversation is nothing that this version writes."""


class Superseded(ConflictError):
    """The ingestion of a document is not ours any more: replaced, cancelled, or gone on with by somebody else."""


class EmbeddingModelChanged(ConflictError):
    """Stored vectors come from another embedding model or have another dimension."""


class DependencyError(SextantError):
    """A service that we need does not answer."""

    code = "dependency_unavailable"
    status = 503
    exit_code = 3
    retryable = True


class DatabaseUnavailable(DependencyError):
    """PostgreSQL cannot be reached, or went away in the middle."""


class GraphStoreUnavailable(DependencyError):
    """Neo4j cannot be reached, or went away in the middle."""


class TimedOut(DependencyError):
    """A step of the answer took longer than it may."""

    status = 504


class ModelUnavailable(DependencyError):
    """A chat, embedding or reranking model does not answer.

    Attributes:
        usage: what was paid all the same; None where nobody can tell, as after silence.
        unreachable: no connection to its endpoint could be made, so that asking it something else is in vain.
    """

    usage: Usage | None = None
    unreachable: bool = False


class ModelRejected(ModelUnavailable):
    """A model endpoint answers, and refuses: wrong key, unknown model, request too long, no quota."""

    status = 502
    retryable = False


class ContextTooLong(ModelRejected):
    """The request is longer than the model can read; a shorter context may do."""


class RetrievalError(DependencyError):
    """Every retrieval lane failed; make one with `of`.

    Attributes:
        causes: the error of each lane, by its name.
    """

    code = "retrieval_failed"
    causes: Mapping[str, BaseException] = {}

    @classmethod
    def of(cls, causes: Mapping[str, BaseException]) -> RetrievalError:
        """Return the error of a search whose lanes all failed: `SearchWithoutDatabase` where each lacked PostgreSQL."""
        lost = all(isinstance(cause, DatabaseUnavailable) for cause in causes.values())
        kind = SearchWithoutDatabase if causes and lost else RetrievalError
        english, chinese = (_list_causes(causes, language) for language in ("en", "zh"))
        in_brackets = f" ({english})" if english else ""
        error = kind(
            f"知识库检索失败{in_brackets}",
            next_step=kind.next_steps["en"],
            translations={
                "en": Wording(f"The search failed{in_brackets}.", kind.next_steps["en"]),
                "zh": Wording(
                    f"知识库检索失败（{chinese}）。" if chinese else "知识库检索失败。",
                    kind.next_steps["zh"],
                ),
            },
        )
        error.causes = dict(causes)
        return error

    next_steps: ClassVar[Mapping[str, str]] = {
        "en": "Run `sextant doctor` to see which dependency is down.",
        "zh": "请运行 `sextant doctor`，查看哪个依赖不可用。",
    }


class SearchWithoutDatabase(RetrievalError, DatabaseUnavailable):
    """Every lane failed because PostgreSQL does not answer."""

    code = "database_unavailable"
    next_steps: ClassVar[Mapping[str, str]] = {
        "en": "Run `sextant doctor`, and try again once the database is back.",
        "zh": DOCTOR_ZH,
    }


def _list_causes(causes: Mapping[str, BaseException], language: str) -> str:
    """Return one line of each cause: a driver goes on with the whole statement and its values."""
    listed = dict[str, list[str]]()
    for lane, cause in causes.items():
        reason = cause.wording(language).message if isinstance(cause, SextantError) else str(cause)
        line = next(iter(reason.splitlines()), type(cause).__name__)
        listed.setdefault(line.rstrip(".。"), []).append(lane)
    return "; ".join(f"{', '.join(lanes)}: {line}" for line, lanes in listed.items())


class ModelOutputInvalid(SextantError):
    """A chat model's structured output did not fit its schema, also after one repair try.

    Attributes:
        usage: what the answers that did not fit took, the repair included; None where nobody counted.
    """

    status = 502
    retryable = True
    usage: Usage | None = None


class Cancelled(SextantError):
    """What was asked for was stopped before its end; a job that was has the same code."""

    status = 503
    retryable = True


def describe_reason(error: BaseException) -> Any:  # noqa: ANN401 - JSON
    """Return why something failed as a parameter of a warning, in each language with the next step."""
    if not isinstance(error, SextantError):
        return next(iter(str(error).splitlines()), type(error).__name__)
    return {"code": error.code, "en": error.in_language("en"), "zh": error.in_language("zh")}


def error_of(
    code: str, message: str, *, next_step: str = "", field: str | None = None
) -> SextantError:
    """Return the error that was once turned into data: an event of a stream, a problem document."""
    kind = next((known for known in _kinds(SextantError) if known.code == code), SextantError)
    return kind(message, next_step=next_step, field=field)


def _kinds(kind: type[SextantError]) -> Iterator[type[SextantError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
