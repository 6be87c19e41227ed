"""What every group of settings is: frozen, and without names of its own making."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Weight = Annotated[float, Field(ge=0)]
# A folder, of which `~` is the user's own.
Folder = Annotated[Path, AfterValidator(Path.expanduser)]


class Group(BaseModel):
    """Settings of one subject; a name that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
