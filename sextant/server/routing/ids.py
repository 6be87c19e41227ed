"""Ids in the paths of several routes."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Path

from sextant.server.schemas import examples

DocumentId = Annotated[UUID, Path(alias="documentId", examples=[examples.SOME_ID])]
