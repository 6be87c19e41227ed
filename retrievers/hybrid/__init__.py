"""Vector and keyword search over any LangChain `PGVectorStore`, and its BM25 rerank (seeds 000 and 003)."""
