"""Loads the settings from the environment and `.env`, with the origin of each value.

Also here: validation errors of pydantic in plain words, English and Chinese.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, SettingsError

from sextant.domain.errors import OptionInvalid, SettingsInvalid
from sextant.domain.settings import Settings

# Pydantic's names of Python types, and the words for the same in JSON.
_IN_JSON = {
    "valid tuple": "valid list",
    "Tuple should": "List should",
    "valid dictionary": "valid object",
    " after validation": "",
}

# By the type of pydantic's error, or by the message of our own validators.
_IN_CHINESE = {
    "missing": "缺少这一项",
    "extra_forbidden": "没有这一项",
    "string_type": "应为文本",
    "int_type": "应为整数",
    "int_parsing": "应为整数",
    "int_from_float": "应为整数",
    "float_type": "应为数字",
    "float_parsing": "应为数字",
    "finite_number": "应为有限的数字",
    "bool_type": "应为 true 或 false",
    "bool_parsing": "应为 true 或 false",
    "list_type": "应为列表",
    "tuple_type": "应为列表",
    "set_type": "应为列表",
    "dict_type": "应为对象",
    "model_type": "应为对象",
    "model_attributes_type": "应为对象",
    "string_too_long": "最多 {max_length} 个字符，请缩短",
    "string_too_short": "至少 {min_length} 个字符",
    "too_long": "最多 {max_length} 项",
    "too_short": "至少 {min_length} 项",
    "greater_than_equal": "应不小于 {ge}",
    "greater_than": "应大于 {gt}",
    "less_than_equal": "应不大于 {le}",
    "less_than": "应小于 {lt}",
    "literal_error": "应为 {expected} 之一",
    "enum": "应为 {expected} 之一",
    "datetime_parsing": "应为 ISO 8601 格式的时间",
    "datetime_from_date_parsing": "应为 ISO 8601 格式的时间",
    "datetime_type": "应为 ISO 8601 格式的时间",
    "uuid_parsing": "应为 UUID",
    "must not be empty": "不能为空",
    "must be a number": "应为数字",
    "must lie within the years 1 to 9999 in every time zone": "在任何时区都应在公元 1 至 9999 年之间",
    "must be a list of three texts, [subject, relation, object]": "应为三个文本的列表：[主体, 关系, 客体]",
}


def describe_error(fault: Mapping[str, Any], language: str = "en") -> str:
    """Return one of `ValidationError.errors()` as a sentence in `zh` or `en`, without its full stop.

    For a text that is too long it gives the length. For one that is too short it does not, since that may be a secret.
    Pydantic calls a text a `Value` with items if a validator changed it before the length check.
    """
    limits: Mapping[str, Any] = fault.get("ctx") or {}
    if language == "zh":
        message = str(fault["msg"]).removeprefix("Value error, ")
        by_message = limits.get("zh") or _IN_CHINESE.get(message)
        known = by_message or _IN_CHINESE.get(str(fault["type"]))
        return known.format(**limits) if known else message
    text = fault.get("input")
    most, least = limits.get("max_length"), limits.get("min_length")
    if (
        most is not None
        and fault["type"] in {"string_too_long", "too_long"}
        and isinstance(text, str)
    ):
        return f"String should have at most {most:,} characters, not {len(text):,}; shorten it"
    if least is not None and fault["type"] == "too_short" and limits.get("field_type") == "Value":
        return f"String should have at least {least} character{'s' * (least > 1)}"
    reason = str(fault["msg"]).removeprefix("Value error, ")
    for ours, theirs in _IN_JSON.items():
        reason = reason.replace(ours, theirs)
    return reason


class CheckedOptions(BaseModel):
    """Base of options that are read in snake_case and camelCase.

    Raises:
        OptionInvalid: an option is unknown, given twice, of the wrong type or out of its range; names it.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    @model_validator(mode="wrap")
    @classmethod
    def _named(cls, values: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(values)
        except ValidationError as error:
            raise _unfit_option(error, list(cls.model_fields)) from None


def _unfit_option(error: ValidationError, known: list[str]) -> OptionInvalid:
    """Return the error about the first wrong option."""
    first, *others = error.errors(include_url=False)
    field = str(first["loc"][0]) if first["loc"] else "options"
    listed = f"There are: {', '.join(known)}."
    if first["type"] != "extra_forbidden":
        is_union = any(one["loc"][:1] == first["loc"][:1] for one in others)
        reason = "it is of no form that is taken" if is_union else describe_error(first)
        message = f"The option `{field}` cannot be {first['input']!r:.80}: {reason}."
    elif field in known:
        message = f"The option `{field}` is given twice, also as `{to_camel(field)}`."
    else:
        message = f"There is no option `{field}`."
        near = difflib.get_close_matches(field, [*known, *map(to_camel, known)], n=1)
        listed = f"Did you mean `{near[0]}`? {listed}" if near else listed
    return OptionInvalid(message, next_step=listed, field=field)


PREFIX = "SEXTANT_"
ENV_FILE = ".env"
_SEE = "`sextant config` lists every setting."
_FIXED = "It is fixed, so remove it."
_CALLS = f"{PREFIX}MODEL_CONCURRENCY limits the calls of a chat model."
_TOKENS = f"What a run may cost is limited by {PREFIX}EXTRACTION__BUDGET_TOKENS."
# What to do instead of setting what earlier versions had.
_FORMER = {
    "RESEARCH__CONCURRENCY": _CALLS,
    "EXTRACTION__CONCURRENCY": _CALLS,
    "COMMUNITIES__CONCURRENCY": _CALLS,
    "MULTIMODAL__CONCURRENCY": _CALLS,
    "EXTRACTION__BUDGET_COST": _TOKENS,
    "EXTRACTION__INPUT_PRICE": _TOKENS,
    "EXTRACTION__OUTPUT_PRICE": _TOKENS,
    "QUERY_CACHE": _FIXED,
    "AUTH__JWT_LEEWAY": _FIXED,
    "LIMITS__PAGE_CACHE_BYTES": _FIXED,
    "AUTH__JWKS_SECONDS": _FIXED,
    "MULTIMODAL__SMALLEST_EDGE": _FIXED,
    "WORKER__URGENT_BYTES": _FIXED,
    "WORKER__URGENT_WAITING": _FIXED,
    "WORKER__SETTLE": _FIXED,
}
# The folder of question sets for `make eval`; not a setting, but set in a developer's environment.
_EVAL_DIR = "SEXTANT_EVAL_DIR"


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One setting as `sextant config` lists it; a secret's value is masked."""

    name: str
    variable: str
    value: object
    default: object
    origin: str
    description: str


def load_settings(env_file: str | Path = ENV_FILE, /, **overrides: object) -> Settings:
    """Return settings from keywords, then the environment, then `env_file`, then the defaults.

    Raises:
        SettingsInvalid: a value does not fit its setting, or a keyword or `SEXTANT_*` variable is unknown; the
            message suggests the nearest name.
    """
    _refuse_unknown_names(env_file, overrides)
    arguments: dict[str, Any] = {"_env_file": env_file, **overrides}
    try:
        return Settings(**arguments)
    except ValidationError as error:
        raise _invalid(error) from None
    except SettingsError as error:
        raise SettingsInvalid(
            f"A group of settings is not valid JSON: {error}.",
            next_step=f"Set its fields one by one instead, like {PREFIX}RETRIEVAL__TOP_K; the EXTRA_BODY of a model "
            f'is a JSON object, like {{"top_k": 20}}. {_SEE}',
        ) from None


def describe_settings(
    settings: Settings, env_file: str | Path = ENV_FILE
) -> Iterator[SettingValue]:
    """Yield every setting of `settings` with its default and where its value came from.

    The origin is `environment`, `.env`, `default`, or `argument` for a value given in code.
    """
    found = {
        "environment": _paths(EnvSettingsSource(Settings)()),
        ".env": _paths(DotEnvSettingsSource(Settings, env_file=env_file)()),
    }
    for path, info, group in _leaves(settings):
        named = next((origin for origin, paths in found.items() if path in paths), None)
        given = path[-1] in group.model_fields_set
        yield SettingValue(
            name=".".join(path),
            variable=_variable(path, info),
            value=_display_value(getattr(group, path[-1])),
            default=_display_value(info.default),
            origin=named or ("argument" if given else "default"),
            description=_docstrings(type(group))[path[-1]],
        )


def _leaves(
    group: BaseModel, above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], FieldInfo, BaseModel]]:
    """Yield each setting's path, its definition and the group that it is in."""
    for name, info in type(group).model_fields.items():
        value = getattr(group, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), info, group


@cache
def _docstrings(group: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each setting of a group, on one line.

    Pydantic's `use_attribute_docstrings` would read the source of all groups whenever a program starts.
    """
    [definition] = ast.parse(inspect.getsource(group)).body
    found = defaultdict[str, str](str)
    for field, text in pairwise(getattr(definition, "body", ())):
        match field, text:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(str(words))):
                found[name] = " ".join(words.split())
    return found


def _paths(tree: Mapping[str, Any], above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found = set[tuple[str, ...]]()
    for name, value in tree.items():
        here = (*above, name)
        found |= {here} | (_paths(value, here) if isinstance(value, Mapping) else set())
    return found


def _variable(path: tuple[str, ...], info: FieldInfo) -> str:
    """Return the environment variable of a setting; an established name such as `DATABASE_URL` comes first."""
    choices = getattr(info.validation_alias, "choices", [])
    shared = [name for name in choices if name.isupper() and not name.startswith(PREFIX)]
    return shared[0] if shared else PREFIX + "__".join(path).upper()


def _display_value(value: object) -> object:
    if isinstance(value, SecretStr):
        return "********"
    return str(value) if isinstance(value, Path) else value


def _refuse_unknown_names(env_file: str | Path, overrides: Mapping[str, object]) -> None:
    fields = list(Settings.model_fields)
    for name in overrides:
        if name not in fields:
            raise _unknown(name, fields)
    known = _variables()
    groups = {_variable_name((name,)) for name in fields}
    dotenv = DotEnvSettingsSource(Settings, env_file=env_file).env_vars
    for variable in (*os.environ, *(name.upper() for name in dotenv)):
        name = variable.upper()
        if name.startswith(PREFIX) and name not in {*known, *groups, _EVAL_DIR}:
            raise _unknown(variable, known)


def _variables() -> list[str]:
    return sorted(_variable_name(path) for path, *_ in _leaves(Settings.model_construct()))


def _variable_name(path: tuple[str, ...]) -> str:
    return PREFIX + "__".join(path).upper()


def _unknown(name: str, known: list[str]) -> SettingsInvalid:
    hint = _FORMER.get(name.upper().removeprefix(PREFIX))
    if hint is None and (near := _nearest(name, known)):
        hint = f"Did you mean {near}?"
    return SettingsInvalid(
        f"There is no setting {name}.",
        next_step=f"{hint} {_SEE}" if hint else _SEE,
        field=name.lower(),
    )


def _nearest(name: str, known: list[str]) -> str | None:
    """Return the nearest known name: one whose group was left out (`SEXTANT_TOPK`), or one in similar spelling."""
    bare = name.upper().removeprefix(PREFIX).replace("_", "")
    for candidate in known:
        if candidate.rsplit("__", 1)[-1].upper().replace("_", "") == bare:
            return candidate
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)


def _is_secret(path: tuple[str, ...]) -> bool:
    """Return whether the setting or group holds a secret, by its path or its established name."""
    return any(
        SecretStr in get_args(info.annotation)
        and path in (path_of_leaf[: len(path)], (_variable(path_of_leaf, info),))
        for path_of_leaf, info, *_ in _leaves(Settings.model_construct())
    )


def _invalid(error: ValidationError) -> SettingsInvalid:
    first = error.errors()[0]
    path = tuple(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return _unknown(_variable_name(path), _variables())
    may_show = first["type"] != "missing" and not _is_secret(path)
    given = f" (it is {first['input']!r})" if may_show else ""
    leaves = {leaf: info for leaf, info, *_ in _leaves(Settings.model_construct())}
    own = _variable_name(path)
    shared = _variable(path, leaves[path]) if path in leaves else own
    return SettingsInvalid(
        f"The setting {'.'.join(path)} cannot be used: {describe_error(first)}{given}.",
        next_step=f"Change or unset {own if own in os.environ else shared}. {_SEE}",
        field=".".join(path),
    )
