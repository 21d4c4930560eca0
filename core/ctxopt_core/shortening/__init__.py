"""One string or one message cut to a token budget."""
