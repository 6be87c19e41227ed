"""Vector and keyword search over any LangChain `PGVectorStore`, and its BM25 rerank (seeds 000 and 003).

Not the mode `hybrid`, which joins two walks over the knowledge graph (`retrievers/modes.py`).
"""
