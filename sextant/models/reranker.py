"""Cross-encoders that reorder retrieved passages: behind an HTTP endpoint, or on this machine.

Also here: cross-encoders that a caller has loaded, of sentence-transformers or LangChain, as
rerankers; loading sentence-transformers models.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urldefrag

from langchain_core.cross_encoders import BaseCrossEncoder

from sextant.domain.errors import ModelUnavailable, OptionInvalid, SettingsInvalid
from sextant.domain.settings import Settings
from sextant.domain.system import install_extra
from sextant.models.endpoint import in_batches
from sextant.models.failures import Service
from sextant.models.protocols import Reranker
from sextant.models.retries import Retries

if TYPE_CHECKING:
    from sextant.models.endpoint import Endpoint


class LoadedReranker:
    """A cross-encoder that the caller has loaded, in threads.

    Args:
        model: what it is called after.
        predict: scores (question, passage) pairs, in order.
    """

    def __init__(
        self, model: object, predict: Callable[[list[tuple[str, str]]], Iterable[float]]
    ) -> None:
        self.name = type(model).__name__
        self._predict = predict

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order."""
        pairs = [(query, text) for text in texts]
        return [float(score) for score in await asyncio.to_thread(self._predict, pairs)]


def as_reranker(model: object) -> Reranker:
    """`model` itself, or a `CrossEncoder` of sentence-transformers or LangChain wrapped.

    Raises:
        OptionInvalid: it scores nothing.
    """
    if isinstance(model, BaseCrossEncoder):
        return LoadedReranker(model, model.score)
    if callable(predict := getattr(model, "predict", None)):
        return LoadedReranker(model, predict)
    if not callable(getattr(model, "score", None)):
        raise OptionInvalid(
            f"{type(model).__name__} is not a reranking model.",
            next_step="Give a CrossEncoder of sentence-transformers or LangChain, or anything with "
            "`name` and `async score(query, texts)`.",
            field="reranker",
        )
    return cast("Reranker", model)


T = TypeVar("T")


def is_on_accelerator(model: Any) -> bool:  # noqa: ANN401 - a class of a package that ships no types
    """Return whether a sentence-transformers model runs on a GPU, which does many texts in the time of a few."""
    return bool(model.device.type != "cpu")


class LocalModel:
    """One sentence-transformers model in a thread of its own, loaded on first use.

    A single thread, since such a model already uses every core for one batch: a second batch at the
    same time only makes both slower.

    Args:
        kind: the class in `sentence_transformers` to load, `SentenceTransformer` or `CrossEncoder`.
        name: a name at the model hub, or a path.
    """

    def __init__(self, kind: str, name: str) -> None:
        self.name = name
        self._kind = kind
        self._model: Any = None
        self._thread = ThreadPoolExecutor(1, f"local-{kind}")

    async def run(self, work: Callable[[Any], T]) -> T:
        """Return `work(model)`, in the model's thread.

        Raises:
            ModelUnavailable: the extra is not installed, or the model cannot be loaded or run.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, work)

    def _work(self, work: Callable[[Any], T]) -> T:
        if self._model is None:
            self._model = self._load()
        try:
            return work(self._model)
        except Exception as error:
            raise ModelUnavailable(
                f"The local model {self.name} failed: {str(error)[:200]}",
                next_step="A smaller model or batch needs less memory; see the log for the cause.",
            ) from error

    def _load(self) -> Any:  # noqa: ANN401 - a class of a package that ships no types
        try:
            import sentence_transformers
            from transformers.utils import logging as transformers_logging
        except ImportError as error:
            raise ModelUnavailable(
                f"{self.name} needs sentence-transformers, which is not installed.",
                next_step=install_extra("local"),
            ) from error
        build = getattr(sentence_transformers, self._kind)
        transformers_logging.disable_progress_bar()  # reading what is here takes a second; a download tells itself
        # A model that is here already needs no hub, which may be slow or out of reach.
        with contextlib.suppress(Exception):
            return build(self.name, local_files_only=True)
        try:
            return build(self.name)
        except Exception as error:
            raise ModelUnavailable(
                f"The local model {self.name} cannot be loaded: {str(error)[:200]}",
                next_step="Give the path of a downloaded model, or load it once where the model "
                "hub can be reached.",
            ) from error


_BATCH = 32
_AT_ONCE = 4
# A local model cannot be stopped within a batch, and should not work on long after the deadline. On a GPU
# a larger batch is over as soon: an H100 scores 40 pairs by MiniLM-L6 in 28 ms at once, in 46 by eight.
_LOCAL_BATCH, _LOCAL_BATCH_ON_ACCELERATOR = 8, 64
# What models of natural language inference call it, beside neutral and contradiction.
_ENTAILS = "entailment"


class HttpReranker:
    """A `/rerank` endpoint in the shape that Cohere, Jina and vLLM share.

    Posts `{model, query, documents, top_n}` and reads `results: [{index, relevance_score}]`; 32
    passages a request, the most that text-embeddings-inference takes unless told otherwise.

    Args:
        url: where to post; the model's name may stand behind `#`.
        settings: key, time limit and retries.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        address, self._model = urldefrag(url)
        key = settings.reranker_api_key
        from sextant.models.endpoint import Endpoint  # its HTTP client is 0.1 s of every start

        self._endpoint: Endpoint = Endpoint(
            address,
            key.get_secret_value() if key else None,
            Service(
                f"reranker {self._model or address}",
                "SEXTANT_RERANKER",
                "SEXTANT_RERANKER_API_KEY",
                "SEXTANT_RERANKER",
                length_setting="SEXTANT_INGESTION__CHUNK_TOKENS",
                label_zh=f"重排序模型 {self._model or address}",
            ),
            Retries.of(settings.model_retries, settings.model_timeout),
            settings.model_timeout,
        )

    @property
    def name(self) -> str:
        """Return the model's name, or `rerank` when the URL names none."""
        return self._model or "rerank"

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order.

        Raises:
            ModelUnavailable: the endpoint gives no score, or not one for each text.
        """
        ask = partial(self._scores, query)
        scored = await in_batches(ask, texts, size=_BATCH, at_once=_AT_ONCE)
        return [score for batch in scored for score in batch]

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        request = {"query": query, "documents": list(texts), "top_n": len(texts)}
        answer = await self._endpoint.post(
            request | ({"model": self._model} if self._model else {})
        )
        try:
            scored = sorted(
                (one["index"], float(one["relevance_score"])) for one in answer["results"]
            )
        except (KeyError, TypeError, ValueError):
            scored = []
        ordered = [score for _, score in scored]
        if [index for index, _ in scored] != list(range(len(texts))):
            raise self._endpoint.unusable("it does not score every passage once")
        if not all(map(math.isfinite, ordered)):
            raise self._endpoint.unusable("a score is not a finite number")
        return ordered


class LocalReranker:
    """A sentence-transformers cross-encoder by name or path (the `[local]` extra), or an entailment model.

    Loads on first use and runs in a thread of its own.
    """

    def __init__(self, model: str) -> None:
        self._local = LocalModel("CrossEncoder", model)

    @property
    def name(self) -> str:
        """Return the model's name or path."""
        return self._local.name

    async def warm_up(self) -> None:
        """Load the model now; a question that waited for it would be past its deadline.

        Raises:
            ModelUnavailable: the extra is not installed, or the model cannot be loaded.
        """
        await self.score("warm up", ["warm up"])

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order.

        Raises:
            ModelUnavailable: the extra is not installed, or the model cannot be loaded.
        """
        pairs = [(query, text) for text in texts]
        fast = await self._local.run(is_on_accelerator)
        size = _LOCAL_BATCH_ON_ACCELERATOR if fast else _LOCAL_BATCH

        async def predict(batch: Sequence[tuple[str, str]]) -> list[float]:
            return await self._local.run(lambda model: _predict(model, batch))

        scored = await in_batches(predict, pairs, size=size, at_once=1)
        return [score for batch in scored for score in batch]


def _predict(model: Any, pairs: Sequence[tuple[str, str]]) -> list[float]:  # noqa: ANN401
    """Return one score a pair; of an entailment model the probability that the text entails what is asked of it."""
    names = {name.lower(): index for index, name in model.config.id2label.items()}
    if len(names) == 1:
        return [float(score) for score in model.predict(list(pairs), show_progress_bar=False)]
    if _ENTAILS not in names:
        raise ValueError(f"it has {len(names)} classes, and none is called {_ENTAILS!r}")
    claim_pairs = [(text, claim) for claim, text in pairs]
    rows = model.predict(claim_pairs, apply_softmax=True, show_progress_bar=False)
    return [float(row[names[_ENTAILS]]) for row in rows]


def build_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker that the settings name, or None when they name none. Loads and calls nothing yet.

    Raises:
        SettingsInvalid: the setting is neither a URL nor `sentence-transformers:<name or path>`
            (`llm` is opened by `sextant.retrievers.ranking.reranking`).
    """
    return _build(settings.reranker, settings, "reranker", "`llm`") if settings.reranker else None


def open_judge(settings: Settings, reranker: Reranker | None) -> Reranker | None:
    """Return the judge of citations that the settings name; None: citations are checked by rules.

    Raises:
        SettingsInvalid: the setting is of no known form, or names a reranker that there is not.
    """
    named = settings.answers.judge
    if not named:
        return None
    if named != "reranker":
        return _build(named, settings, "answers.judge", "`reranker`")
    if reranker is None:
        raise SettingsInvalid(
            "Citations are to be judged by the reranker, but none is configured.",
            next_step="Set SEXTANT_RERANKER, or clear SEXTANT_ANSWERS__JUDGE.",
            field="answers.judge",
        )
    return reranker


def _build(named: str, settings: Settings, field: str, alternatives: str) -> Reranker:
    scheme, _, rest = named.partition(":")
    if scheme in {"http", "https"} and rest.startswith("//"):
        return HttpReranker(named, settings)
    if scheme == "sentence-transformers" and rest:
        return LocalReranker(rest)
    variable = f"SEXTANT_{field.replace('.', '__').upper()}"
    raise SettingsInvalid(
        f"The {field} {named!r} is of no known form.",
        next_step=f"Set {variable} to the URL of a /rerank endpoint, to "
        f"`sentence-transformers:<cross-encoder>` or to {alternatives}, or clear it.",
        field=field,
    )
