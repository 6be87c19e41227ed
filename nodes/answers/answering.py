"""What every way of answering has in common: its events, its end, and the sentence for no answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sextant.domain.answers import Answer, Usage
from sextant.domain.events import Cited, Done, Reset, Sources, Token
from sextant.nodes.citing.citations import Citations

AnswerEvent = Token | Cited | Reset | Sources | Done

NOTHING_FOUND = {
    "en": "The documents do not say.",
    "zh": "文档中没有提到。",
}


def ending(
    given: Citations,
    model: str,
    *,
    grounded: bool,
    declined: bool = False,
    usage: Usage | None = None,
    prompt: str = "",
    warnings: Sequence[str] = (),
) -> Iterator[Sources | Done]:
    """Yield the sources of what was given out, then the whole of it."""
    whole = Answer(
        answer=given.text,
        mode="",
        citations=tuple(given.citations),
        sources=given.sources,
        grounded=grounded,
        declined=declined,
        warnings=tuple(dict.fromkeys(warnings)),
        model=model,
        usage=usage or Usage(),
        prompt=prompt,
    )
    yield Sources(whole.sources)
    yield Done(whole)


def yield_fixed_answer(
    sentence: str, model: str, *, declined: bool = False
) -> Iterator[AnswerEvent]:
    """Yield a fixed sentence as an answer."""
    yield Token(sentence)
    yield Sources(())
    yield Done(Answer(sentence, mode="", declined=declined, model=model))


def add_warning(event: AnswerEvent, warning: str) -> AnswerEvent:
    """Return the event, a `Done` with one warning more."""
    if not isinstance(event, Done):
        return event
    return Done(replace(event.answer, warnings=(*event.answer.warnings, warning)))
