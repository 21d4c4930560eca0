"""Sentences, boundaries, languages and identifiers of strings; nothing here knows tokens."""
