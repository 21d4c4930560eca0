"""The history strategies, one file for each algorithm, and the protocol that they share."""
