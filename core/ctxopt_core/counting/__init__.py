"""Token counters and the encodings they use."""
