"""Asks chat models for JSON of a schema, and reads their answers tolerantly.

Small models wrap JSON in prose or a code fence, think aloud first, leave a comma before a closing bracket, write `None`
for `null`, skip fields, wrap everything in one more object, or write a draft first. All of that is read as it was meant.
Of an answer that was cut off, a list keeps the objects that are whole. What does not fit the schema is an error that
says why, so that the model can be asked once more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema, from_json

from sextant.domain.questions import field_at
from sextant.text.characters import clean_text

# JSON Schema's bounds that endpoints know.
_BOUNDS = ("enum", "minimum", "maximum", "maxLength", "minItems", "maxItems")


class ModelReply(BaseModel):
    """An object that a chat model is asked for; its fields are bounded (`AtMost`, `Declared`, enums).

    A field that is read but not asked for is a `SkipJsonSchema`.
    """

    keeps_cut_entry: ClassVar[bool] = False
    """Whether an entry in which the answer was cut off counts, with the entries of its own lists that are whole."""


@dataclass(frozen=True, slots=True)
class AtMost:
    """A list or text of at most `most` entries or characters; a longer one is cut."""

    most: int

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._cut, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        described = handler(schema)
        return described | {
            "maxLength" if described.get("type") == "string" else "maxItems": self.most
        }

    def _cut(self, value: Any) -> Any:  # noqa: ANN401 - whatever can be sliced
        return value[: self.most]


class Declared:
    """Bounds that the schema tells the model, and that reading does not enforce."""

    def __init__(self, **bounds: object) -> None:
        self._bounds = bounds

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(schema) | self._bounds


@cache
def json_schema(reply: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of `reply` for a chat model, made once: each making takes 2 ms."""
    whole = reply.model_json_schema()
    return _describe_field(whole, whole.get("$defs", {}))


def _describe_field(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema's node as the model sees it, with references resolved."""
    if reference := node.get("$ref"):
        return _describe_field(definitions[str(reference).rpartition("/")[2]], definitions)
    described: dict[str, Any] = {}
    if options := [one for one in node.get("anyOf", ()) if one.get("type") != "null"]:
        # None stands for a value that was left out; the model is to give one.
        inner = [_describe_field(one, definitions) for one in options]
        described = inner[0] if len(inner) == 1 else {"anyOf": inner}
    described |= {key: node[key] for key in ("type", *_BOUNDS) if key in node}
    if "const" in node:
        described["enum"] = [node["const"]]
    if "items" in node:
        described["items"] = _describe_field(node["items"], definitions)
    if node.get("type") == "object":
        fields = {
            key: _describe_field(one, definitions)
            for key, one in node.get("properties", {}).items()
        }
        described |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    return described


def collect_enums(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return all words that a schema lets a model choose from."""
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += [schema["items"]] if "items" in schema else []
    chosen = frozenset(map(str, schema.get("enum", ())))
    return chosen.union(*map(collect_enums, inner))


T = TypeVar("T", bound=ModelReply)

_INSTRUCTION = {
    "en": "Answer with one JSON object and nothing else: no explanation, no code fence.",
    "zh": "只回复一个 JSON 对象，不要解释，不要代码块。",
}
_BY_SCHEMA = {
    "en": (
        "It must follow this JSON schema (write values in the language of the text, keep the keys as they "
        "are):\n{schema}"
    ),
    "zh": "它必须符合以下 JSON schema（值用文本的语言书写，键名保持不变）：\n{schema}",
}
_REPAIR = {
    "en": "Your last answer was:\n{answer}\nIt cannot be used: {problem}\nAnswer again with only the corrected JSON object.",
    "zh": "你上一次的回复是：\n{answer}\n这个回复无法使用：{problem}\n请只回复改正后的 JSON 对象。",
}

# Outside of strings: Python's words for JSON's literals, and full-width punctuation.
_WORDS = {"None": "null", "True": "true", "False": "false", "NaN": "null"}
_MARKS = str.maketrans("，：｛｝［］", ",:{}[]")
_CONTROLS = {code: f"\\u{code:04x}" for code in range(32)}  # as strings may have them
# A string (possibly cut off by the end), a word, or anything between; linear on any input.
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[A-Za-z]+|[^"A-Za-z]+', re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_START = re.compile(r"[{\[]")
# Prose before the object may hold brackets, too; so many of them are tried.
_MOST_STARTS = 8


class DoesNotFit(Exception):
    """The text holds no object of the schema; the message says what is wrong."""


@cache
def instruction(schema: type[BaseModel], language: str = "en", *, with_schema: bool = True) -> str:
    """Return the sentences that ask for JSON of `schema`, to append to a prompt in `language`.

    Without the schema where the endpoint is given it beside the prompt.
    """
    if not with_schema:
        return _INSTRUCTION[language]
    written = json.dumps(json_schema(schema), ensure_ascii=False)
    return f"{_INSTRUCTION[language]} {_BY_SCHEMA[language].format(schema=written)}"


def repair_request(answer: str, problem: DoesNotFit, language: str = "en") -> str:
    """Return what sends a model back to mend its answer; thinking models refuse answers of theirs without the thought."""
    return _REPAIR[language].format(answer=answer or "(empty)", problem=problem)


def read_structured(text: str, schema: type[T], is_echo: Callable[[str], bool] | None = None) -> T:
    """Return the object of `schema` in `text`: the last that is whole, else the first.

    Args:
        text: what the model wrote.
        schema: what it was asked for.
        is_echo: tells texts that only repeat the prompt; they are read as empty.

    Raises:
        DoesNotFit: no JSON was found, or what was found fails validation.
    """
    problem = DoesNotFit("it holds no JSON object.")
    read: T | None = None
    for value, whole in _json_values(text, keeps_cut_entry=schema.keeps_cut_entry):
        if read is not None and not whole:
            break
        try:
            read = schema.model_validate(
                _fit_value(_clean_value(value, is_echo or _no_echo), schema)
            )
        except ValidationError as error:
            problem = DoesNotFit(_as_name(error))
        except DoesNotFit as error:
            problem = error
        if value is _CUT_OFF or (read is not None and not whole):
            break
    if read is None and _AS_STRING.search(text):
        return read_structured(text.replace('\\"', '"'), schema, is_echo)
    if read is None:
        raise problem
    return read


def _json_values(text: str, *, keeps_cut_entry: bool) -> Iterator[tuple[object, bool]]:
    """Yield every JSON object or array in `text`, and whether it was valid as it stands; slips are mended."""
    position = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            return
        position, whole = start.end(), True
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            try:
                value = _read_repaired(text[start.start() :], keeps_cut_entry)
            except (ValueError, RecursionError):
                continue
            whole = False
        yield value, whole


# JSON that was written as a string of JSON.
_AS_STRING = re.compile(r'[{\[]\s*\\"')
_DECODER = json.JSONDecoder(strict=False)
_CUT_OFF = object()


def _read_repaired(text: str, keeps_cut_entry: bool) -> object:
    """Return the first value of `text`, with slips outside of strings mended and an unfinished end dropped."""
    pieces, open_brackets = list[str](), list[str]()
    for piece in _PIECES.findall(text):
        if piece.startswith('"'):
            pieces.append(piece.translate(_CONTROLS))
            continue
        plain = _TRAILING_COMMA.sub(r"\1", _WORDS.get(piece, piece).translate(_MARKS))
        for char in plain:
            if char in "{[":
                open_brackets.append(char)
            elif char in "}]" and open_brackets:
                open_brackets.pop()
        pieces.append(plain)
    repaired = "".join(pieces)
    try:
        return _DECODER.raw_decode(repaired)[0]  # talk may follow
    except ValueError:
        value = from_json(repaired, allow_partial="trailing-strings")
    _drop_cut_entry(value, open_brackets, keeps_cut_entry)
    return value if len(open_brackets) == 1 or _has_content(value) else _CUT_OFF


def _drop_cut_entry(value: object, open_brackets: list[str], keeps_cut_entry: bool) -> None:
    """Drop the entry of a list whose end is missing: it may hold half a name."""
    nodes: list[Any] = [value]  # those that are open, from the outermost
    for _ in open_brackets[1:]:
        inner = nodes[-1]
        nodes.append([*inner.values()][-1] if isinstance(inner, dict) else inner[-1])
    entries = [at for at in range(2, len(nodes)) if open_brackets[at - 1] == "["]
    outermost = next((at for at in entries if open_brackets[at] == "{"), None)
    if outermost is None:
        return
    has_lists = any(isinstance(one, list) for one in nodes[outermost].values())
    if keeps_cut_entry and has_lists:
        outermost = next((at for at in entries if at > outermost), None)
    if outermost is not None:
        nodes[outermost - 1].pop()


def _has_content(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_content, value.values() if isinstance(value, dict) else value))
    return value not in (None, "")


def _clean_value(value: object, is_echo: Callable[[str], bool]) -> object:
    """Return `value` with clean strings, empty where they are echoes; JSON's escapes may hold characters that are not stored."""
    if isinstance(value, str):
        text = clean_text(value)
        return "" if is_echo(text) else text
    if isinstance(value, list):
        return [_clean_value(item, is_echo) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): _clean_value(item, is_echo) for key, item in value.items()}
    return value


def _no_echo(_text: str) -> bool:
    return False


def _fit_value(value: object, schema: type[BaseModel]) -> dict[str, Any]:
    """Return `value` without wrappers, its fields in the shape that `schema` declares."""
    if value is _CUT_OFF:
        raise DoesNotFit("it was cut off before it said anything.")
    names = {field.alias or name: field for name, field in schema.model_fields.items()}
    if len(names) == 1 and (objects := _bare_list(value, names)):
        value = dict.fromkeys(names, objects)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise DoesNotFit("it is not a JSON object.")
    if not names.keys() & value.keys():  # under a name of its own, or amid the schema
        inner = [
            one for one in value.values() if isinstance(one, dict) and names.keys() & one.keys()
        ]
        value = inner[0] if inner else value
    if not names.keys() & value.keys():
        raise DoesNotFit(f"it has none of the keys {', '.join(names)}.")
    return {
        name: _as_list(value[name], names[name])
        for name in names.keys() & value.keys()
        if value[name] is not None or names[name].is_required()
    }


def _bare_list(value: object, names: Mapping[str, FieldInfo]) -> list[Any]:
    """Return the objects of a schema that is one list, if they stand without its key, under another, or alone."""
    if isinstance(value, dict) and _entry_keys(names) & value.keys():
        return [] if names.keys() & value.keys() else [value]
    if isinstance(value, dict) and len(value) == 1 and not names.keys() & value.keys():
        (value,) = value.values()
    objects = value if isinstance(value, list) else []
    is_bare = all(isinstance(one, dict) and not names.keys() & one.keys() for one in objects)
    wanted = all(get_origin(field.annotation) is list for field in names.values())
    return objects if is_bare and wanted else []


def _entry_keys(names: Mapping[str, FieldInfo]) -> frozenset[str]:
    """Return the keys of the objects of the only list of a schema."""
    (field,) = names.values()
    entries = get_args(field.annotation) if get_origin(field.annotation) is list else ()
    fields = getattr(entries[0], "model_fields", {}) if entries else {}
    return frozenset(fields)


def _as_list(value: object, field: FieldInfo) -> object:
    """Return a lone string as a list, where a list is wanted."""
    if isinstance(value, str) and get_origin(field.annotation) in (list, tuple):
        return [value] if value.strip() else []
    return value


def _as_name(error: ValidationError) -> str:
    """Return pydantic's findings in one line each, without its documentation links."""
    return "; ".join(
        f"{field_at(finding['loc']) or 'the object'}: {finding['msg']}"
        for finding in error.errors(include_url=False, include_input=False)[:8]
    )
