"""analyze: check the question, understand it, choose how to retrieve."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, get_args

from langgraph.runtime import Runtime
from pydantic import Field

from sextant import prompts
from sextant.domain.answers import Effort, Usage
from sextant.domain.breadth import is_broad
from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import ChunkFilters, check_question
from sextant.domain.retrieval import AUTO, MOST_PASSAGES, Mode
from sextant.models.chat.replies import Line, Sentences, Words
from sextant.models.chat.structured import AtMost, ModelReply
from sextant.nodes.budget import deadline, merge_warnings
from sextant.nodes.context import RunContext, choose_graph, scope_of
from sextant.nodes.judgements import ask, wants_judgement
from sextant.nodes.multimodal.attachments import (
    describe_attachments,
    open_attachments,
    restore_tables,
    with_attachments,
)
from sextant.nodes.question.conversation import (
    ROLES,
    TurnQuestion,
    history_of,
    opening,
    read_question,
)
from sextant.nodes.question.wording import (
    MOST_PARTS,
    clauses_of,
    leans_on_history,
    make_standalone,
    names_in,
    sides_of,
    telling_words,
)
from sextant.nodes.state import Complexity, State, per_turn_defaults
from sextant.retrievers.modes import resolve_mode
from sextant.retrievers.namesakes import Meaning
from sextant.text.analysis import extract_keywords, language_of_question
from sextant.text.characters import clean_text, normalise
from sextant.text.vocabulary import Vocabulary

# A question of more telling words than this tells a story before it asks.
_MOST_WORDS = 40

SIMPLE: Complexity = "simple"
COMPLEX: Complexity = "complex"


class Analysis(ModelReply):
    """The chat model's reading of a question.

    It does not say whether documents are needed, or all of them are asked about: small models say either of anything.
    """

    question: Line = ""
    entities: Annotated[Words, AtMost(10)] = Field(default_factory=list[str])
    keywords: Annotated[Words, AtMost(10)] = Field(default_factory=list[str])
    themes: Annotated[Words, AtMost(5)] = Field(default_factory=list[str])
    subquestions: Annotated[Sentences, AtMost(MOST_PARTS)] = Field(default_factory=list[str])

    def taken_from(self, vocabulary: Vocabulary) -> Analysis:
        """Return the analysis without words that neither the question nor the conversation has."""
        return Analysis(
            question=self.question,
            entities=[name for name in self.entities if vocabulary.has(name)],
            keywords=list(filter(vocabulary.gives, self.keywords)),
            themes=list(filter(vocabulary.gives, self.themes)),
            subquestions=list(filter(vocabulary.gives, self.subquestions)),
        )


async def analyze(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Begin a turn: check the input, reset the fields of the last turn, understand the question.

    Raises:
        QuestionInvalid: the question is empty or longer than `limits.question_chars`.
        OptionInvalid: `top_k` is out of range, or `history` has something else than turns.
        ModeNotAvailable: the mode is unknown or cannot be served.
        InputError: an image or table of the question cannot be used.
    """
    run = runtime.context
    _check_options(state)
    question = read_question(state)
    wish = run.choices.mode if state.mode == AUTO else state.mode
    known = list(run.deps.retriever.lanes)
    chosen, _ = resolve_mode(wish, known)
    fresh = _new_turn(state, question, run)
    begun = State(**vars(state) | fresh)
    # Small talk is not about the tables of earlier turns.
    at_hand = [] if is_small_talk(begun.question) else state.tables
    if brought := question.content or at_hand:
        opened = await open_attachments(brought, scope_of(begun, runtime), run)
        looking = (describe_attachments if question.content else restore_tables)(opened, begun, run)
    else:
        looking = _see_nothing()
    if wish == Mode.BYPASS:
        return fresh | await looking | {"strategy": wish, "reason": "bypass was asked for"}
    # At the same time: an image is described for the question as it was asked.
    looked, (understood, broad) = await asyncio.gather(looking, _understand(begun, run))
    understood = looked | understood | _add_costs(looked, understood)
    if wish != AUTO:
        understood |= {"complexity": COMPLEX, "reason": f"{wish} was asked for"}
    elif broad and run.deps.settings.communities.enabled:
        chosen, _ = resolve_mode(wish, known, broad=True)
    update: dict[str, Any] = fresh | {"strategy": chosen.value} | understood
    if update["complexity"] != SIMPLE:
        update |= await _link_entities(State(**vars(state) | update), runtime)
        if wish == AUTO:
            update["reason"] += f"; {_WHY[chosen]}"
    if update["attachments"]:
        update = with_attachments(update, run.deps.settings.limits.question_chars)
    return update


async def _see_nothing() -> dict[str, Any]:
    return {}


def _add_costs(looked: dict[str, Any], understood: dict[str, Any]) -> dict[str, Any]:
    """Return usage and warnings of both updates together, where an image was looked at."""
    if "usage" not in looked:
        return {}
    usages = (Usage(**update.get("usage", {})) for update in (looked, understood))
    both = (looked, understood)
    known = (warning for update in both for warning in update.get("coded_warnings", ()))
    return {"usage": asdict(sum(usages, Usage())), "coded_warnings": merge_warnings(known)}


# Why `auto` chooses a mode (`sextant.retrievers.modes.resolve_mode`).
_WHY = {
    Mode.MIX: "mix, the best ranking of particular passages",
    Mode.GLOBAL: "global, whose reports tell of the documents as a whole",
    Mode.NAIVE: "naive, since there is no graph to search",
}


async def _link_entities(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Return the state update with names of the question that the graph knows; they lead the low-level keywords.

    What they mean is looked up here and not in `route`, where a person is asked: a run that is resumed there begins the
    node again, and must find what the person chose from.
    """
    known, meanings = list[str](), dict[str, list[Meaning]]()
    if state.strategy != Mode.NAIVE:
        retriever, scope = runtime.context.deps.retriever, scope_of(state, runtime)
        known = await retriever.known_names(scope, state.question)
        if "names" in state.may_ask:
            meanings = await retriever.meanings(scope, state.question)
    entities = list(dict.fromkeys([*state.entities, *known]))
    return {
        "entities": entities,
        "meanings": {name: [asdict(one) for one in found] for name, found in meanings.items()},
        "low_level_keywords": list(dict.fromkeys([*entities, *state.low_level_keywords])),
    }


def _check_options(state: State) -> None:
    # LangGraph passes the input on as it is; a server's caller may have sent anything.
    top_k: object = state.top_k
    if top_k is not None and not (isinstance(top_k, int) and 1 <= top_k <= MOST_PASSAGES):
        raise OptionInvalid(
            f"top_k is {top_k}; it must be a number from 1 to {MOST_PASSAGES}.",
            next_step="Ask for fewer passages or for at least one.",
            field="top_k",
        )
    history: object = state.history or ()
    listed = isinstance(history, Sequence) and all(isinstance(turn, Mapping) for turn in history)
    if not listed:
        raise _no_history("The history holds something else than turns of a conversation.")
    for turn in state.history or ():
        role: object = turn.get("role")
        content: object = turn.get("content")
        if role not in ROLES or not isinstance(content, str):
            raise _no_history("A turn of the history lacks its role or its text.")
    rerank: object = state.rerank
    if not isinstance(rerank, bool):
        raise OptionInvalid(
            f"rerank is {rerank!r:.40}; it must be true or false.",
            next_step="Leave it out to let the reranker, where there is one, order the passages.",
            field="rerank",
        )
    if state.filters:
        ChunkFilters.read(state.filters)


def resolve_effort(state: State, run: RunContext) -> str:
    """Return how much is to be done: what the input says, else the run's choice.

    Raises:
        OptionInvalid: there is no such effort.
    """
    effort: object = state.effort or run.choices.effort
    if effort not in get_args(Effort):
        raise OptionInvalid(
            f"effort is {effort!r:.40}; it must be one of {', '.join(get_args(Effort))}.",
            next_step="Leave it out for an ordinary answer (medium).",
            field="effort",
        )
    return str(effort)


def _no_history(message: str) -> OptionInvalid:
    return OptionInvalid(
        message,
        next_step='Give it as [{"role": "user", "content": "…"}, …]; roles: user, assistant, system.',
        field="history",
    )


def _new_turn(state: State, requested: TurnQuestion, run: RunContext) -> dict[str, Any]:
    """Return the state update that begins a turn; a checkpointer would carry over the last turn's values."""
    language, limits = run.choices.language, run.deps.settings.limits
    question = check_question(requested.query, limits.question_chars)
    return per_turn_defaults() | {
        **opening(requested),
        "asked": "" if requested.message else question,
        "before": history_of(state, requested, limits),
        "question": question,
        "search": question,
        "language": language_of_question(question) if language == "auto" else language,
        "chosen_effort": resolve_effort(state, run),
        "chosen_graph": choose_graph(state, run),
        "may_ask": run.may_ask,
        "deadline": deadline(run),
    }


async def _understand(state: State, run: RunContext) -> tuple[dict[str, Any], bool]:
    """Read the question, by the chat model where the rules are unsure; return also whether it is broad."""
    if is_small_talk(state.question):
        return {"complexity": SIMPLE, "reason": "small talk or arithmetic"}, False
    longest = run.deps.settings.limits.question_chars
    if not wants_judgement(run, unsure=_is_unclear(state)):
        return _by_rule(state, longest), is_broad(state.question)
    messages = prompts.ANALYZE.messages(
        state.language,
        question=prompts.as_data(state.question),
        history=prompts.format_turns(state.before),
    )
    judged = await ask(state, run, messages, Analysis)
    if judged.reply is None:
        return _by_rule(state, longest) | judged.costs, is_broad(state.question)
    vocabulary = Vocabulary(state.question, *(turn["content"] for turn in state.before))
    reply = judged.reply.taken_from(vocabulary)
    question = _restate_question(reply.question, state, longest, vocabulary)
    parts = [clean_text(part)[:longest] for part in reply.subquestions if part != question]
    return _read(question, parts) | {
        "reason": "read by the chat model",
        "entities": reply.entities,
        "keywords": list(dict.fromkeys([*reply.keywords, *reply.themes]))
        or extract_keywords(question),
        "low_level_keywords": reply.keywords or extract_keywords(question),
        "high_level_keywords": reply.themes,
        **judged.costs,
    }, is_broad(question)


def _is_unclear(state: State) -> bool:
    """Return whether the question needs the conversation, has no telling word, or tells a story first."""
    if state.before and leans_on_history(state.question):
        return True
    words = telling_words(state.question)
    return not words or len(words) > _MOST_WORDS


def _restate_question(restated: str, state: State, longest: int, vocabulary: Vocabulary) -> str:
    """Return the question made to stand alone: as the chat model words it, if it takes its words from the conversation.

    Small models write "string" there, the answer or a translation. Then the rule's wording is taken.
    """
    if not state.before:
        return state.question
    question = clean_text(restated).strip()[:longest]
    if not vocabulary.gives(question):
        return make_standalone(state.question, state.before)[:longest]
    return question


def _by_rule(state: State, longest: int) -> dict[str, Any]:
    """Read the question by rule, completed from the conversation where it leans on that."""
    question = make_standalone(state.question, state.before)[:longest]
    names = names_in(question)
    themes = [word for word in telling_words(question) if not any(word in name for name in names)]
    subject = "the documents as a whole" if is_broad(state.question) else "particular passages"
    clauses = clauses_of(question)
    return _read(question, clauses or sides_of(question)) | {
        "extra_queries": clauses,
        "reason": f"by rule: a question for {subject}",
        "entities": names,
        "keywords": extract_keywords(question),
        "low_level_keywords": names,
        "high_level_keywords": themes,
    }


def _read(question: str, parts: Sequence[str]) -> dict[str, Any]:
    """Return the state update with a question and its parts; a single part is the question itself, and left out."""
    several = list(dict.fromkeys(parts))[:MOST_PARTS] if len(set(parts)) > 1 else []
    return {
        "question": question,
        "search": question,
        "subquestions": several,
        "unanswered": several,
        "extra_queries": several,
    }


# Each clause must match: "你好，请问付款节点有哪些？" is no small talk. No question of the public evaluation sets
# matches (docs/experiments/loop.md).
_SMALL_TALK = re.compile(
    r"(?:你好|您好|嗨|哈[喽啰]|大家好|早上好|早安|上午好|中午好|下午好|晚上好|晚安|在吗|在不在"
    r"|(?:非常|多|太|十分)?(?:感谢|谢谢|谢)(?:你|您|了|啦)*|辛苦了|再见|拜拜|好的|好|嗯+|哦+|哈+|知道了|明白了"
    r"|你是谁|你叫什么(?:名字)?|你是什么|你会(?:做|干)?什么|你能(?:做|干|帮我做)(?:什么|些什么)|你怎么样|你好吗"
    r"|(?:hi|hello|hey)(?: there| sextant)?|good (?:morning|afternoon|evening|night|day)"
    r"|thanks?(?: you)?(?: very much| so much| a lot)?|bye|goodbye|see you(?: later)?|ok(?:ay)?|great|cool"
    r"|how are you(?: doing)?(?: today)?|what'?s up|(?:who|what) are you|what(?:'s| is) your name"
    r"|what can you do)+"
)
_PUNCTUATION = re.compile(r"[\s,.!?~。，！？、～…]+")
# A whole question. `-` and `/` without spaces also write dates, years and names of standards.
_ARITHMETIC = re.compile(
    r"(?:what is|what's|calculate|compute|how much is|请?计算|算一下)?\s*"
    r"(?=.*\d\s*(?:[+*×÷^]|\s[-/]\s|[-/].*(?:=|多少|几)$)\s*[\d(])[\s\d.()+\-*/×÷^%]+"
    r"=?\s*(?:(?:等于|是)(?:几|多少))?"
)


def is_small_talk(question: str) -> bool:
    """Return whether no document can help: a greeting, thanks, a question about us, or plain arithmetic."""
    plain = normalise(question).strip(" \t\r\n.!?~。！？～…")
    words = _PUNCTUATION.sub(" ", plain).strip()
    parts = [part for part in _PUNCTUATION.split(plain) if part] if not words.isascii() else [words]
    if all(_SMALL_TALK.fullmatch(part) for part in parts):
        return True
    return _ARITHMETIC.fullmatch(plain) is not None
