"""Measure the answers of the chat model that the settings name.

    python -m benchmarks.quality.model_answers FOLDER [--questions 20] [--mode mix] [SET …]

FOLDER has one folder per question set, as for `benchmarks.quality.answers`; a set with `public.jsonl.gz` is NoMIRACL, whose
questions come with their passages. Questions are asked one after another. Their results are stored in the data folder,
so a stopped run goes on; other settings, another mode or other code begin a new run. At the end the report
`answers-model` and the pages are written. Its columns:

- by model: share of the answers that the model wrote; the others are quotations.
- answer held: share with a known answer in them, literally; quotations instead of or below the model's words count.
- F1, exact: words shared with the nearest known answer (Chinese: characters), and whether both are equal. Answers are
  sentences and known answers are short, so these are lower than those of systems that extract.
- citations right: of the cited sentences, those that are supported and cite a right passage.
- right passages cited: of the right passages of answered questions.
- declined, answerable | unanswerable: the first should be low, the second high.
- tokens in, out and calls: mean a question; seconds: median.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import orjson

from benchmarks.quality.pages import DOCS, Cell, measured, write_pages, write_report
from benchmarks.quality.sets import (
    JUDGED,
    Parts,
    SetFiles,
    holds_answer,
    open_set,
    parser_of_sets,
    read_judged,
    sample,
    with_parts,
)
from sextant.domain.answers import Answer, Trust, answer_of
from sextant.domain.configuration import load_settings
from sextant.domain.errors import ModelUnavailable, SettingsInvalid, SextantError
from sextant.domain.settings import Settings
from sextant.evals.dataset import EvalQuestion, estimate
from sextant.graph.streaming import stream_answer
from sextant.graph.workflow import create_query_workflow
from sextant.ingestion.progress import OnCount, silent
from sextant.models.chat.chat_model import ChatModel
from sextant.nodes.answers.answer_generator import AnswerGenerator
from sextant.nodes.citing.verdicts import SUPPORTED

REPORT = "answers-model"
COLUMNS = (
    "set", "model", "questions", "by model", "answer held", "F1", "exact", "citations right", "right passages cited",
    "declined, answerable", "declined, unanswerable", "tokens in", "tokens out", "calls", "seconds",
)  # fmt: skip
_SETS = ("xquad", "cmrc2018", "hotpotqa", "nomiracl")
_MOST_FAILURES = 3  # of the model in a row, before the run stops
_MARKER = re.compile(r"\[\w+(?::\w+)?\]")
_TOKEN = re.compile(r"[㐀-鿿豈-﫿]|[^\W_㐀-鿿豈-﫿]+")
_ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The result of one question.

    Attributes:
        id: of the question.
        answerable: whether the corpus, or the question's own passages, answer it.
        declined: whether the answer declines.
        by_model: whether the chat model wrote the answer.
        held, f1, exact: comparison with the known answers; None if there are none, or if the answer declines.
        cited: for each cited sentence, whether it is supported and cites a right passage.
        gold_cited: for each right passage, whether it is cited.
    """

    id: str
    answerable: bool
    declined: bool
    by_model: bool
    held: bool | None = None
    f1: float | None = None
    exact: bool | None = None
    cited: list[bool] = field(default_factory=list[bool])
    gold_cited: list[bool] = field(default_factory=list[bool])
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


def answer_tokens(text: str) -> list[str]:
    """Return the words of a text without English articles; of Chinese the characters."""
    return [word for word in _TOKEN.findall(text.casefold()) if word not in _ARTICLES]


def overlap(text: str, known: str) -> float:
    """Return the F1 of the words of two texts, as in SQuAD and CMRC."""
    given, wanted = Counter(answer_tokens(text)), Counter(answer_tokens(known))
    shared = (given & wanted).total()
    return 2 * shared / (given.total() + wanted.total()) if shared else 0.0


def score_answer(
    question: EvalQuestion, answer: Answer, *, answerable: bool, seconds: float = 0.0
) -> AnswerScore:
    """Compare an answer with the known answers and passages; without known passages citations are not judged."""
    text = _MARKER.sub("", answer.answer)
    answered, known = not answer.declined, question.answers
    gold = frozenset(question.gold_ids) if answered else frozenset[str]()
    passages = {source.marker: source.external_id or source.chunk_id for source in answer.sources}
    sentences = dict[str, bool]()
    for one in answer.citations if gold else ():
        right = one.support >= SUPPORTED and passages.get(one.marker) in gold
        sentences[one.sentence] = sentences.get(one.sentence, False) or right
    cited = set(passages.values())
    compared = bool(answered and known)
    return AnswerScore(
        id=question.id,
        answerable=answerable,
        declined=answer.declined,
        by_model=bool(answer.prompt) and answer.trust is not Trust.QUOTED,
        held=holds_answer(text, known) if compared else None,
        f1=max(overlap(text, one) for one in known) if compared else None,
        exact=answer_tokens(text) in map(answer_tokens, known) if compared else None,
        cited=list(sentences.values()),
        gold_cited=[one in cited for one in sorted(gold)],
        calls=answer.usage.calls,
        prompt_tokens=answer.usage.prompt_tokens,
        completion_tokens=answer.usage.completion_tokens,
        seconds=round(seconds, 2),
    )


class AnswerScoreLog:
    """The results of one set in a file of the data folder, a JSON line each.

    Args:
        file: created if it is missing.
        run: identifies model, settings, mode and code; lines of other runs are ignored.
    """

    def __init__(self, file: Path, run: str) -> None:
        self._file, self._run = file, run

    def read(self) -> dict[str, AnswerScore]:
        """Return the results of this run by question; incomplete lines are ignored."""
        if not self._file.exists():
            return {}
        rows = filter(None, map(_read_line, self._file.read_bytes().splitlines()))
        scores = (AnswerScore(**row["score"]) for row in rows if row["run"] == self._run)
        return {one.id: one for one in scores}

    def add(self, score: AnswerScore) -> None:
        """Append a result."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as lines:
            # A killed run may have left half a line, so a line break comes first.
            lines.write(b"\n" + orjson.dumps({"run": self._run, "score": asdict(score)}))


def _read_line(line: bytes) -> dict[str, Any] | None:
    try:
        row: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row


def report_row(name: str, model: str, scores: Sequence[AnswerScore]) -> list[Cell]:
    """Return the figures of a set, shares in percent with their intervals."""
    answerable = [one for one in scores if one.answerable]
    usage = [(one.prompt_tokens, one.completion_tokens) for one in scores]
    return [
        name,
        model,
        len(scores),
        _percent(one.by_model for one in scores),
        *(_percent(_known(answerable, what)) for what in ("held", "f1", "exact")),
        _percent(right for one in answerable for right in one.cited),
        _percent(right for one in answerable for right in one.gold_cited),
        _percent(one.declined for one in answerable),
        _percent(one.declined for one in scores if not one.answerable),
        *(round(sum(tokens) / len(scores)) for tokens in zip(*usage, strict=True)),
        f"{sum(one.calls for one in scores) / len(scores):.1f}",
        f"{median(one.seconds for one in scores):.1f}",
    ]


def _known(scores: Sequence[AnswerScore], what: str) -> list[float]:
    return [value for one in scores if (value := getattr(one, what)) is not None]


def _percent(values: Iterable[float]) -> Cell:
    found = estimate([100 * float(one) for one in values])
    if not found.count:
        return "–"
    return [round(one, 1) for one in (found.mean, found.low, found.high)]


@dataclass(frozen=True, slots=True)
class _Task:
    """A question, whether it can be answered, and the function that answers it."""

    question: EvalQuestion
    answerable: bool
    ask: Callable[[], Awaitable[Answer]]


async def measure_set(
    folder: Path,
    parts: Parts,
    log: AnswerScoreLog,
    *,
    mode: str,
    most: int,
    on_progress: OnCount = silent,
) -> list[AnswerScore]:
    """Ask at most `most` questions of a set, skip those with a stored result, and store each result.

    A question that the model does not answer is left out, and asked again in the next run.

    Raises:
        SextantError: reading, loading or asking failed, or the model failed several times in a row; earlier results
            stay.
    """
    done, scores, failed = log.read(), list[AnswerScore](), 0
    tasks = await _read_tasks(folder, parts, mode)
    chosen = sample(tasks, most)[:most]
    for task in chosen:
        score = done.get(task.question.id)
        if score is None:
            began = perf_counter()
            try:
                answer = await task.ask()
            except ModelUnavailable as error:
                failed += 1
                if error.unreachable or failed == _MOST_FAILURES:
                    raise
                print(f"{task.question.id}: left out. {error.message}", file=sys.stderr, flush=True)
                continue
            failed = 0
            score = score_answer(
                task.question, answer, answerable=task.answerable, seconds=perf_counter() - began
            )
            log.add(score)
        scores.append(score)
        on_progress(len(scores), len(chosen))
    return scores


async def _read_tasks(folder: Path, parts: Parts, mode: str) -> list[_Task]:
    if (folder / JUDGED).exists():
        settings = parts[2].settings
        generator = AnswerGenerator(
            _chat_of(parts),
            context_tokens=settings.limits.context_tokens,
            repair=settings.answers.repair,
        )
        return _judged_tasks(folder / JUDGED, generator)
    opened = await open_set(*parts, SetFiles.of(folder))
    workflow = create_query_workflow(dependencies=opened.dependencies)

    async def ask(query: str) -> Answer:
        scope = opened.scope
        inputs = {
            "query": query,
            "mode": mode,
            "graph_id": scope.graph_id,
            "user_id": scope.user_id,
        }
        return await answer_of(stream_answer(workflow, inputs))

    return [
        _Task(one, bool(one.gold_ids), partial(ask, one.query))
        for one in opened.questions
        if one.query.strip()
    ]


def _judged_tasks(file: Path, generator: AnswerGenerator) -> list[_Task]:
    return [
        _Task(
            EvalQuestion(one.id, one.query, gold_ids=(), type=one.language),
            one.is_answerable,
            partial(generator.agenerate, one.query, one.passages),
        )
        for one in read_judged(file)
    ]


def _chat_of(parts: Parts) -> ChatModel:
    _, _, dependencies = parts
    if dependencies.chat is None:
        raise no_chat_model()
    return dependencies.chat


def no_chat_model() -> SettingsInvalid:
    """Return the error about a missing chat model."""
    return SettingsInvalid(
        "No chat model is named.",
        next_step="Set SEXTANT_CHAT_MODEL and OPENAI_BASE_URL (docs/models.md).",
        field="chat_model",
    )


async def measure(
    folder: Path, names: Sequence[str], mode: str, most: int, docs: Path = DOCS
) -> None:
    """Measure each set with the chat model of the settings, and write the report and the pages.

    Raises:
        SettingsInvalid: no chat model is named.
        SextantError: reading, loading or asking failed.
    """
    settings, rows = await asyncio.to_thread(load_settings), list[list[Cell]]()
    sets = "" if tuple(names) == _SETS else f" ANSWER_SETS='{' '.join(names)}'"
    how = measured(f"make eval-answers QUESTIONS={most}{sets}")
    async with with_parts(settings) as parts:
        model = _chat_of(parts).name
        run = f"{model} {mode} {how['commit']} {_digest(settings)}"
        for name in names:
            file = settings.data_dir / REPORT / f"{name}.jsonl"
            scores = await measure_set(
                folder / name,
                parts,
                AnswerScoreLog(file, run),
                mode=mode,
                most=most,
                on_progress=partial(_show, name),
            )
            if scores:
                rows.append(report_row(name, model, scores))
    write_report(REPORT, {"measured": how, "columns": COLUMNS, "rows": rows}, docs)
    write_pages(docs)


def _digest(settings: Settings) -> str:
    """Return a hash of the settings that identifies a run and reveals no secret."""
    settings_json = settings.model_dump_json(exclude={"data_dir", "database_url"})
    return hashlib.sha256(settings_json.encode()).hexdigest()[:16]


def _show(name: str, done: int, total: int) -> None:
    print(f"{name}: {done} of {total} questions", file=sys.stderr, flush=True)


def _main() -> None:
    parser = parser_of_sets(__doc__)
    parser.add_argument("names", nargs="*", metavar="SET", help=f"default: {' '.join(_SETS)}")
    parser.add_argument("--questions", type=int, default=20, help="of each set at most (20)")
    parser.add_argument("--mode", default="mix", help="of the search (mix)")
    given = parser.parse_args()
    if given.questions < 1:
        parser.error("--questions must be 1 or more")
    try:
        asyncio.run(measure(given.folder, given.names or _SETS, given.mode, given.questions))
    except SextantError as error:
        sys.exit(f"{error.message} {error.next_step}")


if __name__ == "__main__":
    _main()
