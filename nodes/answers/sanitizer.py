"""Remove links, images and HTML from answers, so that nothing planted in a document takes effect.

A passage may tell the model to show an image whose address carries what it has read (EchoLeak, CVE-2025-32711). So an
answer holds no link, image or tag that a page would act on. An address that stands word for word in the passages is
shown as code, which nothing fetches; any other is removed.

No tag is looked for by its name. In CommonMark every tag, comment and autolink begins with `<` before a letter, `/`, `!`
or `?`, and every link and image needs `](` or a definition, `]:`. Text passes only if it cannot begin one of these. Code
is exempt, because renderers do not interpret it, unless it is in a language that some draw or run. What is code is not
guessed but enforced: fences are written at the beginning of a line, inline code ends on its line between single
backticks, and a backtick that opens nothing becomes an apostrophe. All this still holds after the markers of citations
have been removed.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

import regex as re

from sextant.prompts import DEFUSED

REMOVED = {"en": "(link removed)", "zh": "（链接已移除）"}

# Characters that are held back at most until it is decided what they begin.
_LONGEST = 2000
_URL_CHARACTER = r"[^\s<>\"'`|\\\[\](){}（）【】「」『』，。；：、！？“”‘’]"
_URL = re.compile(rf"(?:(?:https?|ftp|file)://|www\.){_URL_CHARACTER}{{0,{_LONGEST}}}", re.I)
# An address without its scheme, and the rest of an address behind a scheme that is not listed above.
_HOST = re.compile(rf"//(?=[\w-]+\.\w){_URL_CHARACTER}{{0,{_LONGEST}}}")
_BEHIND_SCHEME = re.compile(rf"//{_URL_CHARACTER}{{1,{_LONGEST}}}")
_URL_REST = re.compile(rf"{_URL_CHARACTER}*")
_MAY_BE_URL = r"(?<![A-Za-z0-9])[hfw]"
_IN_TEXT = re.compile(rf"[\n`~<&/]|{_MAY_BE_URL}", re.I)
_IN_CODE = re.compile(rf"\n|[`~]+|{_MAY_BE_URL}", re.I)
_TARGET = re.compile(rf"\((?P<target>[^)]{{0,{_LONGEST}}})\)")
# A link's target is an address if it names a scheme, a path or an anchor, or hides one by entities.
_LEADS_AWAY = re.compile(r"[:/\\&#]|\A\s*<?www\.", re.I)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")
# A `<` that compares: whatever is removed behind it later, such as a marker, it begins no tag.
_COMPARES = re.compile(r"<(?:[ \t]*[\d=>.\-\u4e00-\u9fff]|[ \t]+[A-Za-z]|<)")

# What may stand before a fence on its line: indentation, quotation marks, the numbers of a list.
_CONTAINER = r"(?:[ \t>]|(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$))*"
_FENCE = re.compile(rf"(?P<before>{_CONTAINER})(?P<fence>`{{3,}}|~{{3,}})(?P<info>[^\n]*)\n")
# Languages that renderers only colour, and never draw, preview or run.
_COLOURED = frozenset({
    "bash", "c", "c++", "console", "cpp", "csharp", "diff", "go", "ini", "java", "json", "kotlin",
    "php", "powershell", "py", "python", "ruby", "rust", "sh", "shell", "sql", "text", "toml", "yaml",
})  # fmt: skip
_LANGUAGE = re.compile(r"[\w+#.-]{0,40}")
_CLOSING = re.compile(r"[ \t>]*(?P<fence>`+|~+)[ \t]*(?P<next>\n|[^\s]|\Z)")
# Code that may be removed as a marker of a citation, which would leave backticks around nothing.
_MARKERS = re.compile(r"[\s\d,，、;\[\]【】()（）-]*")
_NO_FENCE = {"`": "'", "~": "∼"}
_TRAILING = ".,;:!?*_~"


class OutputSanitizer:
    """Sanitizes a text piece by piece; the result does not depend on how the text was cut.

    Args:
        passages: texts whose addresses may be shown; without any, every address may, as code.
        language: of the words that replace an address.
    """

    def __init__(self, passages: Sequence[str] = (), language: str = "en") -> None:
        self._passages = passages
        self._originals = _originals_of(passages)
        self._removed = REMOVED.get(language, REMOVED["en"])
        self._buffer = ""
        self._out = list[str]()
        self._last = "\n"  # what was passed on last
        self._begins_line = True
        self._fence = ""  # what closes the open one
        self._in_url = False  # in an address that is too long to be shown
        self._over = False

    def feed(self, piece: str) -> str:
        """Return the part of the text up to the end of `piece` that is known to be harmless."""
        self._buffer += piece.translate(self._originals)
        return self._pass()

    def finish(self) -> str:
        """Return the rest, once no more text comes."""
        self._over = True
        rest = self._pass()
        if not self._fence:
            return rest
        # A renderer without such code would read it as text.
        return rest + ("" if self._last == "\n" else "\n") + self._fence

    def _pass(self) -> str:
        undecided = "\r" if self._buffer.endswith("\r") and not self._over else ""
        self._buffer = _plain(self._buffer.removesuffix(undecided))
        while self._buffer and self._step():
            pass
        self._buffer += undecided
        passed, self._out = "".join(self._out), []
        return passed

    def _step(self) -> bool:
        """Pass a part of the buffer on; return False if more text is needed to decide."""
        if self._in_url:
            return self._skip_url()
        if self._begins_line:
            return self._close_fence() if self._fence else self._open_fence()
        if self._last == "]" and self._buffer[0] in "(:":
            return self._unlink()
        special = (_IN_CODE if self._fence else _IN_TEXT).search(self._last + self._buffer, 1)
        end = special.start() - 1 if special else len(self._buffer)
        if (link := self._buffer.find("]", 0, end) + 1) > 0:
            end = link
        if end:
            self._take(end)
            return True
        return self._decide(self._buffer[0])

    def _decide(self, first: str) -> bool:
        """Treat the beginning of the buffer by its first character; return as `_step` does."""
        if first == "\n":
            self._take(1)
            self._begins_line = True
            return True
        if first == "`" and not self._fence:
            return self._code()
        if first in "`~":
            return self._break_fence()
        if first == "<":
            return self._compare()
        if first == "&":
            return self._decode()
        return self._address()

    def _take(self, length: int, instead: str | None = None) -> None:
        """Pass the first `length` characters on, or `instead`."""
        passed = self._buffer[:length] if instead is None else instead
        self._buffer = self._buffer[length:]
        if passed:
            self._out.append(passed)
            self._last = passed[-1]

    @property
    def _may_grow(self) -> bool:
        """Return whether more text may come to decide what the buffer begins."""
        return not self._over and len(self._buffer) < _LONGEST

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match the beginning of the buffer, also in part where more text may come."""
        return pattern.match(self._buffer, 0, _LONGEST, partial=self._may_grow)

    def _open_fence(self) -> bool:
        found = self._match(_FENCE)
        if found is not None and found.partial:
            return False
        self._begins_line = False
        if found is None or (found["fence"][0] == "`" and "`" in found["info"]):
            at = re.match(_CONTAINER, self._buffer)
            self._take(at.end() if at else 0)
            return True
        before, info = found["before"].rstrip(" \t"), found["info"]
        if before:
            self._take(0, before + "\n")
        self._fence, self._begins_line = found["fence"], True
        info = info.strip()
        self._take(found.end(), f"{self._fence}{info if info.lower() in _COLOURED else ''}\n")
        if not _LANGUAGE.fullmatch(info):  # shown as the first line
            self._buffer = f"{info}\n{self._buffer}"
            self._begins_line = False
        return True

    def _close_fence(self) -> bool:
        if self._may_grow and not self._buffer.strip(" \t>`~"):
            return False
        found = _CLOSING.match(self._buffer)
        if found is None or not found["fence"].startswith(self._fence):
            self._begins_line = False
            return True
        last = found["next"] == "" and found.end() == len(self._buffer)
        self._take(found.start("next"), self._fence if last else self._fence + "\n")
        if found["next"] == "\n":
            self._buffer = self._buffer[1:]
        self._fence = ""
        return True

    def _break_fence(self) -> bool:
        """Write what looks like a fence with other signs, lest it become one when something beside it is removed."""
        first = self._buffer[0]
        length = len(self._buffer) - len(self._buffer.lstrip(first))
        if length == len(self._buffer) and not self._over:
            return False
        self._take(length, _NO_FENCE[first] * length if length > 2 or self._last == first else None)
        return True

    def _code(self) -> bool:
        """Pass inline code on that ends on its line; a backtick that opens none becomes an apostrophe."""
        line = self._buffer[:_LONGEST].partition("\n")[0]
        fence = line[: len(line) - len(line.lstrip("`"))]
        closed = re.search(rf"(?<!`){fence}(?!`)", line[len(fence) :])
        whole = self._over or len(line) == _LONGEST or len(line) < len(self._buffer)
        if not whole and (closed is None or len(fence) + closed.end() == len(line)):
            return False
        if closed is None:
            self._take(len(fence), _NO_FENCE["`"] * len(fence))
            return True
        code = self._in_code(line[len(fence) :][: closed.start()]).replace("`", _NO_FENCE["`"])
        if "|" in code:  # a cell of a table may end here, and the code with it
            code = code.replace("<", "‹").replace("](", "] (").replace("]:", "] :")
        tick = _NO_FENCE["`"] if _MARKERS.fullmatch(code) else "`"
        self._take(len(fence) + closed.end(), f"{self._gap()}{tick}{code}{tick}")
        return True

    def _gap(self) -> str:
        """Return a space if the last character would change the backtick that follows."""
        return " " if self._last in "`\\" else ""

    def _compare(self) -> bool:
        found = self._match(_COMPARES)
        if found is not None and found.partial:
            return False
        self._take(1, "‹" if found is None else None)
        return True

    def _decode(self) -> bool:
        """Decode an entity as renderers do, so that the decoded text is sanitized."""
        if found := self._match(_ENTITY):
            if found.partial:
                return False
            decoded = _plain(html.unescape(found[0]))
            if decoded != found[0]:
                self._buffer = decoded + self._buffer[found.end() :]
                return True
        self._take(1)
        return True

    def _unlink(self) -> bool:
        """Separate a target or definition from the text of its link; remove a target that is an address."""
        if self._buffer[0] == ":":
            self._take(1, None if self._fence else " :")
            return True
        found = _TARGET.match(self._buffer)
        if found is None and not self._over and len(self._buffer) <= _LONGEST + 1:
            return False
        if found is None or not _LEADS_AWAY.search(found["target"]):
            self._take(1, None if self._fence else " (")
            return True
        known = self._target(found["target"])
        self._take(found.end(), f" ({known})" if known else "")
        return True

    def _target(self, target: str) -> str:
        """Return the address of a link as text, if it may be shown."""
        address = target.strip().strip("<>").split(maxsplit=1)[0] if target.strip() else ""
        return self._as_text(address) if self._is_known(address) else ""

    def _address(self) -> bool:
        found = self._match(self._url())
        if found is None:
            self._take(1)
            return True
        if self._may_grow and (found.partial or found.end() == len(self._buffer)):
            return False
        if found.end() >= _LONGEST:
            self._take(found.end(), self._removed)
            self._in_url = True
            return True
        url = found[0].rstrip(_TRAILING)
        self._take(len(url), self._as_text(url))
        return True

    def _url(self) -> re.Pattern[str]:
        """Return the pattern of an address that begins with the first character of the buffer."""
        if self._buffer[0] != "/":
            return _URL
        return _BEHIND_SCHEME if self._last == ":" else _HOST

    def _skip_url(self) -> bool:
        rest = _URL_REST.match(self._buffer)
        self._buffer = self._buffer[rest.end() if rest else 0 :]
        self._in_url = not self._buffer
        return bool(self._buffer)

    def _in_code(self, code: str) -> str:
        """Return a piece of code without the addresses that may not be shown."""
        code = re.sub(
            rf"(?<=\]){_TARGET.pattern}",
            lambda found: (
                found[0]
                if not _LEADS_AWAY.search(found["target"]) or self._is_known(found["target"])
                else ""
            ),
            code,
        )
        return re.sub(
            rf"(?<![A-Za-z0-9]){_URL.pattern}",
            lambda found: found[0] if self._is_known(found[0].rstrip(_TRAILING)) else self._removed,
            code,
            flags=re.I,
        )

    def _as_text(self, url: str) -> str:
        if not self._is_known(url):
            return self._removed
        stays = self._fence or (self._last == ":" and url.startswith("//"))
        return url if stays else f"{self._gap()}`{url}`"

    def _is_known(self, url: str) -> bool:
        if not url or "`" in url or "\n" in url:
            return False
        return not self._passages or any(url in passage for passage in self._passages)


def _originals_of(passages: Sequence[str]) -> dict[int, str]:
    """Return the original of each sign that the prompt replaced (`DEFUSED`), unless the passages hold the replacement."""
    return {
        ord(shown): original
        for original, shown in DEFUSED.items()
        if any(original in one for one in passages) and not any(shown in one for one in passages)
    }


def _plain(text: str) -> str:
    """Return a text with line ends as renderers read them, and without NULs."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def sanitize_output(text: str, passages: Sequence[str] = (), language: str = "en") -> str:
    """Return a whole text made harmless."""
    guard = OutputSanitizer(passages, language)
    return guard.feed(text) + guard.finish()
