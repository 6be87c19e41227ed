"""plan: choose the questions of a report and estimate its cost; confirm: have a person approve both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import Field

from sextant import prompts
from sextant.domain.answers import Planned, as_values
from sextant.domain.retrieval import ItemKind, Mode, RetrievedItem
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.replies import Sentences
from sextant.models.chat.structured import AtMost, ModelReply
from sextant.nodes.answers.passages import lay_out_passages
from sextant.nodes.budget import (
    answer_length,
    merge_warnings,
    passage_tokens,
    size_without_passages,
)
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.nodes.context import RunContext
from sextant.nodes.decisions import settle_plan
from sextant.nodes.judgements import ask
from sextant.nodes.question.wording import clauses_of, joined_parts, telling_words, wording_of
from sextant.nodes.research.outline import LEAST_FOR_OUTLINE
from sextant.nodes.research.search import MOST_OF_TOPIC
from sextant.nodes.research.state import (
    ResearchState,
    Topic,
    plain,
    section_title,
    topics_of,
    without_subject,
)
from sextant.text.characters import clean_text, normalise
from sextant.text.vocabulary import Vocabulary

# Tokens that a plan or an outline is written in.
_SHORT = 80
_MOST_QUESTIONS = 12
# Headings and names that the chat model plans by.
_SHOWN = 20
# Two questions are one when each has this share of the other's terms.
_SAME = 0.8
# A section is about one of several parts when it has more than this share of that part's terms.
_LEAST_OF_PART = 0.5
_ABOUT = {"en": "What do the documents say about {name}?", "zh": "关于{name}，文档中有哪些内容？"}


class Plan(ModelReply):
    """The questions that the chat model would answer in a report."""

    questions: Annotated[Sentences, AtMost(_MOST_QUESTIONS)] = Field(default_factory=list[str])


async def plan(state: ResearchState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Choose the questions of the report, by the chat model or else by rule, and stream them with their cost."""
    run = runtime.context
    most = run.deps.settings.research.questions
    suggested, costs = await _ask_for_plan(state, run)
    parts = [part for part in _parts(state) if not _asks(suggested, part)]
    by_rule = [] if len(suggested) > 1 else plan_by_rules(state)
    topics = list(_distinct([*parts, *suggested, *by_rule]))[:most]
    estimate = estimate_report(state, run, topics)
    runtime.stream_writer(as_values(estimate))
    return {
        "topics": plain(topics),
        "due": [{"topic": at, "query": topic.query} for at, topic in enumerate(topics)],
        "evidence_count": len(state.items),
        **costs,
    }


async def confirm(state: ResearchState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Have a person approve plan and cost, if the caller can be asked and a chat model would write.

    It is a node of its own, since LangGraph repeats a node from its beginning after a decision.

    Raises:
        GraphInterrupt: a person is asked.
    """
    run, topics = runtime.context, topics_of(state)
    if "cost" not in state.may_ask or run.deps.chat is None:
        return {}
    estimate = estimate_report(state, run, topics)
    kept = settle_plan(state, run, estimate)
    if kept is None:
        declined = merge_warnings(state.coded_warnings, CodedWarning(WarningCode.MODEL_DECLINED))
        return {"model_declined": True, "by_rule": True, "coded_warnings": declined}
    chosen = [topics[at] for at in kept]
    return {
        "topics": plain(chosen),
        "due": [{"topic": at, "query": topic.query} for at, topic in enumerate(chosen)],
    }


def plan_by_rules(state: ResearchState) -> Iterator[Topic]:
    """Yield topics: the parts of the question, or else documents, sections and entities.

    A question with several clauses is planned by these alone, one in `global` by the documents of its passages. Any other
    is planned by the sections of the best passages, and by entities that these passages name.
    """
    parts = list(_parts(state))
    yield from parts
    if clauses_of(state.question):
        return
    if state.strategy == Mode.GLOBAL:
        yield from _documents(state)
        return
    words = telling_words(state.question)
    yield from (_about(title, state, words, ids) for title, ids in _sections(state, parts).items())
    if not parts:
        yield from (_about(name, state, words) for name in _next_names(state))


def _parts(state: ResearchState) -> Iterator[Topic]:
    """Yield the parts of a question that asks for several things."""
    for part in state.subquestions or joined_parts(state.question):
        title = without_subject(part, state.question)
        yield Topic(title[:1].upper() + title[1:], part, part)


def _asks(topics: Sequence[Topic], part: Topic) -> bool:
    """Return whether one of the topics covers a part."""
    claim = claim_of(part.question)
    return any(TermLookup(topic.question).covers(claim) >= _SAME for topic in topics)


def _documents(state: ResearchState) -> Iterator[Topic]:
    """Yield a topic for each document, those of the best passages first."""
    documents = defaultdict[str, list[RetrievedItem]](list)
    for item in state.items:
        documents[headings(item).partition(" > ")[0]].append(item)
    for name, items in documents.items():
        title = str(items[0].metadata.get("document_title") or name)
        topic = _about(title, state, (), [item.id for item in items])
        yield replace(topic, subject=name)


def _sections(state: ResearchState, parts: Sequence[Topic]) -> dict[str, list[str]]:
    """Return section headings with the ids of their passages, those of the best passages first.

    Passages without a term of the question are left out. Where it has several parts, so are those that cover none.
    """
    sections, asked = defaultdict[str, list[str]](list), claim_of(state.question)
    claims = [claim_of(part.question) for part in parts]
    for item in sorted(state.items, key=lambda item: item.score, reverse=True):
        title = section_title(item)
        lookup = TermLookup(f"{headings(item)}\n{item.text}")
        is_about = any(lookup.covers(claim) > _LEAST_OF_PART for claim in claims)
        if title and (is_about if claims else lookup.common_terms(asked) or not asked):
            sections[title].append(item.id)
    return sections


def _next_names(state: ResearchState) -> Iterator[str]:
    """Yield names in the passages about the question that it does not give itself, most important first."""
    question, asked = normalise(state.question), claim_of(state.question)
    about = (item for item in state.items if TermLookup(item.text).common_terms(asked))
    texts = list(map(wording_of, about))
    for entity in _of_kind(state, ItemKind.ENTITY):
        name = str(entity.metadata["name"])
        folded = normalise(name)
        if folded not in question and any(text.says(folded) for text in texts):
            yield name


def _about(
    name: str, state: ResearchState, words: Iterable[str], found: Sequence[str] = ()
) -> Topic:
    """Return a topic about a name, searched together with the question's words."""
    others = [word for word in words if word not in normalise(name)]
    question = _ABOUT[state.language].format(name=name)
    return Topic(name, question, " ".join([name, *others]), subject=name, found=list(found))


def _distinct(topics: Iterable[Topic]) -> Iterator[Topic]:
    seen = set[str]()
    for topic in topics:
        if (plain_title := normalise(topic.title)) not in seen:
            seen.add(plain_title)
            yield topic


def _of_kind(state: ResearchState, kind: ItemKind) -> list[RetrievedItem]:
    return [item for item in state.graph_items if item.kind is kind]


async def _ask_for_plan(
    state: ResearchState, run: RunContext
) -> tuple[list[Topic], dict[str, Any]]:
    """Return the chat model's questions, without repetitions and without those in words that it was not shown."""
    found = list(dict.fromkeys(headings(item) for item in state.items))[:_SHOWN]
    names = [
        *(str(item.metadata["title"]) for item in _of_kind(state, ItemKind.COMMUNITY)),
        *(str(item.metadata["name"]) for item in _of_kind(state, ItemKind.ENTITY)),
    ][:_SHOWN]
    most = run.deps.settings.research.questions
    messages = prompts.PLAN.messages(
        state.language,
        question=prompts.as_data(state.question),
        history=prompts.format_turns(state.before),
        sections=prompts.as_data("\n".join(found)),
        names=prompts.as_data("\n".join(names)),
        most=str(most),
    )
    judged = await ask(state, run, messages, Plan)
    if judged.reply is None:
        return [], judged.costs
    said = (turn["content"] for turn in state.before)
    vocabulary = Vocabulary(state.question, *said, *found, *names)
    longest = run.deps.settings.limits.question_chars
    questions = [
        clean_text(one)[:longest] for one in judged.reply.questions if vocabulary.gives(one)
    ]
    new = list[str]()
    for one in questions:
        if not any(_restates(one, other) for other in (state.question, *new)):
            new.append(one)
    return [Topic(one, one, one) for one in new], judged.costs


def _restates(question: str, other: str) -> bool:
    """Return whether two questions are one, by the terms that they share."""
    if normalise(question) == normalise(other):
        return True
    one, two = claim_of(question), claim_of(other)
    shared = min(TermLookup(question).covers(two), TermLookup(other).covers(one))
    return shared >= _SAME


def estimate_report(state: ResearchState, run: RunContext, topics: Sequence[Topic]) -> Planned:
    """Return the plan with its usual cost, without revisions.

    Calls: one for each section and for the question itself, one in each further round of searches, one for the outline.
    Each prompt is assumed to show as many passages as a section, of the length of those found.
    """
    settings, chat = run.deps.settings, run.deps.chat
    limits = settings.limits
    bounds = {
        "calls": limits.model_calls,
        "prompt_tokens": limits.prompt_tokens,
        "seconds": limits.answer_seconds,
    }
    questions = tuple(
        topic.question if topic.subject else without_subject(topic.question, state.question)
        for topic in topics
    )
    if chat is None or state.unreachable:
        return Planned(questions, seconds=0.0, limits=bounds)
    written = 1 + len(topics)
    judged = settings.research.rounds + (len(topics) >= LEAST_FOR_OUTLINE)
    shown = state.items[:MOST_OF_TOPIC]
    passages = lay_out_passages(state.question, shown, passage_tokens(state, run))
    prompt = size_without_passages(state) + passages.tokens
    answer, speed = answer_length(chat.speed), chat.speed
    seconds = None
    if speed.answer:
        sections = written * speed.seconds(prompt, round(answer)) / chat.parallel.size
        seconds = sections + judged * speed.seconds(prompt, _SHORT)
    return Planned(
        questions,
        min(written + judged, limits.model_calls),
        min((written + judged) * prompt, limits.prompt_tokens),
        round(written * answer) + judged * _SHORT,
        seconds and round(min(seconds, limits.answer_seconds), 1),
        bounds,
    )
