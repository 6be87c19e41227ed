"""Loading sentence-transformers models: the `[local]` extra, absent from the base install."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sextant.domain.errors import ModelUnavailable
from sextant.domain.extras import install_extra

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
