"""Decisions of a person during a run: what a name means, what an answer may cost, which sources are used.

A request is a LangGraph interrupt of the shape that LangChain's human-in-the-loop middleware has, which
agent-chat-ui shows as a form. It is answered by `Command(resume={"decisions": [{"type": "approve"}]})`, by `reject`, or
by `edit` with `edited_action`; also by a number, a text, true or false, as people type them into Studio.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from langgraph.types import interrupt

from sextant.domain.answers import Planned
from sextant.domain.errors import OptionInvalid, Wording
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.nodes.budget import estimate_answer
from sextant.nodes.context import RunContext
from sextant.nodes.state import State
from sextant.retrievers.namesakes import Meaning, first_clause

Kind = Literal["approve", "edit", "reject"]

_SHOWN_CHARS, _LABEL_CHARS = 160, 40
_NAME, _COST, _SOURCES = "choose_meaning", "approve_cost", "approve_sources"
_PLAN = "approve_plan"
_WORDINGS = {
    "en": {
        _NAME: "“{name}” may mean several things:\n{options}\nApprove to search for all of them, or write the number of one into `choice`.",
        _COST: "The answer will take up to {tokens} tokens, more than {most} (limits.ask_above_tokens).\n"
        "Approve to let the model write it, or reject to have quotations without the model.",
        _PLAN: "The report will answer these questions:\n{options}\nIt takes about {calls} model calls and {tokens} tokens{time}.\n"
        "Approve, leave in `choice` the numbers of those to answer, or reject to have quotations without the model.",
        _SOURCES: "The answer will be written from these passages:\n{options}\n"
        "Approve, leave in `choice` the numbers of those to use, or reject to use none.",
    },
    "zh": {
        _NAME: "“{name}”可能指：\n{options}\n批准则全部检索；或在 `choice` 中填写其中一个的编号。",
        _COST: "这个回答最多需要 {tokens} 个 token，超过 {most}（limits.ask_above_tokens）。\n批准则由模型撰写；拒绝则不用模型，直接引用原文。",
        _PLAN: "报告将回答这些问题：\n{options}\n大约需要 {calls} 次模型调用、{tokens} 个 token{time}。\n"
        "批准；或在 `choice` 中只保留要回答的编号；拒绝则不用模型，直接引用原文。",
        _SOURCES: "回答将依据这些段落：\n{options}\n批准；或在 `choice` 中只保留要使用的编号；拒绝则一个也不用。",
    },
}

_TIME = {"en": ", {:.0f} seconds", "zh": "、{:.0f} 秒"}


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision; `choice` is the text of an edit."""

    kind: Kind
    choice: str = ""


def settle_names(state: State) -> dict[str, Any]:
    """Have a person choose what a name with several meanings means; return the state update.

    Raises:
        GraphInterrupt: a person is asked.
    """
    changes = dict[str, Any]()
    for name, found in state.meanings.items():
        meanings = [Meaning(**one) for one in found]
        chosen = _choose_meaning(name, meanings, state.language)
        if chosen is not None:
            changes |= _with_meaning(replace(state, **changes), name, meanings, chosen)
    return changes | {"meanings": {}}


def settle_before_answer(
    state: State, run: RunContext
) -> tuple[State, RunContext, list[CodedWarning]]:
    """Have a person approve sources and cost; return what the answer is written from and with, and warnings.

    Raises:
        GraphInterrupt: a person is asked.
    """
    state = approve_sources(state)
    most, needed = run.deps.settings.limits.ask_above_tokens, 0
    if "cost" in state.may_ask and most is not None and run.deps.chat is not None:
        needed = estimate_answer(state, run)
    if most is None or needed <= most or not (state.items or state.attachments):
        return state, run, []
    wording = _WORDINGS[state.language][_COST].format(tokens=needed, most=most)
    decision = _ask_person(
        _COST, {"tokens": needed}, wording, ["approve", "reject"], state.language
    )
    if decision.kind != "reject":
        return state, run, []
    without = RunContext(run.choices, run.deps.without_chat_models())
    return state, without, [CodedWarning(WarningCode.MODEL_DECLINED)]


def settle_plan(state: State, run: RunContext, planned: Planned) -> list[int] | None:
    """Have a person approve a report's plan; return the indexes of its questions, or None to quote without the model.

    Nobody is asked about a report that costs nothing, or no more than `limits.ask_above_tokens`.

    Raises:
        GraphInterrupt: a person is asked.
    """
    everything = list(range(len(planned.questions)))
    tokens = planned.prompt_tokens + planned.completion_tokens
    if not planned.calls or tokens <= (run.deps.settings.limits.ask_above_tokens or 0):
        return everything
    options = [str(at + 1) for at in everything]
    time = "" if planned.seconds is None else _TIME[state.language].format(planned.seconds)
    wording = _WORDINGS[state.language][_PLAN].format(
        options=_numbered(planned.questions), calls=planned.calls, tokens=tokens, time=time
    )
    args = {"options": options, "choice": ", ".join(options), "tokens": tokens}
    decision = _ask_person(_PLAN, args, wording, ["approve", "edit", "reject"], state.language)
    if decision.kind == "reject":
        return None
    return everything if decision.kind == "approve" else _read_choice(decision.choice, options)


def approve_sources(state: State) -> State:
    """Return the state with the passages that a person approves, if the run asks for that.

    Raises:
        GraphInterrupt: a person is asked.
    """
    return _with_approved_sources(state) if "sources" in state.may_ask and state.items else state


def read_decision(request: Mapping[str, Any], answer: object) -> Decision:
    """Return the decision that answers a request.

    Raises:
        OptionInvalid: the request does not allow it.
    """
    decision = _read_form(answer)
    [config], [action] = request["review_configs"], request["action_requests"]
    allowed: Sequence[str] = config["allowed_decisions"]
    if decision is None or decision.kind not in allowed:
        given = f"{decision.kind if decision else repr(answer):.80}"
        raise _refused("not_offered", given=given, allowed=allowed)
    options: Sequence[str] = action["args"].get("options", ())
    if decision.kind == "edit":
        chosen = _read_choice(decision.choice, options)
        if len(chosen) > 1 and action["name"] == _NAME:
            raise _refused("several_meanings", given=f"{decision.choice!r:.80}", number=len(chosen))
    return decision


_REFUSALS = {
    "not_offered": {
        "en": Wording("This cannot be decided by {given}.", "On offer is {offer}."),
        "zh": Wording("此处不能选择 {given}。", "可以选择：{offer}。"),
    },
    "several_meanings": {
        "en": Wording(
            "{given} chooses {number} meanings, but a name has one.",
            "Give one number, or approve to search for all of them.",
        ),
        "zh": Wording(
            "{given} 选了 {number} 个含义，而一个名称只能有一个。",
            "请填写一个编号，或批准以检索全部。",
        ),
    },
    "none_of_them": {
        "en": Wording(
            "{given} chooses none of the {number} that there are.",
            "Give numbers from 1 to {number}.",
        ),
        "zh": Wording("{given} 不在 {number} 个选项之中。", "请填写 1 到 {number} 的编号。"),
    },
}
_TYPED = {
    "en": ({"approve": "y", "edit": "a number", "reject": "n"}, "{form} (typed: {typed})", " or "),
    "zh": ({"approve": "y", "edit": "编号", "reject": "n"}, "{form}（键入：{typed}）", "、"),
}


def _refused(reason: str, *, allowed: Sequence[str] = (), **known: object) -> OptionInvalid:
    """Return the error of a decision that is not allowed."""
    wordings = {
        language: Wording(
            message.format(**known), step.format(offer=_describe_offer(allowed, language), **known)
        )
        for language, (message, step) in _REFUSALS[reason].items()
    }
    error = OptionInvalid.worded(wordings)
    error.field = "decisions"
    return error


def _describe_offer(allowed: Sequence[str], language: str) -> str:
    """Return the allowed decisions as programs give them and as people type them."""
    typed, wording, between = _TYPED[language]
    forms = {kind: f'{{"decisions": [{{"type": "{kind}"}}]}}' for kind in allowed}
    return between.join(
        wording.format(form=form, typed=typed[kind]) for kind, form in forms.items()
    )


def _read_form(answer: object) -> Decision | None:
    """Return the decision in any of its forms; None: it is none."""
    if isinstance(answer, Mapping) and "decisions" in answer:
        answer = cast("Mapping[str, Any]", answer)["decisions"]
    if isinstance(answer, list | tuple):
        given = cast("Sequence[object]", answer)
        answer = given[0] if len(given) == 1 else None
    match answer:
        case bool():
            return Decision("approve" if answer else "reject")
        case str() | int():
            return Decision("edit", str(answer))
        case {"type": "approve" | "reject" as kind}:
            return Decision(kind)
        case {"type": "respond", "message": choice} | {
            "type": "edit",
            "edited_action": {"args": {"choice": choice}},
        }:
            return Decision("edit", str(choice))
        case _:
            return None


def _ask_person(
    name: str, args: Mapping[str, Any], description: str, allowed: Sequence[Kind], language: str
) -> Decision:
    """Stop until a person has decided; ask again after a decision that is not allowed."""
    refusal = ""
    while True:
        action = {"name": name, "args": dict(args), "description": refusal + description}
        request = {
            "action_requests": [action],
            "review_configs": [{"action_name": name, "allowed_decisions": list(allowed)}],
        }
        answer = interrupt(request)
        try:
            return read_decision(request, answer)
        except OptionInvalid as error:
            # Not raised: a resumed node gets all earlier decisions first, and would fail at this one forever.
            refusal = f"{error.in_language(language)}\n\n"


def _read_choice(choice: str, options: Sequence[str]) -> list[int]:
    """Return the indexes of the chosen options, given by numbers or by the name of one.

    Raises:
        OptionInvalid: no option is chosen, or one that does not exist.
    """
    named = [
        at for at, option in enumerate(options) if option.casefold() == choice.strip().casefold()
    ]
    numbers = named or [int(number) - 1 for number in re.findall(r"-?\d+", choice)]
    if not numbers or not all(0 <= at < len(options) for at in numbers):
        raise _refused("none_of_them", given=f"{choice!r:.80}", number=len(options))
    return sorted(set(numbers))


def _choose_meaning(name: str, meanings: Sequence[Meaning], language: str) -> int | None:
    """Return the index of the meaning that a person chooses; None: all of them."""
    options = _label(name, meanings)
    shown = _numbered(
        f"{label}: {one.description}" if one.description else label
        for label, one in zip(options, meanings, strict=True)
    )
    wording = _WORDINGS[language][_NAME].format(name=name, options=shown)
    args = {"name": name, "options": options, "choice": ""}
    decision = _ask_person(_NAME, args, wording, ["approve", "edit"], language)
    return None if decision.kind == "approve" else _read_choice(decision.choice, options)[0]


def _label(name: str, meanings: Sequence[Meaning]) -> list[str]:
    """Return a label for each meaning: its own name, or else its type, or where types are equal how its description begins."""
    types = Counter(one.entity_type for one in meanings if _is_called(one, name))
    labels = list[str]()
    for one in meanings:
        description = one.description.removeprefix(one.name).strip()
        sign = first_clause(description) if types[one.entity_type] > 1 else one.entity_type
        labels.append(
            f"{name} ({sign[:_LABEL_CHARS]})" if sign and _is_called(one, name) else one.name
        )
    return labels


def _is_called(meaning: Meaning, name: str) -> bool:
    return meaning.name.casefold() == name.casefold()


def _with_meaning(
    state: State, name: str, meanings: Sequence[Meaning], chosen: int
) -> dict[str, Any]:
    """Return the state update that searches for a meaning of a name, and sets aside what tells of others."""
    label, meaning = _label(name, meanings)[chosen], meanings[chosen]
    ids = {id_ for one in meanings for id_ in one.ids}
    documents = {id_ for one in meanings for id_ in one.document_ids}
    words = {word for one in meanings for word in one.words}

    def clear(text: str) -> str:
        return text.replace(name, label)

    others = {
        "name": name.casefold(),
        "ids": sorted(ids.difference(meaning.ids)),
        "documents": sorted(documents.difference(meaning.document_ids)),
        "words": sorted(words.difference(meaning.words)),
        "chosen_words": list(meaning.words),
    }
    return {
        # What a label adds to the name itself would have to be answered, too.
        "question": state.question if _is_called(meaning, name) else clear(state.question),
        "search": clear(state.search),
        "subquestions": list(map(clear, state.subquestions)),
        "extra_queries": list(map(clear, state.extra_queries)),
        "cross_lingual_queries": list(map(clear, state.cross_lingual_queries)),
        "set_aside": [*state.set_aside, others],
    }


def _with_approved_sources(state: State) -> State:
    options = [str(number) for number in range(1, len(state.items) + 1)]
    shown = _numbered(
        f"{' › '.join(filter(None, [item.metadata.get('filename'), *item.metadata.get('section_path', ())]))}: {item.text}"
        for item in state.items
    )
    wording = _WORDINGS[state.language][_SOURCES].format(options=shown)
    args = {"options": options, "choice": ", ".join(options)}
    decision = _ask_person(_SOURCES, args, wording, ["approve", "edit", "reject"], state.language)
    if decision.kind == "approve":
        return state
    chosen = [] if decision.kind == "reject" else _read_choice(decision.choice, options)
    approved = [state.items[at] for at in chosen]
    # Graph items go: they were found with all passages, of which some were not approved.
    return replace(state, items=approved, evidence=[item.id for item in approved], graph_items=[])


def _numbered(lines: Any) -> str:  # noqa: ANN401 - of texts
    return "\n".join(
        f"{number}. {' '.join(line.split())[:_SHOWN_CHARS]}"
        for number, line in enumerate(lines, start=1)
    )
