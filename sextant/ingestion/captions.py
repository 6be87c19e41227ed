"""Describe the images in a document with a vision model."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from sextant import prompts
from sextant.domain.errors import ModelOutputInvalid, ModelUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.images import Captions, FoundImage
from sextant.models.chat.pictures import (
    EncodedPicture,
    PictureLimits,
    read_picture,
    size_of,
)
from sextant.stores.documents.document_reader import CaptionStore

if TYPE_CHECKING:
    from sextant.models.chat.pictures import VisionModel

log = logging.getLogger(__name__)


class Captioner:
    """Describe images with a vision model, each image of a knowledge base once.

    Args:
        vision: the model.
        captions: stores the descriptions.
        settings: `multimodal` applies.
    """

    def __init__(self, vision: VisionModel, captions: CaptionStore, settings: Settings) -> None:
        self._vision = vision
        self._captions = captions
        self._at_once = asyncio.Semaphore(settings.shared_concurrency)
        self._limits = PictureLimits(edge=settings.multimodal.image_edge)

    async def describe(
        self,
        scope: Scope,
        made: DocumentDraft,
        *,
        again: bool = False,
    ) -> Captions:
        """Describe the images of one document; a failure is a warning.

        Args:
            scope: the knowledge base.
            made: the parsed document, whose language is that of the descriptions.
            again: whether this is a further attempt; earlier failures are not tried again, so that the document's
                text stays the same as that of the stored chunks.
        """
        model, images, language = self._vision.name, made.images, made.language
        known = await self._captions.known(
            scope, model, language, [image.sha256 for image in images]
        )
        if not again:
            known = {sha256: text for sha256, text in known.items() if text}
        reasons = list[str]()

        async def look(image: FoundImage) -> None:
            try:
                prompt = prompts.PICTURE.messages(
                    language, title=prompts.as_data(made.title), caption=prompts.as_data(image.alt)
                )
                picture = await asyncio.to_thread(self._shrink, image)
                async with self._at_once:
                    description = await self._vision.describe(picture, prompt)
                known[image.sha256] = " ".join(description.text.split())
            except (ModelUnavailable, ModelOutputInvalid) as error:
                log.warning("an image of a document was not described: %s", error)
                known[image.sha256] = ""
                reasons.append(error.message)
            await self._captions.keep(scope, model, language, image.sha256, known[image.sha256])

        async with asyncio.TaskGroup() as group:
            for image in images:
                if image.sha256 not in known:
                    group.create_task(look(image))
        failed = sum(not known[image.sha256] for image in images)
        reason = next(iter(reasons), "as before")
        params = {"failed": failed, "images": len(images), "reason": reason}
        warning = CodedWarning(WarningCode.IMAGES_NOT_DESCRIBED, params)
        texts = {sha256: text for sha256, text in known.items() if text}
        return Captions(texts, (warning,) if failed else ())

    def _shrink(self, image: FoundImage) -> EncodedPicture:
        """Return an image in the size for the model; OCR gets a larger one."""
        width, height = size_of(image.jpeg)
        if max(width, height) <= self._limits.edge:
            return EncodedPicture(image.jpeg, width, height)
        return read_picture(image.jpeg, self._limits)
