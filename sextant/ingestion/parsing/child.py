"""What a parser process does: it limits itself, then turns one file into a draft or a typed error.

Forked by `sextant.ingestion.parsing.host` for one file. It limits itself before it looks at the file: address space,
CPU time, no files written, no network where the system allows it to leave.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import orjson

from sextant.domain.errors import FileBroken, FileEmpty, FileRejected, FileUnsafe, SextantError
from sextant.domain.system import install_extra
from sextant.ingestion.parsing.coverage import measure_coverage
from sextant.ingestion.parsing.detect import CONVERTED, FileType, detect
from sextant.ingestion.parsing.draft import DocumentDraft, draft, to_wire
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.images import with_captions
from sextant.ingestion.parsing.limits import Limits, check_container

if TYPE_CHECKING:
    import ctypes

_DESCRIBE = "set SEXTANT_VISION_MODEL to a model that takes images, and see that it answers."
_KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG, prctl(2)
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # clone(2)


class ConversionNeeded(Exception):
    """The file is of a format that LibreOffice has to rewrite; `target`: the suffix of the one to write."""

    def __init__(self, target: str) -> None:
        super().__init__(f"LibreOffice has to rewrite it as {target.upper()} first.")
        self.target = target


def answer(content: bytes, filename: str, limits: Limits) -> bytes:
    """Parse a file and return its draft as an answer (`_reply`)."""
    return _reply(lambda: to_wire(parse(content, filename, limits)))


def parse(content: bytes, filename: str, limits: Limits) -> DocumentDraft:
    """Detect, guard, parse and cut one file, in this process.

    Raises:
        ConversionNeeded: LibreOffice has to rewrite it first.
        FileRejected: one of its kinds; whatever a library throws at a damaged file is FileBroken.
    """
    file_type = detect(content, filename)
    if target := CONVERTED.get(file_type):
        raise ConversionNeeded(target.value)
    check_container(content, file_type, limits)
    try:
        blocks, images = with_captions(parser_for(file_type)(content, limits), limits)
        made = draft(blocks, filename, limits.chunk_tokens)
        coverage, warnings = measure_coverage(blocks, made.text, content, file_type)
        made = replace(made, coverage=coverage, warnings=(*made.warnings, *warnings))
    except FileRejected:
        raise
    except (MemoryError, RecursionError) as error:
        raise FileUnsafe(
            "The file needs more memory than the limit allows.",
            next_step="Split the file, or raise SEXTANT_LIMITS__PARSE_MEMORY_BYTES.",
        ) from error
    except Exception as error:  # the edge: parsers of damaged files raise anything
        raise FileBroken(
            f"The file cannot be read as {file_type.value.upper()} ({type(error).__name__}: {error}).",
            next_step="Open it in its program, save it again and retry.",
        ) from error
    if not (made.cuts or images or made.unread_pages):
        if file_type is not FileType.IMAGE:
            way_out = "Check that it holds text."
        elif limits.reads:
            way_out = f"OCR found no words in it; to have it described, {_DESCRIBE}"
        else:
            way_out = f"{install_extra('ocr')[:-1]} to have its words read, or {_DESCRIBE}"
        raise FileEmpty("No text was found in the file.", next_step=way_out)
    if not (limits.captions or limits.recognised):
        made = replace(made, images=tuple(images))
    if limits.recognised:
        from sextant.ingestion.parsing.formats.scans import summary  # few files are scans

        made.metadata.update(summary(limits.recognised))
    made.metadata["format"] = file_type.value
    return made


def draw(content: bytes, filename: str, page: int, limits: Limits) -> bytes:
    """Draw a page and return its picture as an answer (`_reply`)."""
    from sextant.ingestion.parsing.page_pictures import draw_page  # not needed by who parses

    def give_up(error: Exception) -> SextantError:
        return FileBroken(
            f"Page {page} cannot be drawn ({type(error).__name__}).",
            next_step="Read the document's text, or open the file itself.",
        )

    return _reply(lambda: draw_page(content, filename, page, limits), give_up)


def recognise(content: bytes, page: int, limits: Limits) -> bytes:
    """Read a page by OCR and return its lines as an answer (`_reply`)."""
    from sextant.ingestion.parsing import ocr_engine

    def give_up(error: Exception) -> SextantError:
        return FileUnsafe(f"It cannot be read ({type(error).__name__}: {error}).")

    def read() -> bytes:
        return orjson.dumps(ocr_engine.recognise(content, page, limits).to_json())

    return _reply(read, give_up)


def _reply(
    work: Callable[[], bytes], give_up: Callable[[Exception], SextantError] | None = None
) -> bytes:
    """Return a JSON line with the outcome; after success the result of `work` follows.

    Args:
        work: what is asked for.
        give_up: the error for whatever a library raises at a damaged or hostile file; by default `work` sees to that.
    """
    try:
        try:
            return b'{"ok":true}\n' + work()
        except (SextantError, ConversionNeeded):
            raise
        except Exception as error:
            if give_up is None:
                raise
            raise give_up(error) from error
    except ConversionNeeded as needed:
        return orjson.dumps({"convert_to": needed.target})
    except SextantError as error:
        return orjson.dumps(
            {
                "code": error.code,
                "message": error.message,
                "next_step": error.next_step,
                "field": error.field,
            }
        )


def restrict(limits: Limits) -> None:
    """Limit this process to what parsing needs; what is granted is never exceeded. Linux and macOS; a no-op elsewhere."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    until = math.ceil(time.process_time()) + limits.cpu_seconds
    _, granted = resource.getrlimit(resource.RLIMIT_CPU)
    most = math.inf if granted == resource.RLIM_INFINITY else granted
    # It is warned first, then killed.
    resource.setrlimit(resource.RLIMIT_CPU, (int(min(until, most)), int(min(until + 1, most))))
    if sys.platform == "linux":
        # `open` would write to many memory pages, and a forked process copies each page that it writes to.
        statm = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            used = int(os.read(statm, 64).split()[0]) * resource.getpagesize()
        finally:
            os.close(statm)
        memory = used + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def leave_network() -> None:
    """Move this process and those it forks into a network namespace without interfaces. Linux only.

    Unprivileged namespaces may be switched off; then the process keeps the network it never uses.
    """
    # Root needs no user namespace, and in one it could no longer read the folders of other users.
    _libc("unshare", _NEW_NETWORK if os.geteuid() == 0 else _NEW_USER | _NEW_NETWORK)


def die_with_parent() -> None:
    """Have the kernel kill this process when the one that forked it ends. Linux only."""
    _libc("prctl", _KILL_WITH_PARENT, signal.SIGKILL, 0, 0, 0)


def _libc(function: str, *arguments: int) -> None:
    if sys.platform == "linux":
        getattr(_c_library(), function)(*arguments)


@cache
def _c_library() -> ctypes.CDLL:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
