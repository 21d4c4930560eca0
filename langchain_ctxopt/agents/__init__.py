"""Agents: middleware, the hook of prebuilt agents, the tool that reads omitted content. Needs the extra `agents`."""
