"""Ask the chat model for judgements; where it gives none, a rule takes over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Generic

from sextant.domain.errors import (
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
    Wording,
    describe_reason,
)
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.chat_model import T
from sextant.models.chat.structured import instruction
from sextant.nodes.budget import (
    ANSWER_SHARE,
    FIRST_SENTENCE,
    AnswerBudget,
    judging_budget,
    limit_warning,
    merge_warnings,
    prompt_size,
    prompt_tokens,
    seconds_to_first_words,
    usage_of,
    usage_of_failure,
)
from sextant.nodes.context import RunContext
from sextant.nodes.state import State
from sextant.prompts import Messages
from sextant.text.characters import estimate_tokens

_log = logging.getLogger(__name__)

LATE = {
    "en": Wording(
        "The chat model did not answer in time.",
        "Raise SEXTANT_LIMITS__ANSWER_SECONDS, or check its load.",
    ),
    "zh": Wording(
        "聊天模型未能及时回答。", "请调高 SEXTANT_LIMITS__ANSWER_SECONDS，或检查其负载。"
    ),
}

# Tokens of a usual judgement and a usual answer.
_REPLY_TOKENS, _ANSWER_TOKENS = 60, 200
# The share of the time for searching and judging that judgements may take.
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class JudgeReply(Generic[T]):
    """The reply to a prompt (None: there is none), and the state update with what asking cost."""

    reply: T | None = None
    costs: dict[str, Any] = field(default_factory=dict[str, Any])


def wants_judgement(run: RunContext, *, unsure: bool) -> bool:
    """Return whether the chat model is to judge: always, never, or by default where the rules are unsure."""
    wanted = run.deps.settings.answers.judgements
    return run.deps.judging is not None and (wanted == "always" or (wanted == "auto" and unsure))


async def ask(state: State, run: RunContext, messages: Messages, schema: type[T]) -> JudgeReply[T]:
    """Ask the chat model for an object of `schema`.

    There is no reply, and the caller goes by rule, where no chat model is to judge, or one failed before in this answer.
    So it is, with a warning in the state update, where the answer's limits do not allow the call, the model is too
    slow for it, or fails. A reply that does not fit is repaired where the limit of calls allows that, too.
    """
    chat = run.deps.judging
    if chat is None or state.by_rule or not wants_judgement(run, unsure=True):
        return JudgeReply()
    budget = judging_budget(state, run)
    size = prompt_size(messages) + estimate_tokens(instruction(schema, with_schema=False))
    if warning := _cannot_ask(state, run, size, budget):
        known = {one["code"] for one in state.coded_warnings}
        new = [] if warning.code in known else [warning]
        return JudgeReply(costs={"coded_warnings": merge_warnings(state.coded_warnings, *new)})
    repair = budget.lacks(2 * size, 2) is None
    seconds = _SHARE * budget.seconds
    if run.deps.settings.answers.judgements == "auto":
        seconds = min(seconds, seconds_to_first_words(state, run))
    try:
        async with asyncio.timeout(seconds):
            reply, usage = await chat.structured(messages, schema, repair=repair, patient=False)
    except (ModelUnavailable, ModelOutputInvalid, TimeoutError) as error:
        if isinstance(error, TimeoutError):
            chat.speed.observe_silence(size, seconds)
        calls = 2 if repair and isinstance(error, ModelOutputInvalid) else 1
        lost = usage_of_failure(error, messages, chat.name, calls)
        reason = failure_error(error)
        _log.warning("chat model gave no %s (%s); going by rule", schema.__name__, reason)
        costs = _by_rule_from_here(state, error, is_answering=chat is run.deps.chat)
        return JudgeReply(costs=costs | {"usage": asdict(usage_of(state) + lost)})
    return JudgeReply(reply, {"usage": asdict(usage_of(state) + usage)})


def _cannot_ask(
    state: State, run: RunContext, size: int, budget: AnswerBudget
) -> CodedWarning | None:
    """Return a warning where a prompt of this size exceeds the budget, or takes too much of the answer's time."""
    settings, judging, chat = run.deps.settings, run.deps.judging, run.deps.chat
    if lacking := budget.lacks(size):
        return limit_warning(lacking, settings.limits)
    if settings.answers.judgements == "always" or judging is None:
        return None
    needed = judging.speed.seconds(size, _REPLY_TOKENS)
    # Passages that the same model has judged it has in its cache.
    unread = prompt_tokens(state, run) - (size if judging is chat else 0)
    first_words, answer = (
        chat.speed.seconds(max(0, unread), tokens) if chat else 0.0
        for tokens in (FIRST_SENTENCE, _ANSWER_TOKENS)
    )
    reserved = settings.limits.answer_seconds * ANSWER_SHARE
    if needed + first_words > seconds_to_first_words(state, run):
        limit = "first_words_seconds"
    elif needed > min(_SHARE * budget.seconds, budget.seconds - max(0.0, answer - reserved)):
        limit = "answer_seconds"
    else:
        return None
    known = {"limit": limit.upper(), "most": getattr(settings.limits, limit)}
    return CodedWarning(WarningCode.TOO_SLOW_TO_JUDGE, {"seconds": max(1, round(needed)), **known})


def _by_rule_from_here(state: State, failure: Exception, *, is_answering: bool) -> dict[str, Any]:
    """Return the state update of a failed call; `is_answering`: the same model writes answers."""
    reason = failure_reason(failure)
    return {
        "coded_warnings": merge_warnings(state.coded_warnings, judged_by_rule(reason)),
        "by_rule": not isinstance(failure, ModelOutputInvalid),
        "unreachable": reason if is_answering and _is_unreachable(failure) else {},
    }


def failure_error(error: Exception) -> SextantError:
    """Return the typed error of a failed call; an untyped one means that it was late."""
    return error if isinstance(error, SextantError) else ModelUnavailable.worded(LATE)


def failure_reason(error: Exception) -> dict[str, Any]:
    """Return why a call failed, as a parameter of a warning."""
    return dict(describe_reason(failure_error(error)))


def judged_by_rule(reason: Mapping[str, Any]) -> CodedWarning:
    """Return the warning that rules judged in place of the chat model."""
    return CodedWarning(WarningCode.JUDGED_BY_RULE, {"reason": reason})


def _is_unreachable(error: Exception) -> bool:
    """Return whether the chat model need not be asked again."""
    return isinstance(error, ModelUnavailable) and error.unreachable
