"""Passages about a namesake: of another body's Maria Santos than the one that is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import read_document_texts, read_full_text
from sextant.text.characters import find_whole, normalise
from sextant.text.quantities import SURNAMES

# Somebody by name and whose they are: "Maria Santos of Eastbank", "Eastbank's Maria Santos", 东岸银行的王芳.
_NAME = r"[A-Z][\w'’-]+(?: (?:[A-Z]\.|[A-Z][\w-]+))+"
_BODY = r"[A-Z][\w&-]*(?: (?:&|[A-Z][\w&-]*))*"
_NAMED_BODY = re.compile(
    rf"\b(?P<name>{_NAME}),? ?(?:\b(?:of|at|from|with)(?: the)? |[,(] ?)(?P<body>{_BODY})"
    rf"|\b(?P<before>{_BODY})['’]s? (?P<named>{_NAME})"
    rf"|(?P<han_body>[\u4e00-\u9fff]{{2,12}}?)的(?P<han>[{''.join(sorted(SURNAMES))}][\u4e00-\u9fff]{{1,2}})"
)


def find_namesakes(question: str, passages: Sequence[RetrievedItem]) -> set[int]:
    """Return the places of passages about a namesake of somebody whom the question names with their body.

    They have the name and not the body, nor has their document, while another passage has both.
    """
    named = list(_NAMED_BODY.finditer(question))
    if not named:
        return set()
    plain = [read_full_text(passage) for passage in passages]
    documents = read_document_texts(passages)
    others = set[int]()
    for found in named:
        body = normalise(found["body"] or found["before"] or found["han_body"])
        name = normalise(found["name"] or found["named"] or found["han"])
        names = [name, name[:2]] if found["han"] else [name]  # 王芳 of 王芳住
        name = next((one for one in names if _has_both(plain, one, body)), "")  # "" stands nowhere
        others |= {
            index
            for index, (text, document) in enumerate(zip(plain, documents, strict=True))
            if find_whole(text, name) and body not in document
        }
    return others


def _has_both(texts: Sequence[str], name: str, body: str) -> bool:
    return any(body in text and find_whole(text, name) for text in texts)
