"""`sweep`: the same request under many settings."""
