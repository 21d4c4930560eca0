"""Readers of what is pasted: JSON of any known shape, framework dumps, transcripts, documents."""
