"""The messages of a conversation and their parts, and the placeholder for what was left out."""
