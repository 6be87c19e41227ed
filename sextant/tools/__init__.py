"""The knowledge bases as LangChain tools, for agents of one's own (docs/agents.md)."""

from sextant.server.mcp.results import Answered, FoundPage, RelatedPassages
from sextant.tools.langchain import KnowledgeTools, create_tools, kb_ask, kb_related, kb_search

__all__ = [
    "Answered",
    "FoundPage",
    "KnowledgeTools",
    "RelatedPassages",
    "create_tools",
    "kb_ask",
    "kb_related",
    "kb_search",
]
