"""Relevance scores: BM25, feedback, embeddings, and the protocol of a scorer."""
