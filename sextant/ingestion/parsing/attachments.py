"""Files inside an e-mail: which are documents of their own, and under which names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from sextant.domain.documents import AttachedFile
from sextant.domain.errors import FileRejected
from sextant.domain.warnings import CodedWarning, WarningCode, names
from sextant.ingestion.parsing.detect import FileType, detect
from sextant.ingestion.parsing.limits import Limits, check_size


def choose_attachments(
    attached: Sequence[AttachedFile], limits: Limits
) -> tuple[list[AttachedFile], list[str]]:
    """Return those that are documents of a kind that we read, as many as may be, and the names of the others."""
    readable = [one for one in attached if _is_readable(one, limits)][: limits.attachments]
    chosen = {id(one) for one in readable}
    return [*_rename_equals(readable)], [one.name for one in attached if id(one) not in chosen]


def not_read(given: Sequence[str]) -> tuple[CodedWarning, ...]:
    """Return the warning that attachments of these names are not read, if there are any."""
    params = {"number": len(given), "names": names(given)}
    return (CodedWarning(WarningCode.ATTACHMENTS_NOT_READ, params),) if given else ()


def _is_readable(attached: AttachedFile, limits: Limits) -> bool:
    """Return whether an attachment is a document of a kind that we read."""
    try:
        check_size(attached.content, attached.name, limits)
        found = detect(attached.content, attached.name)
    except FileRejected:
        return False
    return found is not FileType.IMAGE or limits.images > 0


def _rename_equals(attached: Sequence[AttachedFile]) -> Iterator[AttachedFile]:
    """Yield attachments each under a name of its own: the second `a.pdf` is `a (2).pdf`."""
    taken = set[str]()
    for one in attached:
        path, name, number = PurePosixPath(one.name.replace("/", "_")), "", 1
        while not name or name in taken:
            name = path.name if number == 1 else f"{path.stem} ({number}){path.suffix}"
            number += 1
        taken.add(name)
        yield AttachedFile(name, one.content)
