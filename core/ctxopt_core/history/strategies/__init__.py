"""One file for each history strategy."""
