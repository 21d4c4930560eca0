"""Which retrieved documents are kept, in which order, and which passages of the others."""
