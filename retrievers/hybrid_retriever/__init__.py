"""Vector and keyword search over any LangChain `PGVectorStore`, and its BM25 rerank.

Not the mode `hybrid`, which joins two walks over the knowledge graph (`retrievers/modes.py`).
"""
