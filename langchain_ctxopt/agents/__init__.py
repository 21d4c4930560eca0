"""Agents: the middleware, the hook of prebuilt agents, and the tool that reads omitted content. Needs the extra `agents`."""
