"""analyze: check the question, understand it, choose how to retrieve."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

import prompts
from domain.breadth import is_broad
from domain.errors import OptionInvalid
from domain.questions import checked_question
from domain.retrieval import AUTO, Mode
from domain.text import clean_text, language_of, normalise
from nodes.asking import ask, conversation
from nodes.context import RunContext, scope_of
from nodes.multimodal.looking import look_at, with_attachments
from nodes.spending import deadline
from nodes.state import State
from retrievers.lanes.keywords import extract_keywords
from retrievers.modes import composition_of

Complexity = Literal["simple", "complex"]
# As in `RetrievalSettings.top_k`.
_MOST_PASSAGES = 50

SIMPLE: Complexity = "simple"
COMPLEX: Complexity = "complex"


class Analysis(BaseModel):
    """What the chat model makes of a question."""

    question: str = Field("", description="The question, understandable without the conversation.")
    complexity: Complexity = COMPLEX
    about: Literal["whole", "part"] | None = Field(
        None, description="Whether the documents as a whole are asked about; None: not said."
    )
    reason: str = ""
    entities: list[str] = Field(default_factory=list[str])
    keywords: list[str] = Field(default_factory=list[str])


async def analyze(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Begin a turn: check the input, forget the last turn's loop, understand the question.

    Raises:
        QuestionInvalid: the question is empty or longer than `limits.question_chars`.
        OptionInvalid: `top_k` is out of range, or `history` has something else than turns.
        ModeNotAvailable: the mode is unknown or cannot be served.
        InputError: an image or table of the question cannot be used.
    """
    run = runtime.context
    question = checked_question(state.query, run.deps.settings.limits.question_chars)
    _check_options(state)
    wish = run.choices.mode if state.mode == AUTO else state.mode
    known = list(run.deps.retriever.lanes)
    chosen, _ = composition_of(wish, known)
    fresh = _new_turn(question, run)
    fresh |= await look_at(State(**vars(state) | fresh), scope_of(state, runtime), run)
    if wish == Mode.BYPASS:
        return fresh | {"strategy": wish, "reason": "bypass was asked for"}
    understood, broad = await _understand(State(**vars(state) | fresh), run)
    if wish != AUTO:
        understood |= {"complexity": COMPLEX, "reason": f"{wish} was asked for"}
    elif broad and run.deps.settings.communities.enabled:
        chosen, _ = composition_of(wish, known, broad=True)
    longest = run.deps.settings.limits.question_chars
    return with_attachments(fresh | {"strategy": chosen.value} | understood, longest)


def _check_options(state: State) -> None:
    # LangGraph passes the input on as it is; a server's caller may have sent anything.
    top_k: object = state.top_k
    if top_k is not None and not (isinstance(top_k, int) and 1 <= top_k <= _MOST_PASSAGES):
        raise OptionInvalid(
            f"top_k is {top_k}; it must be a number from 1 to {_MOST_PASSAGES}.",
            next_step="Ask for fewer passages or for at least one.",
            field="top_k",
        )
    if not all(isinstance(turn, Mapping) for turn in state.history):
        raise OptionInvalid(
            "The history holds something else than turns of a conversation.",
            next_step='Give it as [{"role": "user", "content": "…"}, …].',
            field="history",
        )


def _new_turn(question: str, run: RunContext) -> dict[str, Any]:
    """The loop's fields as a turn finds them; a checkpointer would carry over the last turn's."""
    language = run.choices.language
    return {
        "question": question,
        "search": question,
        "language": language_of(question) if language == "auto" else language,
        "complexity": COMPLEX,
        "reason": "",
        "entities": [],
        "keywords": extract_keywords(question),
        "searched": [],
        "items": [],
        "around": [],
        "attachments": [],
        "evidence": [],
        "relevance": 0.0,
        "sufficient": False,
        "missing": "",
        "answer": "",
        "citations": [],
        "sources": [],
        "graph_context": {},
        "attempts": 0,
        "grounded": False,
        "warnings": [],
        "timings": {},
        "model": "",
        "usage": {},
        "costs": {},
        "deadline": deadline(run),
    }


async def _understand(state: State, run: RunContext) -> tuple[dict[str, Any], bool]:
    """By the chat model if there is one, else by rule; and whether the question is about the whole."""
    if is_small_talk(state.question):
        return {"complexity": SIMPLE, "reason": "small talk or arithmetic"}, False
    broad = is_broad(state.question)
    history = conversation(state.history, run.deps.settings.limits.history_turns)
    messages = prompts.ANALYZE.messages(state.language, question=state.question, history=history)
    judged = await ask(state, run, messages, Analysis)
    if judged.reply is None:
        asked = "the documents as a whole" if broad else "particular passages"
        return {"reason": f"by rule: a question for {asked}", **judged.costs}, broad
    longest = run.deps.settings.limits.question_chars
    question = clean_text(judged.reply.question).strip()[:longest] or state.question
    return {
        "question": question,
        "search": question,
        "complexity": judged.reply.complexity,
        "reason": judged.reply.reason,
        "entities": judged.reply.entities,
        "keywords": judged.reply.keywords or state.keywords,
        **judged.costs,
    }, broad if judged.reply.about is None else judged.reply.about == "whole"


# Whole questions only: "你好，请问付款节点有哪些？" is not small talk. No question of the public
# evaluation sets matches (docs/rules.md).
_SMALL_TALK = re.compile(
    r"(?:你好|您好|嗨|哈[喽啰]|大家好|早上好|早安|上午好|中午好|下午好|晚上好|晚安|在吗|在不在"
    r"|(?:非常|多|太|十分)?(?:感谢|谢谢|谢)(?:你|您|了|啦)*|辛苦了|再见|拜拜|好的|好|嗯+|哦+|哈+|知道了|明白了"
    r"|你是谁|你叫什么(?:名字)?|你是什么|你会(?:做|干)?什么|你能(?:做|干|帮我做)(?:什么|些什么)|你怎么样|你好吗"
    r"|(?:hi|hello|hey)(?: there| sextant)?|good (?:morning|afternoon|evening|night|day)"
    r"|thanks?(?: you)?(?: very much| so much| a lot)?|bye|goodbye|see you(?: later)?|ok(?:ay)?|great|cool"
    r"|how are you(?: doing)?(?: today)?|what'?s up|(?:who|what) are you|what(?:'s| is) your name"
    r"|what can you do)+"
)
# `-` and `/` without spaces also write dates, years and names of standards.
_ARITHMETIC = re.compile(
    r"(?:what is|what's|calculate|compute|how much is|请?计算|算一下)?\s*"
    r"(?=.*\d\s*(?:[+*×÷^]|\s[-/]\s|[-/].*(?:=|多少|几)$)\s*[\d(])[\s\d.()+\-*/×÷^%]+"
    r"=?\s*(?:(?:等于|是)(?:几|多少))?"
)
_PUNCTUATION = re.compile(r"[\s,.!?~。，！？、～…]+")


def is_small_talk(question: str) -> bool:
    """Whether no document can help: a greeting, thanks, a question about us, or plain arithmetic."""
    plain = normalise(question).strip(" \t\r\n.!?~。！？～…")
    words = _PUNCTUATION.sub(" ", plain).strip()
    parts = [part for part in _PUNCTUATION.split(plain) if part] if not words.isascii() else [words]
    if all(_SMALL_TALK.fullmatch(part) for part in parts):
        return True
    return _ARITHMETIC.fullmatch(plain) is not None
