"""A loopback model that reads passages as an extracting chat model does, by nothing but capitals and quotation."""

from __future__ import annotations

import json
import re
from itertools import pairwise

from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, tokens_of

_PASSAGES = re.compile(r"<passages>\n(.*)\n</passages>", re.DOTALL)
_NUMBER = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_LIMIT = re.compile(r"(?:at most|最多给出) (\d+)")
# Capitalised words in a row, a code, or some ideographs between the commonest ones.
_NAME = re.compile(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*|(?:(?![的是了在和与由为或])[\u4e00-\u9fff]){2,6}")
_VERB_WORDS = 3


def passages_of(request: ApiRequest) -> dict[int, str]:
    """Return the numbered passages of a prompt by their number."""
    found = _PASSAGES.findall(request.prompt)
    parts = _NUMBER.split(found[-1] if found else "")[1:]
    return {int(number): text.strip() for number, text in zip(parts[::2], parts[1::2], strict=True)}


def read_passages(request: ApiRequest) -> Reply:
    """Return what a model that follows its orders finds: names, and what stands between two of them.

    It keeps to the number of items that the prompt allows, and to the limit of the request.
    """
    limits = _LIMIT.findall(request.messages[-1]["content"])
    most = int(limits[-1]) if limits else 20
    replies = list[dict[str, object]]()
    passages, given = passages_of(request), set[str]()
    for number, text in passages.items():
        share = max(1, most // len(passages))
        found = list(_NAME.finditer(text))
        names = [name for name in dict.fromkeys(one[0] for one in found) if name not in given]
        given.update(names[:share])
        relations = [
            [one[0], " ".join(text[one.end() : other.start()].split()[:_VERB_WORDS]), other[0]]
            for one, other in pairwise(found)
            if text[one.end() : other.start()].strip(" ,.;:\n")
        ]
        entities = [{"name": name, "type": "CONCEPT"} for name in names[:share]]
        replies.append({"passage": number, "entities": entities, "relations": relations[:share]})
    return cut_to_limit(request, _write({"passages": replies}))


def _write(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cut_to_limit(request: ApiRequest, text: str) -> Reply:
    """Return a text as far as the limit of the request allows."""
    limit = request.body.get("max_tokens") or request.body.get("max_completion_tokens")
    pieces = tokens_of(text)
    if limit is None or len(pieces) <= limit:
        return Reply(text)
    return Reply("".join(pieces[:limit]), finish_reason="length")
