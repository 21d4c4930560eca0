"""The playground: a request is pasted, settings are moved, and every strategy shows what it makes of it."""
