"""Build the calls that ask a chat model to describe chunks and sections, and read the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated

from pydantic import BeforeValidator, Field, create_model

from sextant.domain.answers import Usage
from sextant.domain.settings import Settings
from sextant.ingestion.offline_descriptions import KEYWORDS, TOPICS, short
from sextant.ingestion.progress import runs_of
from sextant.models.chat.replies import Number, Sentence, Words, index_replies, numbered_objects
from sextant.models.chat.structured import AtMost, Declared, ModelReply, instruction
from sextant.prompts import DESCRIBE, DESCRIBE_SECTIONS, LANGUAGES, Messages, as_data, number_texts
from sextant.stores.documents.model_descriptions import (
    DescribedKind,
    DescribedPart,
    ModelDescription,
    UndescribedItem,
)
from sextant.text.characters import estimate_tokens, language_of
from sextant.text.vocabulary import Vocabulary

TOGETHER = 8  # chunks or sections in one call
_CALL_CHARS = 16_000  # of the items of a call
_WORD_CHARS = 60  # of a keyword, topic or tag
# Of a description as JSON: a sentence of 30 words or 60 ideographs, eight keywords, three topics and three tags.
_ANSWER_TOKENS = 150
# The limit of an answer is twice as long, for models that write JSON with white space.
_LIMIT_BASE, _LIMIT_TOKENS = 100, 2 * _ANSWER_TOKENS
_PROMPTS = {DescribedKind.PASSAGES: DESCRIBE, DescribedKind.SECTIONS: DESCRIBE_SECTIONS}


class _SectionReply(ModelReply):
    passage: Number = None
    summary: Sentence = ""
    keywords: Annotated[Words, AtMost(KEYWORDS)] = Field(default_factory=list[str])
    tags: Annotated[Words, AtMost(TOPICS)] = Field(default_factory=list[str])


class _ChunkReply(_SectionReply):
    topics: Annotated[Words, AtMost(TOPICS)] = Field(default_factory=list[str])


class SectionReplies(ModelReply):
    """The reply about sections."""

    passages: Annotated[list[_SectionReply], BeforeValidator(numbered_objects), AtMost(TOGETHER)]


class ChunkReplies(ModelReply):
    """The reply about chunks."""

    passages: Annotated[list[_ChunkReply], BeforeValidator(numbered_objects), AtMost(TOGETHER)]


Replies = ChunkReplies | SectionReplies


@cache
def schema_of(kind: DescribedKind, count: int) -> type[ChunkReplies] | type[SectionReplies]:
    """Return the schema of a reply about `count` chunks or sections, all of which are required."""
    each = Declared(minItems=count, maxItems=count)
    if kind is DescribedKind.PASSAGES:
        chunks = Annotated[
            list[_ChunkReply], BeforeValidator(numbered_objects), AtMost(TOGETHER), each
        ]
        return create_model("ChunkReplies", __base__=ChunkReplies, passages=(chunks, ...))
    sections = Annotated[
        list[_SectionReply], BeforeValidator(numbered_objects), AtMost(TOGETHER), each
    ]
    return create_model("SectionReplies", __base__=SectionReplies, passages=(sections, ...))


@dataclass(frozen=True, slots=True)
class _Echo:
    """The words of a prompt, by which a reply that repeats the instructions is recognised."""

    instructions: Vocabulary
    data: Vocabulary

    def repeats(self, word: str) -> bool:
        """Return whether a word occurs in the instructions, but in none of the texts."""
        return self.instructions.has(word) and not self.data.share(word)


@dataclass(frozen=True, slots=True)
class Call:
    """A call about some chunks or sections; `need` is its estimated usage."""

    asked: Sequence[UndescribedItem]
    prompt: Messages
    need: Usage

    @property
    def answer_tokens(self) -> int:
        """Return the limit of the answer."""
        return _LIMIT_BASE + _LIMIT_TOKENS * len(self.asked)

    def said(self, replies: Replies) -> dict[int, ModelDescription]:
        """Return the descriptions in an answer by the index of the item; those that it leaves out are absent."""
        by_number = index_replies(replies.passages, len(self.asked))
        (_, instructions), (_, data) = self.prompt
        echo = _Echo(Vocabulary(instructions), Vocabulary(data))
        return {
            number - 1: _to_description(one, by_number[number], echo)
            for number, one in enumerate(self.asked, 1)
            if number in by_number and by_number[number].summary
        }


def groups_of(
    found: Iterable[UndescribedItem], together: int = TOGETHER
) -> Iterator[list[UndescribedItem]]:
    """Yield the items of each call: in one language, at most `together`; one that failed before comes alone."""
    spoken: dict[str, list[UndescribedItem]] = {language: [] for language in LANGUAGES}
    for one in found:
        spoken[language_of(_prompt_text(one))].append(one)
    for items in spoken.values():
        yield from runs_of(items, partial(_share, together), _CALL_CHARS)


def call_about(kind: DescribedKind, items: Sequence[UndescribedItem], settings: Settings) -> Call:
    """Return the call about items of one language."""
    texts = [_prompt_text(one) for one in items]
    titles = (one.document_title for one in items)
    prompt = prompt_of(kind, language_of(texts[0]), titles, texts)
    return Call(items, prompt, need_of(tokens_of(prompt), len(items), settings))


def copy_only_part(section: UndescribedItem) -> ModelDescription | None:
    """Return the description of a section's only part; None if there are more, or the model did not describe it."""
    if len(section.parts) != 1 or not section.parts[0].by_model:
        return None
    (part,) = section.parts
    return ModelDescription(
        section.id, section.version, part.summary, part.keywords, tags=part.tags
    )


def has_description(section: UndescribedItem) -> bool:
    """Return whether the model described a part of a section."""
    return any(part.by_model for part in section.parts)


def need_of(prompt_tokens: int, number: int, settings: Settings) -> Usage:
    """Estimate the usage of a call about `number` items."""
    answer = min(number * _ANSWER_TOKENS, settings.limits.answer_tokens)
    return Usage(1, prompt_tokens, answer, estimated=True)


def prompt_of(
    kind: DescribedKind, language: str, titles: Iterable[str], texts: Iterable[str]
) -> Messages:
    """Return the messages that ask for descriptions of texts."""
    title = as_data(" / ".join(dict.fromkeys(titles)))
    return _PROMPTS[kind].messages(language, title=title, passages=number_texts(texts))


def tokens_of(prompt: Messages) -> int:
    """Estimate the tokens of a prompt, with the instruction for JSON."""
    return estimate_tokens(
        "\n".join([*(text for _, text in prompt), instruction(ChunkReplies, with_schema=False)])
    )


def _share(together: int, one: UndescribedItem) -> int:
    """Return the characters that an item takes of a call."""
    return _CALL_CHARS if one.tries else max(len(_prompt_text(one)), _CALL_CHARS // together)


def _prompt_text(one: UndescribedItem) -> str:
    return "\n".join(filter(None, [one.text, *map(_line, one.parts)]))


def _line(part: DescribedPart) -> str:
    title = short(part.title, 100)
    return f"- {title}: {part.summary}" if title else f"- {part.summary}"


def _to_description(one: UndescribedItem, reply: _SectionReply, echo: _Echo) -> ModelDescription:
    return ModelDescription(
        one.id,
        one.version,
        short(reply.summary),
        _words(reply.keywords, KEYWORDS, echo),
        _words(reply.topics if isinstance(reply, _ChunkReply) else (), TOPICS, echo),
        _words(reply.tags, TOPICS, echo),
    )


def _words(given: Sequence[str], most: int, echo: _Echo) -> tuple[str, ...]:
    shortened = (word[:_WORD_CHARS] for word in given if not echo.repeats(word))
    return tuple(dict.fromkeys(shortened))[:most]
