"""Takes off what models put around an answer: tags, fences, JSON, "Answer:", courtesies, lists of sources.

It is no part of what was asked, and no passage could support it. The text passes piece by piece; what comes out does
not depend on how it was cut.
"""

from __future__ import annotations

import json
import re
from typing import cast

from sextant.text.sentences import sentence_end

_TAGS = "answer|final_answer|final-answer|final|response|result|output|reply|回答|答案|最终答案"
_TAG = re.compile(rf"</?(?:{_TAGS})\s*>", re.IGNORECASE)
_TAG_BEGUN = re.compile(r"<(?:/?[a-z_回答案最终-]{0,13})?\Z", re.IGNORECASE)
_FIELDS = (
    "answer",
    "final_answer",
    "finalAnswer",
    "response",
    "result",
    "reply",
    "text",
    "content",
    "output",
    "答案",
    "回答",
)
_FIELD = re.compile(rf'"(?:{"|".join(_FIELDS)})"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
_FENCE = re.compile(
    r"(`{3,})[ \t]*(json|markdown|md|text|txt|plaintext|plain|answer|xml|html|yaml)?[ \t]*\n",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"[*_#\s]*(?:(?:the\s+)?(?:final\s+|short\s+|direct\s+)?answer|response|reply|a|答案|回答|答|最终答案|答复)\s*[*_]*\s*[:：]\s*[*_]*\s*"
    r"|[#*_\s]*(?:(?:final\s+)?answer|答案|回答)\s*[*_]*\s*\n+",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:sure|certainly|of course|okay|ok|absolutely|great question|好的|当然|没问题|您好|你好)\s*[,，!！.。:：]\s*",
    re.IGNORECASE,
)
# A line of an answer, not of code.
_ENDED_LINE = re.compile(r"[。！？.!?]\s*$|\[\d+\]|^\s*\{")
# "Here is the answer:" on a line of its own.
_LEAD_IN = re.compile(
    r"[*_]*(?:here(?: is|['’]s| are)|based on|according to|以下|下面|根据)[^\n.!?。！？]{0,80}[:：][*_]*[ \t]*(?:\n\s*|\Z)",
    re.IGNORECASE,
)
# Where it is known that no such line comes.
_LEAD_IN_OVER = re.compile(r"[^\s:：][\n.!?。！？]|[:：][ \t]*\n\s*\S|\Z(?<=[^:：\s][.。!！?？])")
_LEAD_IN_CHARS = 100
_LABEL_BEGUN = (
    "answer:", "final answer:", "the answer:", "the final answer:", "short answer:", "direct answer:", "response:",
    "reply:", "a:", "sure,", "certainly,", "of course,", "okay,", "ok,", "absolutely,", "great question!", "答案：",
    "回答：", "答：", "最终答案：", "答复：", "好的，", "当然，", "没问题，", "您好，", "你好，",
)  # fmt: skip
_LABEL_CHARS = 24

_SOURCE_WORDS = (
    "sources|source|references|reference|citations|citation|cited passages|cited sources|passages used|sources used"
    "|来源|资料来源|信息来源|参考|参考资料|参考文献|参考来源|参考段落|引用|引用来源|引用段落|出处|文档来源"
)
_FILE = r"[^\s|,，;；]{1,80}\.(?:pdf|docx?|xlsx?|pptx?|md|txt|html?|csv|json)\b[^\n]{0,60}"
_ID = r"(?:\[?\^?\(?(?:passages?|sources?|documents?|docs?|段落|来源|文档)?\s*#?\d{1,3}\)?\]?)"
_NAMED = rf"(?:(?:passages?|sources?|documents?|docs?|段落|来源|文档)\s*#?\s*\[?\d{{1,3}}\]?|{_FILE}|https?://\S+)"
_HEADING = re.compile(
    rf"[\s#*_\-–—>(（【\[]*(?:{_SOURCE_WORDS})\s*[*_]*\s*(?:[:：]?[\s*_)）】\]]*\Z|[:：][\s*_]*(?:{_ID}|{_NAMED})(?:[\s,，、;；和]|and|{_ID}|{_NAMED})*[.。)）】\]]*\s*\Z)",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    rf"[\s>*•\-–]*(?:{_ID}\s*[:：.、\-–]*\s*{_NAMED}|{_NAMED}|\[\^?\d{{1,3}}\]\s*[:：][^\n]*|(?:\[\^?\d{{1,3}}\][\s,，、;；]*)+)[\s.。;；]*\Z",
    re.IGNORECASE,
)
_LOOSE_ENTRY = re.compile(
    rf"[\s>*•\-–]*(?:{_ID}|[-*•])\s*[^\n]{{0,160}}\Z|\s*{_NAMED}\s*\Z", re.IGNORECASE
)

_CHATTER = re.compile(
    r"[\s*_(（>]*(?:"
    r"(?:please\s+)?(?:note|disclaimer|n\.b\.)\s*[*_]*\s*(?:[:：]|that\b)[^\n]*\b(?:answer|based on|passages?|context|information provided|provided|advice|consult|documents?)\b[^\n]*"
    r"|(?:this|the above|the)\s+(?:answer|response|information|summary)\s+(?:above\s+)?(?:is|was|has been|comes|came)\s+(?:\w+\s+)?(?:based|derived|taken|drawn|from|provided|compiled|generated|supported|found)\b[^\n]*\b(?:passages?|provided|context|documents?|sources?|above|text|information|knowledge base)\b[^\n]*"
    r"|(?:please\s+)?let me know\b[^\n]*|(?:please\s+)?feel free\b[^\n]*|(?:i\s+)?hope (?:this|that|it)\b[^\n]*\bhelp[^\n]*"
    r"|if you (?:have|need|would like|want|require)\b[^\n]*\b(?:let me know|feel free|(?:any|more|further|other|additional) (?:\w+ )?(?:questions?|details?|information|help|assistance|clarifications?))\b[^\n]*"
    r"|(?:is there|do you have) any(?:thing|\s+(?:other|more|further))\b[^\n]*|(?:please )?(?:don['’]t|do not) hesitate\b[^\n]*"
    r"|you can find (?:more|this|further)\b[^\n]*\b(?:passages?|sources?|documents?)\b[^\n]*"
    r"|(?:注意|注|说明|备注|提示|温馨提示|免责声明)\s*[*_]*\s*[:：][^\n]*(?:回答|答案|根据|基于|依据|段落|以上|上述|提供|资料|参考|文档)[^\n]*"
    r"|(?:以上|上述|本)(?:回答|答案|内容|信息|就是|为)[^\n]*(?:根据|基于|来自|来源|依据|段落|文档|资料|参考|所有|全部|回答|答案)[^\n]*"
    r"|(?:希望|但愿)[^\n]*(?:帮助|有帮助|有用|帮到)[^\n]*"
    r"|(?:如果|如|若|假如)(?:您|你)?(?:还|仍|需要|有)[^\n]*(?:问题|需要|疑问|帮助|信息|了解|请|告诉|联系我)[^\n]*"
    r"|(?:请|欢迎)(?:随时|继续)[^\n]*(?:告诉|提问|问我|联系|询问|咨询)[^\n]*"
    r"|还有(?:什么|其他|别的)[^\n]*(?:吗|帮)[^\n]*"
    r")\s*\Z",
    re.IGNORECASE,
)
_CHATTER_BEGUN = (
    "note", "please note", "disclaimer", "n.b.", "this answer", "this response", "this information", "this summary",
    "the above", "the answer above", "the answer is based", "the answer was", "the information", "the response", "let me know",
    "please let me know", "feel free", "please feel free", "i hope", "hope this", "hope that", "if you have", "if you need",
    "if you would like", "if you want", "if you require", "is there any", "do you have any", "please don't hesitate",
    "don't hesitate", "do not hesitate", "please do not hesitate", "you can find", "注意", "注：", "注:", "说明", "备注", "提示",
    "温馨提示", "免责声明", "以上", "上述", "本回答", "本答案", "希望", "但愿", "如果您", "如果你", "如您", "如你", "如有", "如需", "如还", "若您", "若有",
    "若需", "假如", "如果还", "如果有", "如果需", "请随时", "欢迎随时", "欢迎继续", "请继续", "还有什么", "还有其他",
)  # fmt: skip
_SOURCES_BEGUN = tuple(_SOURCE_WORDS.split("|"))
_CITES = re.compile(r"[\[【]\^?\d{1,3}[\]】]\W*\Z")
_LINE_CHARS, _SENTENCE_CHARS = 300, 4000
_LEAD = re.compile(r"\s*")
_DRESS = re.compile(r"[\s#*_>(（\-–—【]*")


class Unwrapped:
    """The text of a model without what it stands in."""

    def __init__(self, *, keeps_courtesies: bool = False) -> None:
        """Take `keeps_courtesies` for small talk, where a greeting is the answer."""
        self._keeps_courtesies = keeps_courtesies
        self._held = ""
        self._opened = False
        self._courteous = False
        self._over = False
        self._fenced = False
        self._sentence = ""  # what was passed on of the sentence that goes on
        self._listing = False  # within a list of sources
        self._lines_begun = True

    def feed(self, piece: str) -> str:
        """Return what of the text up to the end of `piece` is known to be the answer."""
        if self._over:
            return ""
        self._held += piece
        return self._pass(final=False)

    def finish(self) -> str:
        """Return the rest, once no more text comes."""
        return self._pass(final=True)

    def _pass(self, *, final: bool) -> str:
        if not self._opened and not self._open(final=final):
            return ""
        tail = "" if final else self._tag_begun()
        body = _TAG.sub("", self._held[: len(self._held) - len(tail)])
        self._held = body
        passed = list[str]()
        while self._held:
            piece = self._next(final=final and not tail)
            if piece is None:
                break
            passed.append(piece)
        self._held += tail
        return "".join(passed)

    def _tag_begun(self) -> str:
        found = _TAG_BEGUN.search(self._held)
        return found[0] if found else ""

    # what stands ahead

    def _open(self, *, final: bool) -> bool:
        """Take off what stands ahead of the answer; return whether that is known by now."""
        while True:
            text = self._held.lstrip()
            if text.startswith("{"):
                return self._open_object(text, final=final)
            if not final and self._must_wait(text):
                return False
            rest = self._without_one(text)
            if rest is None:
                self._held, self._opened = text, True
                return True
            self._held = rest

    def _must_wait(self, text: str) -> bool:
        """Return whether what a text begins with is not known yet."""
        if not text or (text.startswith("<") and _TAG_BEGUN.fullmatch(text)):
            return True
        if text.startswith("`"):
            fence = _FENCE.match(text)
            begun = "\n" not in text and len(text) < _LABEL_CHARS
            return begun or (fence is not None and self._is_wrapper(fence, text) is None)
        if found := (_LABEL.match(text) or self._courtesy(text)):
            return found.end() == len(text)
        if self._courteous and len(text) < _LEAD_IN_CHARS and not _LEAD_IN_OVER.search(text):
            return True
        return len(text) < _LABEL_CHARS and self._may_be_label(text)

    def _without_one(self, text: str) -> str | None:
        """Return the text without the first thing that it stands in; None: it stands in nothing more."""
        tag, fence = _TAG.match(text), _FENCE.match(text)
        if tag and not text.startswith("</"):
            return text[tag.end() :]
        if fence and self._is_wrapper(fence, text):
            self._fenced = True
            return text[fence.end() :]
        if found := (_LABEL.match(text) or self._courtesy(text)):
            self._courteous |= found.re is _COURTESY
            return text[found.end() :]
        if self._courteous and (found := _LEAD_IN.match(text)):
            self._courteous = False
            return text[found.end() :]
        return None

    def _may_be_label(self, text: str) -> bool:
        bare = text.lstrip("*_# \n").casefold()
        return any(
            label.startswith(bare)
            or (bare.startswith(label.rstrip(":：,，!")) and len(bare) < len(label) + 4)
            for label in _LABEL_BEGUN
        )

    def _is_wrapper(self, fence: re.Match[str], text: str) -> bool | None:
        """Return whether a fence is around the whole answer; None: not known yet."""
        if fence[2]:
            return True
        first, newline, _ = text[fence.end() :].partition("\n")
        if not newline and not _ENDED_LINE.search(first):
            return None
        return _ENDED_LINE.search(first) is not None

    def _open_object(self, text: str, *, final: bool) -> bool:
        body = text.rstrip().removesuffix("```").rstrip() if self._fenced else text.rstrip()
        try:
            value = json.loads(body, strict=False)
        except ValueError:
            if not final:
                return False
            found = _FIELD.search(body)
            inner = _unescape(found[1]) if found else None
        else:
            inner = _answer_in(value)
        self._opened, self._held = True, text if inner is None else inner.strip()
        self._over = inner is not None
        return True

    # what follows

    def _next(self, *, final: bool) -> str | None:
        """Return the next of what is held that passes, "" for what goes; None: more must be known."""
        if self._sentence:
            return self._rest_of_sentence()
        lead = _LEAD.match(self._held)
        gap = lead[0] if lead else ""
        body = self._held[len(gap) :]
        if not body:
            self._held = "" if final else self._held
            return None
        at_line = self._lines_begun or "\n" in gap
        if at_line and (self._listing or self._may_be_sources(body)):
            return self._line(gap, body, final=final)
        self._listing = False
        state = self._begins(body, _CHATTER_BEGUN)
        end = self._end(body, final=final) if state else None
        if not final and (state is None or (state and end is None)):
            return None
        if end is not None and self._is_left_out(body[:end]):
            self._held = body[end:]
            return ""
        return self._begin(gap, body)

    def _courtesy(self, text: str) -> re.Match[str] | None:
        return None if self._keeps_courtesies else _COURTESY.match(text)

    def _is_left_out(self, sentence: str) -> bool:
        return not self._keeps_courtesies and _is_chatter(sentence)

    def _begin(self, gap: str, body: str) -> str:
        self._lines_begun = False
        end = sentence_end(body)
        if end is None or end == len(body):
            self._sentence, self._held = body, ""
            return gap + body
        self._held = body[end:]
        self._lines_begun = body[:end].endswith("\n")
        return gap + body[:end]

    def _rest_of_sentence(self) -> str:
        whole = self._sentence + self._held
        end = sentence_end(whole)
        behind = None if end is None else end - len(self._sentence)
        if behind is None or end == len(whole):
            passed, self._sentence, self._held = self._held, whole[-_SENTENCE_CHARS:], ""
            return passed
        behind = max(behind, 0)
        passed, self._held, self._sentence = self._held[:behind], self._held[behind:], ""
        self._lines_begun = whole[:end].endswith("\n")
        return passed

    def _line(self, gap: str, body: str, *, final: bool) -> str | None:
        """Return a line that may be of a list of sources, once it is whole."""
        line, newline, rest = body.partition("\n")
        if not (newline or final or len(line) > _LINE_CHARS):
            return None
        of_list = _HEADING.match(line) or _ENTRY.match(line)
        closing = self._fenced and line.strip().startswith("```")
        if (
            of_list
            or closing
            or (self._listing and _LOOSE_ENTRY.match(line))
            or self._is_left_out(line)
        ):
            self._listing |= of_list is not None
            self._held = newline + rest
            return ""
        self._listing = False
        return self._begin(gap, body)

    def _may_be_sources(self, body: str) -> bool:
        bare = _DRESS.sub("", body, count=1).casefold()
        if body[0] in "[［" or bare[:1].isdigit():
            return (
                re.match(
                    r"[\[［]?\^?\d{0,3}[\]］]?\s*[:：.、\-–]*\s*(?:\Z|p|s|d|段|来|文|\[|\S{1,80}\.\w)",
                    body,
                    re.IGNORECASE,
                )
                is not None
            )
        if self._fenced and body.startswith("`"):
            return True
        return any(word.startswith(bare) or bare.startswith(word) for word in _SOURCES_BEGUN)

    def _begins(self, body: str, openings: tuple[str, ...]) -> bool | None:
        """Return whether a text begins with one of these; None: it is too short to tell."""
        bare = _DRESS.sub("", body, count=1).casefold().replace("’", "'")
        if not bare or any(opening.startswith(bare) and opening != bare for opening in openings):
            return True if any(bare.startswith(opening) for opening in openings) else None
        return any(bare.startswith(opening) for opening in openings)

    def _end(self, body: str, *, final: bool) -> int | None:
        end = sentence_end(body)
        if end is not None and (body[end:].strip() or final):  # a lower letter may still go on
            return end
        return len(body) if final else None


def _is_chatter(sentence: str) -> bool:
    """Return whether a sentence is a courtesy, or says what the answer is made of; one that cites is neither."""
    return not _CITES.search(sentence) and _CHATTER.match(sentence.rstrip(")）*_ ")) is not None


def _answer_in(value: object) -> str | None:
    """Return the answer that a JSON object holds; None: it holds none."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, object]", value)
    for name in _FIELDS:
        inner = fields.get(name)
        if isinstance(inner, str) and inner.strip():
            return inner
        if isinstance(inner, dict) and (found := _answer_in(inner)):
            return found
        if (
            isinstance(inner, list)
            and inner
            and all(isinstance(one, str) for one in cast("list[object]", inner))
        ):
            return "\n".join(cast("list[str]", inner))
    texts = [one for one in fields.values() if isinstance(one, str)]
    return texts[0] if len(texts) == 1 else None


def _unescape(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def unwrap(text: str) -> str:
    """Return a whole text without what it stands in."""
    one = Unwrapped()
    return one.feed(text) + one.finish()
