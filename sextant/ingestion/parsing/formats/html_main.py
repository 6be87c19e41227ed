"""Which part of an HTML page it is for; of what stands outside only sentences are read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sextant.ingestion.parsing.formats.html_tables import Visibility

# Of the page's text, links apart, what its main part has at least; many a page calls a teaser its article.
_MAIN_SHARE = {"main": 0.2, "article": 0.5}
_SPACE = re.compile(r"\s+")
# How a page says of itself that it is one article (Open Graph, schema.org).
_ARTICLE = "meta[property='og:type'][content='article' i], [itemtype$='Article'], [itemtype$='BlogPosting']"
_LINKED_DATA = re.compile(r"\"@type\"\s*:\s*\[?\s*\"(?:\w*Article|BlogPosting)\"")
_PROSE = 60  # letters of a text that is no label, title or button
_LEAST_PROSE = 400  # letters, of an article
_ARTICLE_SHARE = 0.85  # of the page's prose


def find_main(tree: LexborHTMLParser, visibility: Visibility) -> set[int]:
    """Return the elements (by `mem_id`) that hold what the page is for, or none.

    Of a page that says that it is one article, what holds nearly all of its prose; of others `<main>`, or the articles.
    """
    if _is_article(tree) and (part := _part_with_prose(tree, visibility)):
        return {part.mem_id}
    found, body = tree.css("main, [role=main]"), tree.body
    share = _MAIN_SHARE["main" if found else "article"]
    found = found or tree.css("article")
    if not found or body is None:
        return set()
    marked = {node.mem_id for node in found}
    inside = whole = 0
    todo = [(body, False)]
    while todo:
        node, is_inside = todo.pop()
        if node.is_text_node:
            length = len(_SPACE.sub("", node.text_content or ""))
            whole, inside = whole + length, inside + length * is_inside
        elif node.tag != "a" and not visibility.is_hidden(node):
            is_inside = is_inside or node.mem_id in marked
            todo.extend((child, is_inside) for child in node.iter(include_text=True))
    return marked if inside >= whole * share else set()


def _is_article(tree: LexborHTMLParser) -> bool:
    if tree.css_first(_ARTICLE) is not None:
        return True
    scripts = tree.css("script[type='application/ld+json']")
    return any(_LINKED_DATA.search(script.text() or "") for script in scripts)


def _part_with_prose(tree: LexborHTMLParser, visibility: Visibility) -> LexborNode | None:
    """Return the smallest element that holds nearly all prose of a page; None where that is the page, or little."""
    body = part = tree.body
    if body is None or part is None:
        return None
    prose = _measure_prose(body, visibility)
    least = prose[part.mem_id] * _ARTICLE_SHARE
    if prose[part.mem_id] < _LEAST_PROSE:
        return None
    while True:
        parts = (child for child in part.iter() if prose.get(child.mem_id, 0) >= least)
        child = next(parts, None)
        if child is None or child.tag in {"p", "table", "ul", "ol"}:
            return part if part.mem_id != body.mem_id else None
        part = child


def _measure_prose(body: LexborNode, visibility: Visibility) -> Mapping[int, int]:
    """Return for each element (by `mem_id`) how many letters of prose it holds, links apart."""
    prose = dict[int, int]()
    todo = [(body, False)]
    while todo:
        node, is_measured = todo.pop()
        if is_measured:
            prose[node.mem_id] = sum(
                _prose_of(child, prose) for child in node.iter(include_text=True)
            )
        elif node.tag != "a" and not visibility.is_hidden(node):
            todo.append((node, True))
            todo.extend((child, False) for child in node.iter())
    return prose


def _prose_of(node: LexborNode, measured: Mapping[int, int]) -> int:
    if not node.is_text_node:
        return measured.get(node.mem_id, 0)
    letters = len(_SPACE.sub("", node.text_content or ""))
    return letters if letters >= _PROSE else 0
