"""The vision model: a chat model that is shown pictures and describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage, SystemMessage

from sextant.models.chat.chat_model import ChatModel, ModelCompletion
from sextant.models.chat.pictures import EncodedPicture, PictureLimits
from sextant.text.characters import clean_text

if TYPE_CHECKING:
    from sextant.domain.settings import Settings

# A description is for searching and answering: what a model says beyond this is not read.
_LONGEST = 4000


class VisionModel:
    """Describes pictures with a chat model that takes images (OpenAI-compatible `image_url` parts).

    Only data URIs are ever sent, never an address: neither we nor the endpoint fetches anything.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """Return the model's name at its endpoint."""
        return self._chat.name

    async def describe(
        self, picture: EncodedPicture, prompt: list[tuple[str, str]]
    ) -> ModelCompletion:
        """Return what the model says of a picture, at most 4,000 characters.

        Args:
            picture: what it is shown.
            prompt: a system and a user part; the picture goes with the latter.

        Raises:
            ModelUnavailable, ModelOutputInvalid: as for `ChatModel.complete`.
        """
        (_, system), (_, user) = prompt
        shown: list[str | dict[Any, Any]] = [
            {"type": "text", "text": user},
            {"type": "image_url", "image_url": {"url": picture.data_uri}},
        ]
        reply = await self._chat.complete([SystemMessage(system), HumanMessage(shown)])
        return ModelCompletion(clean_text(reply.text).strip()[:_LONGEST], reply.usage)


def picture_limits(settings: Settings) -> PictureLimits:
    """Return the limits of `settings.multimodal` on one picture."""
    limits = settings.multimodal
    return PictureLimits(limits.image_bytes, limits.image_pixels, limits.image_edge)
