"""What of an HTML page its reader sees, and which part of it the page is for."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

_DROPPED = frozenset({
    "script", "style", "nav", "footer", "template", "noscript", "svg", "iframe", "object", "canvas", "select",
    "textarea", "head", "audio", "video", "rp",
})  # fmt: skip
_FOOTERS = frozenset({"main", "article", "blockquote", "section", "aside", "dialog"})
_TEXT_INPUTS = frozenset({"", "text", "number", "email", "date", "tel", "url"})
_STRUCK = frozenset({"del", "s", "strike"})
_OPENERS = ("aria-expanded", "aria-controls", "data-toggle", "data-bs-toggle")
_HEADS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "legend"})
# Of the page's text, links apart, what its main part has at least; many a page calls a teaser its article.
_MAIN_SHARE = {"main": 0.2, "article": 0.5}
_SPACE = re.compile(r"\s+")


class Visibility:
    """Says of a page's elements whether a reader sees them."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._opened = {
            target
            for node in tree.css("[aria-controls], [data-bs-target], [data-target]")
            for name in ("aria-controls", "data-bs-target", "data-target")
            for target in (node.attributes.get(name) or "").replace("#", " ").split()
        }

    def is_hidden(self, node: LexborNode) -> bool:
        """Return whether an element is no part of what is read: invisible, or a control, or a way around the site.

        A panel that a button, a tab or a search opens is read, as its reader can.
        """
        tag, attributes = node.tag or "", node.attributes
        if tag in _DROPPED:
            return tag != "footer" or not _has_parent(node, _FOOTERS)
        if tag == "button":
            return not _is_opener(node)
        if tag == "dialog":
            return "open" not in attributes
        if attributes.get("role") == "navigation":
            return True
        style = (attributes.get("style") or "").replace(" ", "").lower()
        is_off = (
            "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or "display:none" in style
            or "visibility:hidden" in style
        )
        return is_off and not self._can_be_opened(node)

    def _can_be_opened(self, node: LexborNode) -> bool:
        attributes = node.attributes
        return (
            attributes.get("id") in self._opened
            or attributes.get("role") == "tabpanel"
            or attributes.get("hidden") == "until-found"
        )


def _is_opener(button: LexborNode) -> bool:
    """Return whether a button says what it opens, as those of questions and answers do."""
    return (
        any(name in button.attributes for name in _OPENERS)
        or button.attributes.get("role") == "tab"
        or _has_parent(button, _HEADS)
        or (button.text() or "").strip().endswith(("?", "？"))
    )


def _has_parent(node: LexborNode, tags: frozenset[str]) -> bool:
    parent = node.parent
    while parent is not None and parent.tag not in tags:
        parent = parent.parent
    return parent is not None


def is_struck(node: LexborNode) -> bool:
    """Return whether an element's text is struck through."""
    style = (node.attributes.get("style") or "").replace(" ", "").lower()
    return node.tag in _STRUCK or "line-through" in style


def input_value(node: LexborNode) -> str:
    """Return what a field of a form holds for its reader."""
    is_text = (node.attributes.get("type") or "").lower() in _TEXT_INPUTS
    return (node.attributes.get("value") or "") if is_text else ""


def find_main(tree: LexborHTMLParser, visibility: Visibility) -> set[int]:
    """Return the elements (by `mem_id`) that hold what the page is for: `<main>`, or its articles; or none."""
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
