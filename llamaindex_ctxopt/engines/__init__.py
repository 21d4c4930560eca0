"""Query and chat engines: one budget for their documents, history and prompts."""
