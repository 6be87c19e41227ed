"""Keeps what documents plant from coming alive in an answer: images, links, HTML.

A passage may tell the model to show an image whose address carries what it has read (EchoLeak,
CVE-2025-32711: the image was the leak). So an answer holds no link, image or tag that a page would act
on. An address that the passages hold word for word is shown as code, which nothing fetches; any other
goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

REMOVED = {"en": "(link removed)", "zh": "（链接已移除）"}

# Longer addresses are cut up, so that no more than this is ever held back.
_LONGEST = 2000
_TAGS = (
    "a|applet|audio|base|body|br|button|center|details|dialog|div|embed|font|form|frame|frameset|h[1-6]"
    "|head|hr|html|iframe|image|img|input|label|li|link|marquee|math|meta|noscript|object|ol|option|p"
    "|picture|pre|script|select|source|span|style|summary|svg|table|tbody|td|template|textarea|th|thead"
    "|title|tr|track|u|ul|video"
)
_HAZARD = re.compile(
    rf"\]\((?P<target>[^)]{{0,{_LONGEST}}})\)"
    r"|(?P<url>(?<![A-Za-z0-9])(?:(?:https?|ftp|file)://|www\.)"
    rf"[^\s<>\"'`|\\\[\](){{}}（）【】「」『』，。；：、！？“”‘’]{{0,{_LONGEST}}})"
    rf"|(?P<tag><(?=[!?]|/?(?:{_TAGS})(?![A-Za-z0-9])))"
    r"|(?P<definition>\]:)",
    re.IGNORECASE,
)
# What may still become one of these when more text comes.
_UNDECIDED = re.compile(
    rf"(?:\](?:\([^)]{{0,{_LONGEST}}})?|</?[A-Za-z]{{0,9}}"
    r"|(?<![A-Za-z0-9])(?:h(?:t(?:t(?:ps?:?/?)?)?)?|ft?|ftp:?/?|fi(?:le?)?|file:?/?|ww?|www))\Z",
    re.IGNORECASE,
)
_QUICK = re.compile(r"[\]<]|[/:hpftilews]\Z|://|www\.", re.IGNORECASE)
# A link's target leads somewhere when it names a scheme, a path, a place, or hides one by entities.
_LEADS_AWAY = re.compile(r"[:/\\&#]|\A\s*<?www\.", re.IGNORECASE)
_TRAILING = ".,;:!?*_~"
_FENCE = "```"


class Harmless:
    """Passes a text on piece by piece; what comes out does not depend on how it was cut.

    Args:
        passages: texts whose addresses may be shown; none: any address may, as code.
        language: of the words that stand in for an address.
    """

    def __init__(self, passages: Sequence[str] = (), language: str = "en") -> None:
        self._passages = passages
        self._removed = REMOVED.get(language, REMOVED["en"])
        self._held = ""
        self._before = ""
        self._line = ""
        self._fenced = False

    def feed(self, piece: str) -> str:
        """The part of the text up to the end of `piece` that is known to be harmless."""
        self._held += piece
        return self._pass(self._undecided() if _QUICK.search(self._held) else len(self._held))

    def finish(self) -> str:
        """The rest, once no more text comes."""
        return self._pass(len(self._held))

    def _undecided(self) -> int:
        """Where what is held may still turn into something else."""
        text, start = self._before + self._held, len(self._before)
        cut = len(text)
        if found := _UNDECIDED.search(text, start):
            cut = found.start()
        for hazard in _HAZARD.finditer(text, start):
            if hazard.end() == len(text) and len(hazard[0]) < _LONGEST and hazard["url"]:
                cut = min(cut, hazard.start())
        return cut - start

    def _pass(self, cut: int) -> str:
        if not cut:
            return ""
        text, start = self._before + self._held[:cut], len(self._before)
        self._held = self._held[cut:]
        self._before = text[-1:]
        pieces, position = list[str](), start
        for hazard in _HAZARD.finditer(text, start):
            self._note(text[position : hazard.start()])
            pieces += [text[position : hazard.start()], shown := self._defused(hazard)]
            self._note(shown)
            position = hazard.end()
        self._note(text[position:])
        return "".join([*pieces, text[position:]])

    def _note(self, text: str) -> None:
        """Keep track of whether code is open."""
        *lines, self._line = (self._line + text).split("\n")
        self._fenced ^= sum(line.lstrip().startswith(_FENCE) for line in lines) % 2 == 1

    def _defused(self, hazard: re.Match[str]) -> str:
        if hazard["tag"]:
            return "‹"
        if hazard["definition"]:
            return "] :"
        if (target := hazard["target"]) is not None:
            if not _LEADS_AWAY.search(target):
                return hazard[0]
            address = target.strip().strip("<>").split(maxsplit=1)[0] if target.strip() else ""
            return f"] ({self._as_text(address)})" if self._known(address) else "]"
        url = hazard["url"].rstrip(_TRAILING)
        return self._as_text(url) + hazard["url"][len(url) :]

    def _as_text(self, url: str) -> str:
        if not self._known(url):
            return self._removed
        in_code = self._fenced or self._line.count("`") % 2 == 1
        return url if in_code else f"`{url}`"

    def _known(self, url: str) -> bool:
        if not url or "`" in url:
            return False
        return not self._passages or any(url in passage for passage in self._passages)


def harmless(text: str, passages: Sequence[str] = (), language: str = "en") -> str:
    """A whole text made harmless."""
    guard = Harmless(passages, language)
    return guard.feed(text) + guard.finish()
