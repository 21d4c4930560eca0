"""LlamaIndex messages as the core sees them, and back."""
