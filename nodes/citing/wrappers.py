"""Remove what models put around an answer: tags, fences, JSON, "Answer:", courtesies, lists of sources, repetitions.

Text comes in pieces, and the result does not depend on how it was cut: what may still be removed is held back.
"""

from __future__ import annotations

import json
from typing import cast

import regex

from sextant.text.sentences import find_undecided, sentence_end

_TAGS = "answer|final[_-]answer|final|response|result|output|reply|回答|答案|最终答案"
_TAG = regex.compile(rf"</?(?:{_TAGS})\s*>", regex.IGNORECASE)
_FIELDS = (
    "answer", "final_answer", "finalAnswer", "response", "result", "reply", "text", "content", "output", "答案", "回答",
)  # fmt: skip
_FIELD = regex.compile(rf'"(?:{"|".join(_FIELDS)})"\s*:\s*"((?:[^"\\]|\\.)*)', regex.DOTALL)
# A fence without a language is around an answer if its first line is one of an answer, and not of code.
_FENCE = (
    r"(?P<fence>`{3,}[ \t]*(?:(?:json|markdown|md|text|txt|plaintext|plain|answer|xml|html|yaml)[ \t]*\n"
    r"|\n(?=\s*\{|[^\n]*(?:\[\d+\]|[。！？.!?][ \t]*(?:\n|\Z)))))"
)
_LABEL = (
    r"[*_#\s]*(?:(?:the\s+)?(?:final\s+|short\s+|direct\s+)?answer|response|reply|a|答案|回答|答|最终答案|答复)\s*[*_]*\s*[:：]\s*[*_]*\s*"
    r"|[#*_\s]*(?:(?:final\s+)?answer|答案|回答)\s*[*_]*\s*\n+"
)
_COURTESY = r"(?P<courtesy>(?:sure|certainly|of course|okay|ok|absolutely|great question|好的|当然|没问题|您好|你好)\s*[,，!！.。:：]\s*)"
# "Here is the answer:" on a line of its own; only behind a courtesy.
_LEAD_IN = r"[*_]*(?:here(?: is|['’]s| are)|based on|according to|以下|下面|根据)[^\n.!?。！？]{0,80}[:：][*_]*[ \t]*(?:\n\s*|\Z)"
_OPENING = regex.compile(rf"<(?:{_TAGS})\s*>|{_FENCE}|{_LABEL}", regex.IGNORECASE)
_OPENING_OR_COURTESY = regex.compile(rf"{_OPENING.pattern}|{_COURTESY}", regex.IGNORECASE)
_BEHIND_COURTESY = regex.compile(rf"{_OPENING_OR_COURTESY.pattern}|{_LEAD_IN}", regex.IGNORECASE)

_SOURCES = (
    "sources?|references?|citations?|cited (?:passages|sources)|(?:passages|sources) used"
    "|(?:资料|信息|文档)?来源|参考(?:资料|文献|来源|段落)?|引用(?:来源|段落)?|出处"
)
_FILE = r"[^\s|,，;；]{1,80}\.(?:pdf|docx?|xlsx?|pptx?|md|txt|html?|csv|json)\b[^\n]{0,60}"
_PASSAGE = r"(?:passages?|sources?|documents?|docs?|段落|来源|文档)\s*#?\s*\[?\d{1,3}\]?"
_ID = r"\[?\^?\(?\d{1,3}\)?\]?"
_NAMED = rf"(?:{_PASSAGE}|{_FILE}|https?://\S+)"
_LINE_END = r"[\s.。)）】\]*_;；]*(?=\n|\Z)"
# The heading of a list of sources, which may have them on its line, and an entry by its number.
_SOURCE_LINE = regex.compile(
    rf"[ \t#*_\-–—>(（【\[]*(?:{_SOURCES})[ \t*_]*[:：]?[ \t*_]*(?:(?:{_ID}|{_NAMED}|[ \t,，、;；和]|and)*){_LINE_END}"
    rf"|[>*•\-– \t]*(?:{_ID}\s*[:：.、\-–]*\s*{_NAMED}|\[\^?\d{{1,3}}\]\s*[:：][^\n]*|(?:\[\^?\d{{1,3}}\][ \t,，、;；]*)+){_LINE_END}",
    regex.IGNORECASE,
)
# Below such a heading.
_LISTED = regex.compile(
    rf"[\s>*•\-–]*(?:(?:{_ID}|{_PASSAGE}|[-*•])\s*[^\n]{{0,160}}|{_NAMED}\s*)\Z", regex.IGNORECASE
)
_CHATTER = regex.compile(
    r"[\s*_(（>]*(?:"
    r"(?:please\s+)?(?:note|disclaimer|n\.b\.)\s*[*_]*\s*(?:[:：]|that\b)[^\n]*\b(?:answer|based on|passages?|context|provided|advice|consult|documents?)\b[^\n]*"
    r"|(?:this|the above|the)\s+(?:answer|response|information|summary)\s+(?:above\s+)?(?:is|was|has been|comes|came)\s+(?:\w+\s+)?(?:based|derived|taken|drawn|from|provided|compiled|generated|supported|found)\b[^\n]*\b(?:passages?|provided|context|documents?|sources?|above|text|information|knowledge base)\b[^\n]*"
    r"|(?:please\s+)?(?:let me know|feel free)\b[^\n]*|(?:i\s+)?hope (?:this|that|it)\b[^\n]*\bhelp[^\n]*"
    r"|if you (?:have|need|would like|want|require)\b[^\n]*\b(?:let me know|feel free|(?:any|more|further|other|additional) (?:\w+ )?(?:questions?|details?|information|help|assistance|clarifications?))\b[^\n]*"
    r"|(?:is there|do you have) any(?:thing|\s+(?:other|more|further))\b[^\n]*|(?:please )?(?:don['’]t|do not) hesitate\b[^\n]*"
    r"|you can find (?:more|this|further)\b[^\n]*\b(?:passages?|sources?|documents?)\b[^\n]*"
    r"|(?:注意|注|说明|备注|提示|温馨提示|免责声明)\s*[*_]*\s*[:：][^\n]*(?:回答|答案|根据|基于|依据|段落|以上|上述|提供|资料|参考|文档)[^\n]*"
    r"|(?:以上|上述|本)(?:回答|答案|内容|信息|就是|为)[^\n]*(?:根据|基于|来自|来源|依据|段落|文档|资料|参考|所有|全部|回答|答案)[^\n]*"
    r"|(?:希望|但愿)[^\n]*(?:帮助|有用|帮到)[^\n]*"
    r"|(?:如果|如|若|假如)(?:您|你)?(?:还|仍|需要|有|需(?=更多|进一步|其他|其它|任何|帮助|协助|了解|详细))[^\n]*(?:问题|需要|疑问|帮助|信息|了解|请|告诉|联系我)[^\n]*"
    r"|(?:请|欢迎)(?:随时|继续)[^\n]*(?:告诉|提问|问我|联系|询问|咨询)[^\n]*"
    r"|还有(?:什么|其他|别的)[^\n]*(?:吗|帮)[^\n]*"
    # Before it looks, or instead of an answer; that the documents do not say is an answer.
    r"|(?:让我|我来|我先|我这就)(?:为您|帮您)?(?:查|看|找)(?:一下|查|看|找|询)?[^\n，,\d]{0,12}"
    r"|let me (?:check|look|search|find|see)\b[^\n,\d]{0,60}"
    r"|(?:i['’]?m|i am)(?: very)? sorry,? but i (?:can(?:no|['’])t|am (?:unable|not able) to) (?:help|assist|comply|fulfil\w*)\b[^\n,:;\d]{0,80}"
    r"|(?:很|非常|十分)?抱歉[，,]?\s*我?(?:无法|不能|没法)(?:帮助|协助|满足|处理|完成)[^\n，,：:；\d]{0,30}"
    r")\s*",
    regex.IGNORECASE,
)
_CITES = regex.compile(r"[\[【]\^?\d{1,3}[\]】]\W*\Z")
_LINE_CHARS, _SENTENCE_CHARS = 300, 4000
_NO_LETTERS = regex.compile(r"(?:\[\d*\]?|[^\w\[]|_)+")
# Letters and digits of a sentence that is not said twice; shorter ones are words and values of a list.
_LEAST_REPEATED = 10


class Unwrapped:
    """Removes what stands around the text of a model, piece by piece."""

    def __init__(self, *, keeps_courtesies: bool = False) -> None:
        """Keep courtesies for small talk, where a greeting is the answer."""
        self._keeps_courtesies = keeps_courtesies
        self._opening = _OPENING if keeps_courtesies else _OPENING_OR_COURTESY
        self._buffer = ""
        self._opened = False
        self._over = False
        self._fenced = False
        self._sentence = ""  # what was passed on of the sentence that goes on
        self._listing = False  # within a list of sources
        self._begins_line = True

    def feed(self, piece: str) -> str:
        """Return what of the text so far certainly belongs to the answer."""
        if self._over:
            return ""
        self._buffer += piece
        return self._pass(final=False)

    def finish(self) -> str:
        """Return the rest, once no more text comes."""
        return self._pass(final=True)

    def _pass(self, *, final: bool) -> str:
        if not self._opened and not self._open(final=final):
            return ""
        self._buffer = _TAG.sub("", self._buffer)
        begun = None if final else _TAG.search(self._buffer, partial=True)
        tail = self._buffer[begun.start() :] if begun else ""
        self._buffer = self._buffer[: len(self._buffer) - len(tail)]
        passed = list[str]()
        while self._buffer:
            piece = self._next(final=final)
            if piece is None:
                break
            passed.append(piece)
        self._buffer += tail
        return "".join(passed)

    def _open(self, *, final: bool) -> bool:
        """Remove what stands ahead of the answer; return False while more text must come to decide."""
        while True:
            text = self._buffer.lstrip()
            if text.startswith("{"):
                return self._open_object(text, final=final)
            found = self._opening.match(text, partial=not final)
            if found is None:
                self._buffer, self._opened = text, True
                return True
            if not final and (found.partial or found.end() == len(text)):
                return False
            self._fenced |= found["fence"] is not None
            if not self._keeps_courtesies:
                self._opening = _BEHIND_COURTESY if found["courtesy"] else _OPENING_OR_COURTESY
            self._buffer = text[found.end() :]

    def _open_object(self, text: str, *, final: bool) -> bool:
        body = text.rstrip().removesuffix("```").rstrip() if self._fenced else text.rstrip()
        try:
            inner = _answer_in(json.loads(body, strict=False))
        except ValueError:
            if not final:
                return False
            found = _FIELD.search(body)
            inner = _unescape(found[1]) if found else None
        self._opened, self._buffer = True, text if inner is None else inner.strip()
        self._over = inner is not None
        return True

    def _next(self, *, final: bool) -> str | None:
        """Return the next piece of the buffer, "" where it is removed; None while more text must come to decide."""
        if self._sentence:
            return self._rest_of_sentence()
        body = self._buffer.lstrip()
        gap = self._buffer[: len(self._buffer) - len(body)]
        if not body:
            self._buffer = "" if final else self._buffer
            return None
        at_line = self._begins_line or "\n" in gap
        if at_line and (self._listing or self._may_be_source(body, final=final)):
            return self._line(gap, body, final=final)
        self._listing = False
        end = sentence_end(body)
        if end is not None and not final and not body[end:].strip():
            end = None  # a lower letter may still go on
        if end is None and not final:
            return None if self._may_be_chatter(body) else self._begin(gap, body)
        if self._is_left_out(body[:end]):
            self._buffer = "" if end is None else body[end:]
            return ""
        return self._begin(gap, body)

    def _may_be_source(self, body: str, *, final: bool) -> bool:
        closes = self._fenced and body.startswith("`")
        return closes or _SOURCE_LINE.match(body, partial=not final) is not None

    def _may_be_chatter(self, body: str) -> bool:
        return not self._keeps_courtesies and _CHATTER.match(body, partial=True) is not None

    def _is_left_out(self, sentence: str) -> bool:
        """Return whether a sentence without a citation is a courtesy or about the answer itself."""
        bare = sentence.rstrip(")）*_ ")
        is_chatter = not _CITES.search(sentence) and _CHATTER.fullmatch(bare) is not None
        return is_chatter and not self._keeps_courtesies

    def _begin(self, gap: str, body: str) -> str:
        self._begins_line = False
        end = sentence_end(body)
        if end is None or end == len(body):
            self._sentence, self._buffer = body, ""
            return gap + body
        self._buffer = body[end:]
        self._begins_line = body[:end].endswith("\n")
        return gap + body[:end]

    def _rest_of_sentence(self) -> str:
        whole = self._sentence + self._buffer
        end = sentence_end(whole)
        if end is None or end == len(whole):
            passed, self._sentence, self._buffer = self._buffer, whole[-_SENTENCE_CHARS:], ""
            return passed
        behind = max(end - len(self._sentence), 0)
        passed, self._buffer, self._sentence = self._buffer[:behind], self._buffer[behind:], ""
        self._begins_line = whole[:end].endswith("\n")
        return passed

    def _line(self, gap: str, body: str, *, final: bool) -> str | None:
        """Return a whole line, "" if it belongs to a list of sources; None while it is not whole."""
        line, newline, rest = body.partition("\n")
        if not (newline or final or len(line) > _LINE_CHARS):
            return None
        is_source = _SOURCE_LINE.fullmatch(line) is not None
        is_closing = self._fenced and line.startswith("```")
        is_listed = self._listing and _LISTED.match(line) is not None
        if is_source or is_closing or is_listed or self._is_left_out(line):
            self._listing |= is_source
            self._buffer = newline + rest
            return ""
        self._listing = False
        return self._begin(gap, body)


class Unrepeated:
    """Leaves out repeated sentences; small models may write in circles.

    Attributes:
        circles: how many sentences in a row were left out.
    """

    def __init__(self) -> None:
        self.circles = 0
        self._known = set[str]()
        self._sentence = ""
        self._passed = self._searched = 0  # characters of the sentence

    def feed(self, piece: str) -> str:
        """Return what of the text so far is certainly new."""
        self._sentence += piece
        passed = list[str]()
        while end := sentence_end(self._sentence, since=self._searched):
            if not self._sentence[end:].strip():
                return "".join(passed) + self._pass_new()
            passed.append(self._close(end))
        self._searched = find_undecided(self._sentence)
        return "".join(passed) + self._pass_new()

    def finish(self) -> str:
        """Return the rest, once no more text comes."""
        return self._close(len(self._sentence))

    def _pass_new(self) -> str:
        """Return what is held of a sentence that no earlier one begins with."""
        begun = _letters_of(self._sentence)
        if not self._passed and any(one.startswith(begun) for one in self._known):
            return ""
        shown = self._sentence.rstrip()  # a gap may belong to what follows
        passed, self._passed = shown[self._passed :], max(self._passed, len(shown))
        return passed

    def _close(self, end: int) -> str:
        sentence, self._sentence = self._sentence[:end], self._sentence[end:]
        letters, passed = _letters_of(sentence), self._passed
        self._passed = self._searched = 0
        if not passed and letters in self._known:
            self.circles += 1
            return ""
        self.circles = 0
        if len(letters) >= _LEAST_REPEATED:
            self._known.add(letters)
        return sentence[passed:]


def _letters_of(sentence: str) -> str:
    """Return the letters and digits of a sentence, without its markers."""
    return _NO_LETTERS.sub("", sentence).casefold()


def _answer_in(value: object) -> str | None:
    """Return the answer in a JSON object; None if it has none."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, object]", value)
    for name in _FIELDS:
        inner = fields.get(name)
        if isinstance(inner, str) and inner.strip():
            return inner
        if isinstance(inner, dict) and (found := _answer_in(inner)):
            return found
        if isinstance(inner, list) and inner:
            listed = cast("list[object]", inner)
            if all(isinstance(one, str) for one in listed):
                return "\n".join(map(str, listed))
    texts = [one for one in fields.values() if isinstance(one, str)]
    return texts[0] if len(texts) == 1 else None


def _unescape(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def unwrap(text: str) -> str:
    """Return a whole text without what stands around it."""
    one = Unwrapped()
    return one.feed(text) + one.finish()
