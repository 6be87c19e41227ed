"""Asking the chat model for judgements, where a rule can take over when it gives none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
    Wording,
    describe_reason,
)
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.chat_model import ChatModel, T
from sextant.models.chat.structured import instruction
from sextant.nodes.budget import (
    ANSWER_SHARE,
    judging_budget,
    limit_warning,
    merge_warnings,
    prompt_size,
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

# Tokens that a judgement and an answer usually take.
_REPLY_TOKENS, _ANSWER_TOKENS = 60, 200
# Of the time that is left for searching and judging; so there is always some for the next step.
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ModelJudgement(Generic[T]):
    """What the model said, if anything, and the state update that asking it costs."""

    reply: T | None
    costs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judgements(Generic[T]):
    """Judgements of several prompts that were asked at once, in their order."""

    replies: list[T | None]
    costs: dict[str, Any]


def wants_judgement(run: RunContext, *, unsure: bool) -> bool:
    """Return whether the chat model is to judge at a step of which the rules are sure or not."""
    wanted = run.deps.settings.answers.judgements
    return run.deps.judging is not None and (wanted == "always" or (wanted == "auto" and unsure))


async def ask(
    state: State, run: RunContext, messages: Messages, schema: type[T]
) -> ModelJudgement[T]:
    """Ask the chat model for an object of `schema`; see `ask_all`."""
    outcomes = await ask_all(state, run, [messages], schema)
    return ModelJudgement(outcomes.replies[0], outcomes.costs)


async def ask_all(
    state: State, run: RunContext, prompts: Sequence[Messages], schema: type[T]
) -> Judgements[T]:
    """Ask the chat model several things at once, which takes one call's time.

    There is no reply, and the caller goes by rule, when no chat model is configured or none shall judge, or it was silent or
    failing before in this answer, which then needs what is left; and, with a warning in the state, when the
    answer's limits (`sextant.nodes.budget`) do not allow all of them, or the model fails. A reply that does not fit is
    repaired where the limit of calls allows that, too.
    """
    chat, limits = run.deps.judging, run.deps.settings.limits
    if chat is None or not prompts or state.by_rule or not wants_judgement(run, unsure=True):
        return Judgements([None] * len(prompts), {})
    budget = judging_budget(state, run)
    form = estimate_tokens(instruction(schema, with_schema=False))
    sizes = [prompt_size(messages) + form for messages in prompts]
    lacking = budget.lacks(sum(sizes), len(prompts))
    if lacking is not None:
        warnings = merge_warnings(state.coded_warnings, limit_warning(lacking, limits))
        return Judgements([None] * len(prompts), {"coded_warnings": warnings})
    if late := _would_be_late(run, max(sizes), budget.seconds):
        known = {warning["code"] for warning in state.coded_warnings}
        new = [] if late.code in known else [late]
        warnings = merge_warnings(state.coded_warnings, *new)
        return Judgements([None] * len(prompts), {"coded_warnings": warnings})
    call = _CallOptions(
        chat,
        schema,
        repair=budget.lacks(2 * sum(sizes), 2 * len(prompts)) is None,
        seconds=_SHARE * budget.seconds,
    )
    outcomes = await asyncio.gather(*map(call.asked, prompts, sizes))
    usage = sum((outcome.usage for outcome in outcomes), usage_of(state))
    costs: dict[str, Any] = {"usage": asdict(usage)}
    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    if failures:
        reason = failure_error(failures[0])
        _log.warning("chat model gave no %s (%s); going by rule", schema.__name__, reason)
        costs |= _by_rule_from_here(state, failures, is_answering=chat is run.deps.chat)
    return Judgements([outcome.reply for outcome in outcomes], costs)


def _would_be_late(run: RunContext, size: int, seconds: float) -> CodedWarning | None:
    """Return a warning where a judgement, at the model's speed so far, leaves too little of the answer's time."""
    settings, judging, chat = run.deps.settings, run.deps.judging, run.deps.chat
    if settings.answers.judgements == "always" or judging is None:
        return None
    needed = judging.speed.seconds(size, _REPLY_TOKENS)
    answer = chat.speed.seconds(settings.answers.passage_tokens, _ANSWER_TOKENS) if chat else 0.0
    kept = settings.limits.answer_seconds * ANSWER_SHARE
    if needed <= _SHARE * seconds and needed + max(0.0, answer - kept) <= seconds:
        return None
    return CodedWarning(WarningCode.TOO_SLOW_TO_JUDGE, {"seconds": round(needed)})


@dataclass(frozen=True, slots=True)
class _CallOutcome(Generic[T]):
    reply: T | None
    usage: Usage
    failure: Exception | None = None


@dataclass(frozen=True, slots=True)
class _CallOptions(Generic[T]):
    """How each of several things is asked: for what, and how patiently."""

    chat: ChatModel
    schema: type[T]
    repair: bool
    seconds: float

    async def asked(self, messages: Messages, size: int) -> _CallOutcome[T]:
        """Return what came of a prompt of this many tokens; what a failed call has cost is estimated."""
        try:
            async with asyncio.timeout(self.seconds):
                reply, usage = await self.chat.structured(
                    messages, self.schema, repair=self.repair, patient=False
                )
        except (ModelUnavailable, ModelOutputInvalid, TimeoutError) as error:
            if isinstance(error, TimeoutError):
                self.chat.speed.observe_silence(size, self.seconds)
            calls = 2 if self.repair and isinstance(error, ModelOutputInvalid) else 1
            lost = usage_of_failure(error, messages, self.chat.name, calls)
            return _CallOutcome(None, lost, error)
        return _CallOutcome(reply, usage)


def _by_rule_from_here(
    state: State, failures: Sequence[Exception], *, is_answering: bool
) -> dict[str, Any]:
    """Return what the state learns of calls that failed; `is_answering`: answers are written by the same model."""
    reasons = list(map(failure_reason, failures))
    return {
        "coded_warnings": merge_warnings(state.coded_warnings, *map(judged_by_rule, reasons)),
        "by_rule": any(not isinstance(one, ModelOutputInvalid) for one in failures),
        "unreachable": next(
            (failure_reason(one) for one in failures if is_answering and _is_unreachable(one)), {}
        ),
    }


def failure_error(error: Exception) -> SextantError:
    """Return why a call of the chat model gave nothing; of an untyped error, that it was late."""
    return error if isinstance(error, SextantError) else ModelUnavailable.worded(LATE)


def failure_reason(error: Exception) -> dict[str, Any]:
    """Return why a call of the chat model gave nothing, as a parameter of a warning."""
    return dict(describe_reason(failure_error(error)))


def judged_by_rule(reason: Mapping[str, Any]) -> CodedWarning:
    """Return the warning that a rule stood in for the chat model."""
    return CodedWarning(WarningCode.JUDGED_BY_RULE, {"reason": reason})


def _is_unreachable(error: Exception) -> bool:
    """Return whether the chat model need not be asked again."""
    return isinstance(error, ModelUnavailable) and error.unreachable
