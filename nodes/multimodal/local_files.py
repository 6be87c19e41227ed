"""Files of the caller's own machine as parts of a question.

The workflow reads no file that a question names, unless it lies in `multimodal.image_dir`: a question
may come from anywhere. Who calls Python or the command line may read their own files, so these are
read here, before the question goes its way.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import Settings
from sextant.ingestion.parsing.encodings import decode

_PATHS = ("img_path", "imgPath", "image_path")


async def with_local_images(
    content: Sequence[Mapping[str, Any]], settings: Settings
) -> Sequence[Mapping[str, Any]]:
    """Return the parts of a question with the files that their `img_path` names read into them.

    With `multimodal.image_dir` set, paths stay as they are and count within that folder. What is of no
    shape of parts stays for the workflow to name.

    Raises:
        OptionInvalid: a file cannot be read.
    """
    if settings.multimodal.image_dir is not None or isinstance(content, str | Mapping):
        return content
    return await asyncio.to_thread(
        lambda: [
            _with_image(part, number, settings) if isinstance(part, Mapping) else part
            for number, part in enumerate(content)
        ]
    )


def read_attachments(
    images: Sequence[Path], tables: Sequence[Path], settings: Settings
) -> list[dict[str, Any]]:
    """Return files named on the command line as parts of a question; blocks.

    Raises:
        OptionInvalid: a file cannot be read.
        FileTypeUnknown: a table's file is no text.
    """
    shown: list[dict[str, Any]] = [
        _with_image({"type": "image", "img_path": str(path)}, number, settings)
        for number, path in enumerate(images)
    ]
    most = settings.multimodal.table_chars * 4  # bytes of a character in UTF-8
    return shown + [
        {
            "type": "table",
            "table_data": decode(_read(path, most, "table")).text,
            "table_caption": path.stem,
        }
        for path in tables
    ]


def _with_image(part: Mapping[str, Any], number: int, settings: Settings) -> dict[str, Any]:
    name = next((name for name in _PATHS if isinstance(part.get(name), str | Path)), None)
    if name is None or part.get("data") or "://" in str(part[name]):
        return dict(part)
    path = str(part[name])
    if path.startswith("data:"):
        return dict(part)
    field = f"multimodal_content[{number}].{name}"
    content = _read(Path(path), settings.multimodal.image_bytes, field)
    encoded = b64encode(content).decode("ascii")
    data = f"data:application/octet-stream;base64,{encoded}"
    return {**part, name: path, "data": data}


def _read(path: Path, most: int, field: str) -> bytes:
    """At most one byte more than `most`, by which whoever checks sizes sees that it is too large."""
    try:
        with path.expanduser().open("rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise OptionInvalid(
            f"{field}: {path} cannot be read ({error.strerror}).",
            next_step="Check the path.",
            field=field,
        ) from error
