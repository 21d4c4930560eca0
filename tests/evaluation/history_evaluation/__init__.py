"""What is kept of conversations and tool runs, by ours and by others, and how well the prompt cache works with it."""
