"""Every prompt, in Chinese and English: one Markdown file per prompt and language.

A file says `version: N` on its first line, then has a `# system` and a `# user` part in which
`$name` stands for a variable; or a `# task` part, which follows the parts of `passages`: all tasks of one answer
begin with the same text, which endpoints read once and keep. A line that ends in `<!-- if name -->` stands in the
prompt only where the variable of that name is not empty, or the caller says that there is such a thing. What is put in
is data: it is never read as a template.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

LANGUAGES = ("en", "zh")

_FILE = re.compile(
    r"version: (?P<version>\d+)\n+"
    r"(?:# system\n+(?P<system>.+?)\n+# user\n+(?P<user>.+)|# task\n+(?P<task>.+))",
    re.DOTALL,
)
_BLOCK = re.compile(r"^<([a-z-]+)>\n\$(?P<name>[a-z]+)\n</\1>\n", re.MULTILINE)
_CONDITIONAL = re.compile(r"^(?P<line>.+) <!-- if (?P<name>[a-z]+) -->\n", re.MULTILINE)

# Of the tags around data in the prompts, their letters; what begins with them, too.
_TAGS = (
    "alreadyrun", "caption", "conversation", "document", "draft", "found", "knowledge", "missing", "names", "pairs",
    "passage", "question", "report", "sections", "sources", "table", "title",
)  # fmt: skip
# What no reader sees (Unicode's Default_Ignorable_Code_Point), and marks upon a letter.
_INVISIBLE = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Where some readers begin a line, though Markdown and `re` do not.
_BREAKS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# Who speaks in a conversation, as chat templates and habits have it, by letters alone.
_ROLES = frozenset({
    "assistant", "availabletools", "developer", "human", "inst", "instruction", "instructions", "sys", "system",
    "systemmessage", "systemprompt", "think", "thinking", "tool", "toolcall", "toolcalls", "toolresults", "user",
    "usermessage",
    "人类", "使用者", "助理", "助手", "开发者", "指令", "用户", "用戶", "系统", "系統", "系统提示", "系統提示", "系统消息", "系统指令",
})  # fmt: skip
_TURNS = frozenset({"input", "output", "response"})  # what a heading calls a turn, too
# Where something may begin: a tag, by a sign or an entity; a token in square brackets or two braces, or the number of a
# passage at the beginning of a line; a turn at the beginning of a line, which ends in a colon.
_OPENING = re.compile(
    rf"(?P<tag><|&(?:amp;)*(?:lt|#0*60|#x0*3c)\b;?)"
    rf"|(?<![^{_BREAKS}])[^\S{_BREAKS}]*+(?P<number>\[)(?=\d+\])"
    rf"|(?P<token>\[|\{{(?=\{{))(?=\{{?(?P<inside>[^\[\]{{}}]{{1,60}})[\]}}])"
    rf"|(?<![^{_BREAKS}])(?P<marks>[^\w{_BREAKS}]*+)(?P<role>[a-z\u4e00-\u9fff]+(?:[ _-][a-z]+)?)[^\w:{_BREAKS}]*+(?P<turn>:)",
    re.IGNORECASE,
)
_TAG_REACH = 200  # characters in which a tag must end to be one
_TAG_END = re.compile(r"<|(?P<closed>>|&(?:amp;)*gt\b)", re.IGNORECASE)
# A name right behind the bracket and its signs. One in other letters than the tags' own is none of theirs.
_TAG_NAME = re.compile(r"[^\w\s]*+(?=[a-z_])[a-z0-9_]+(?!\w)", re.IGNORECASE)
_NUMBER_FIRST = re.compile(r"[\W_]*\d")
_NO_LETTER = re.compile(r"[\W\d_]+")
# Tokens that some endpoints read amid a word, too; others in capitals behind a word are an index of a program's.
_CAPITALS = re.compile(r"/?(?:INST|THINK|(?:SYSTEM|AVAILABLE|TOOL)(?:_[A-Z]+)+)")
_UNKNOWN_TOKEN = re.compile(r"/?[A-Z]+(?:_[A-Z]+)+")
DEFUSED = {"<": "‹", ":": "∶", "：": "꞉", "{": "❴"}
"""What stands in a prompt for a sign that would make a delimiter; no plain form (NFKC) leads back."""
_DEFUSED = DEFUSED | {"&": "‹", "[": "("}


class _Plain(dict[int, str]):
    """The plain form of a character (NFKC), where that is one character, too; for `str.translate`."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKC", chr(code))
        self[code] = plain if len(plain) == 1 else chr(code)
        return self[code]


# Signs of other scripts that look like those of the tags (Unicode's confusables).
_LOOK_ALIKES = {
    "<": "﹤〈⟨˂❮ᐸ", ">": "﹥〉⟩˃❯ᐳ", "[": "【〖〔⟦", "]": "】〗〕⟧", "A": "АΑ", "C": "СϹ", "E": "ЕΕ", "I": "ІΙ", "K": "КΚ", "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ",
    "S": "Ѕ", "T": "ТΤ", "V": "Ѵ", "Y": "УΥ", "a": "аɑα", "c": "сϲ", "d": "ԁ", "e": "е", "g": "ɡց", "h": "һ",
    "i": "іɩιı", "k": "кκ", "m": "м", "n": "ո", "o": "оοօ", "p": "рρ", "s": "ѕꜱ", "t": "тτ", "u": "սυ",
    "v": "νᴠѵ", "w": "ԝѡ", "y": "у",
}  # fmt: skip
_PLAIN = _Plain({ord(one): plain for plain, alike in _LOOK_ALIKES.items() for one in alike})

# Invisible twins of ASCII: a reader sees nothing of a message in them, a model may read it.
_TAG_CHARACTERS = re.compile("[\U000e0000-\U000e007f]")

Messages = list[tuple[str, str]]
"""What a chat model is given: (role, text) pairs, as LangChain takes them."""


def as_data(text: str) -> str:
    """Return a text from a document that can neither end the passages of a prompt nor begin another one.

    Characters that write ASCII invisibly (Unicode's tags) become spaces without width.
    """
    text = _TAG_CHARACTERS.sub("\u200b", text)
    shown: Sequence[int] = range(len(text))
    seen = text.translate(_PLAIN)
    if _INVISIBLE.search(seen):
        shown = [index for index, sign in enumerate(seen) if not _INVISIBLE.match(sign)]
        seen = "".join([seen[index] for index in shown])
    parts, end = list[str](), 0
    for found in _OPENING.finditer(seen):
        if (at := _delimiter_in(found, seen)) is not None:
            index = shown[at]
            parts += [text[end:index], _DEFUSED.get(text[index], _DEFUSED[seen[at]])]
            end = index + 1
    return "".join([*parts, text[end:]])


def _delimiter_in(found: re.Match[str], seen: str) -> int | None:
    """Return the index of the sign that makes a delimiter of what begins here; None where it is none."""
    kind = found.lastgroup
    if kind == "tag":
        return found.start() if _is_tag(seen[found.end() : found.end() + _TAG_REACH]) else None
    if kind == "turn":
        role, is_headed = _letters_of(found["role"]), "#" in found["marks"]
        is_turn = role in _ROLES or (is_headed and role in _TURNS)
        return found.start("turn") if is_turn else None
    if kind == "number":
        return found.start("number")
    before = seen[: found.start()][-1:]
    is_token = _is_token(found["inside"], before, in_braces=seen[found.start()] == "{")
    return found.start("token") if is_token else None


def _is_tag(behind: str) -> bool:
    """Return whether what stands behind an opening bracket makes it a tag.

    Whatever is closed and has a name in Latin letters is one, since nobody knows all that some model takes for a
    mark of its own; so is what has the letters of one of our tags, with whatever between them.
    """
    end = _TAG_END.search(behind)
    inside = behind[: end.start()] if end else behind
    is_closed = end is not None and end["closed"] is not None
    if is_closed and _TAG_NAME.match(inside):
        return True
    plain = html.unescape(inside)
    if _NUMBER_FIRST.match(plain):  # a comparison
        return False
    names = {_letters_of(plain), _letters_of(plain.partition(":")[2])}
    return any(name.startswith(_TAGS) for name in names) or (is_closed and bool(names & _ROLES))


def _is_token(inside: str, before: str, *, in_braces: bool) -> bool:
    """Return whether a chat template's token stands in brackets behind this character."""
    if in_braces:  # which hold other variables, too
        return _letters_of(inside) in _ROLES
    if before.isalnum() or before == "_":
        return _CAPITALS.fullmatch(inside) is not None
    return _letters_of(inside) in _ROLES or _UNKNOWN_TOKEN.fullmatch(inside) is not None


def _letters_of(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def number_texts(texts: Iterable[str], between: str = "\n\n") -> str:
    """Return texts from documents as the passages of a prompt, numbered from 1."""
    return between.join(f"[{number}] {as_data(text)}" for number, text in enumerate(texts, 1))


def format_turns(history: Iterable[Mapping[str, str]]) -> str:
    """Return the turns of a conversation, oldest first, each behind its role; what they hold begins no turn."""
    return "\n".join(
        f"{turn.get('role', 'user')}: {as_data(turn.get('content', ''))}" for turn in history
    )


@dataclass(frozen=True, slots=True)
class PromptWording:
    """One prompt in one language."""

    version: int
    system: Template
    user: Template

    @property
    def variables(self) -> frozenset[str]:
        """Return the names of the variables that the text uses."""
        return frozenset(self.system.get_identifiers() + self.user.get_identifiers())


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt in every language; all its wordings use exactly `variables`."""

    name: str
    variables: frozenset[str]
    wordings: dict[str, PromptWording]

    def version(self, language: str) -> str:
        """Name, language and version of the wording that `messages` would use: `generate.zh@3`."""
        used = language if language in self.wordings else "en"
        return f"{self.name}.{used}@{self.wordings[used].version}"

    def messages(self, language: str, *, has: Collection[str] = (), **values: str) -> Messages:
        """Return the prompt in `language` (English where there is no such wording), filled in.

        Empty blocks are left out with their tags, but for the passages.

        Args:
            language: `en` or `zh`.
            has: names of what there is besides the variables, for lines that are conditional.
            values: the variables.

        Raises:
            TypeError: `values` are not exactly the prompt's variables.
        """
        if values.keys() != self.variables:
            wanted = ", ".join(sorted(self.variables))
            raise TypeError(f"Prompt {self.name!r} takes exactly these variables: {wanted}.")
        wording = self.wordings.get(language, self.wordings["en"])
        return [
            ("system", wording.system.substitute(values)),
            (
                "user",
                _select_parts(wording.user, {*has, *filter(values.get, values)}).substitute(values),
            ),
        ]


def _select_parts(template: Template, present: Collection[str]) -> Template:
    """Return a template without the blocks of empty variables, and with the conditional lines of what is present."""
    known = {*present, "passages"}
    text = _BLOCK.sub(lambda block: block[0] if block["name"] in known else "", template.template)
    text = _CONDITIONAL.sub(
        lambda found: f"{found['line']}\n" if found["name"] in known else "", text
    )
    return Template(text.lstrip("\n"))


def _read(name: str, language: str) -> PromptWording:
    text = files(__name__).joinpath(f"{name}.{language}.md").read_text(encoding="utf-8")
    parts = _FILE.fullmatch(text.strip())
    if parts is None:
        raise ValueError(f"Prompt file {name}.{language}.md lacks version, # system or # user.")
    version = int(parts["version"])
    if parts["task"] is None:
        return PromptWording(version, Template(parts["system"]), Template(parts["user"]))
    first = PASSAGES.wordings[language]
    return PromptWording(version, first.system, Template(f"{first.user.template}\n{parts['task']}"))


def _load(name: str, *variables: str) -> Prompt:
    wordings = {language: _read(name, language) for language in LANGUAGES}
    for language, wording in wordings.items():
        if wording.variables != set(variables):
            raise ValueError(f"Prompt file {name}.{language}.md does not use {variables}.")
    return Prompt(name, frozenset(variables), wordings)


# Read once, at import: a node must not touch the disk while the event loop runs.
PASSAGES = _load("passages", "passages")
ANALYZE = _load("analyze", "history", "question")
GRADE = _load("grade", "question", "passages", "searched")
RERANK = _load("rerank", "question", "passages")
GENERATE = _load("generate", "history", "question", "passages", "knowledge")
SECTION = _load("section", "history", "question", "passages", "knowledge")
PLAN = _load("plan", "history", "question", "sections", "names", "most")
OUTLINE = _load("outline", "question", "found")
REPAIR = _load("repair", "question", "passages", "sentences")
POINTS = _load("points", "question", "reports", "passages")
BYPASS = _load("bypass", "history", "question")
EXTRACT = _load("extract", "types", "person", "organization", "title", "passages", "most")
GLEAN = _load("glean", "types", "title", "passages", "found")
SAME = _load("same", "pairs")
TABLE_QUERY = _load("table_query", "caption", "columns", "question")
REPORT = _load("report", "names", "sources")
LOOK = _load("look", "caption", "question")
PICTURE = _load("picture", "title", "caption")
DESCRIBE = _load("describe", "title", "passages")
DESCRIBE_SECTIONS = _load("describe_sections", "title", "passages")
