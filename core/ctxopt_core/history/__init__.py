"""How a conversation is trimmed: policy, draft, pruning of tool results, placeholder."""
