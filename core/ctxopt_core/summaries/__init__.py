"""Summaries of what is left out: the protocol, models as summarizers, the cache."""
