"""Chat, embedding and reranking models behind small protocols, and the offline ones that need no key."""
