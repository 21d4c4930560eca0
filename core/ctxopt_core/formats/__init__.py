"""Requests as JSON: OpenAI, Anthropic, the Responses API, request files."""
