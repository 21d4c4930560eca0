"""Relevance scores: BM25, embeddings, and the protocol of a scorer."""
