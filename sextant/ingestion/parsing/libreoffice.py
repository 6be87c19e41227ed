"""DOC, XLS and PPT rewritten by LibreOffice as the formats that are read, where it is installed.

It runs in a process group of its own with an empty profile: no macros, no network where the system allows that, and
limits of time, memory and the size of files. What it writes is parsed as any other file is, in the parser's process.
"""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path, PurePath

from sextant.domain.errors import FileBroken, FileTypeUnknown, FileUnsafe
from sextant.ingestion.parsing import child
from sextant.ingestion.parsing.limits import Limits

_PROGRAMS = ("soffice", "libreoffice", "/Applications/LibreOffice.app/Contents/MacOS/soffice")
_ROOT = Path(__file__).parents[3]
# Macros are never run, links to other files never followed, nothing is asked for (`oor:` of LibreOffice's registry).
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
</oor:items>
"""
# Of address space beyond a parser's: its libraries alone take two thirds of this.
_LIBRARIES = 3_000_000_000


async def convert(content: bytes, filename: str, target: str, limits: Limits) -> bytes:
    """Return a file of the formats before 2007 as LibreOffice rewrites it.

    Args:
        content: the file.
        filename: what errors call it.
        target: the suffix of the new format, such as "docx".
        limits: its time, memory and size are LibreOffice's, too.

    Raises:
        FileTypeUnknown: LibreOffice is not installed.
        FileBroken: it cannot read the file.
        FileUnsafe: it takes too long.
    """
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        raise FileTypeUnknown(
            f"{filename} is of a binary format of Office, which only LibreOffice reads, and that is not installed.",
            next_step=f"Save it as {target.upper()}, or install LibreOffice (its program soffice must be on the PATH).",
        )
    with tempfile.TemporaryDirectory(
        prefix="sextant-office-", ignore_cleanup_errors=True
    ) as folder:
        home = Path(folder)
        source = home / f"file{PurePath(filename).suffix[:10] or '.doc'}"
        await asyncio.to_thread(_prepare, home, source, content)
        await _run(program, home, source, target, limits)
        result = source.with_suffix(f".{target}")
        if not result.is_file():
            raise FileBroken(
                f"LibreOffice cannot read {filename}; it may be damaged or protected by a password.",
                next_step=f"Open it in its program, save it as {target.upper()} and retry.",
            )
        return await asyncio.to_thread(result.read_bytes)


def _prepare(home: Path, source: Path, content: bytes) -> None:
    source.write_bytes(content)
    profile = home / "profile" / "user"
    profile.mkdir(parents=True)
    (profile / "registrymodifications.xcu").write_text(_PROFILE)


async def _run(program: str, home: Path, source: Path, target: str, limits: Limits) -> None:
    command = (
        program, "--headless", "--norestore", "--nolockcheck", "--nologo", "--nodefault",
        f"-env:UserInstallation={(home / 'profile').as_uri()}",
        "--convert-to", target, "--outdir", str(home), str(source),
    )  # fmt: skip
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-s", "-m", __name__,
        str(limits.cpu_seconds), str(limits.memory_bytes + _LIBRARIES), str(4 * limits.file_bytes), *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={**kept, "PYTHONPATH": str(_ROOT), "HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8"},
        cwd=home,
        start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(limits.wall_seconds):
            await process.wait()
    except TimeoutError as error:
        raise FileUnsafe(
            f"LibreOffice took longer than {limits.wall_seconds:g} s.",
            next_step=f"Save the file as {target.upper()}, or raise SEXTANT_LIMITS__PARSE_WALL_SECONDS.",
        ) from error
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def main() -> None:
    """Become LibreOffice, under limits: CPU seconds, address space, bytes of a file, then its command."""
    seconds, memory, size, *command = sys.argv[1:]
    child.leave_network()
    child.die_with_parent()
    with suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), math.ceil(int(seconds) * 1.1)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    os.execv(command[0], command)  # noqa: S606 - no shell: the command is ours


if __name__ == "__main__":
    main()
