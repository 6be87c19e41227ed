"""What every group of settings is: frozen, and without names of its own making."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Weight = Annotated[float, Field(ge=0)]


class Group(BaseModel):
    """Settings of one subject; a name that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
