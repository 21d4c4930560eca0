"""What a LlamaIndex model says of itself: window, tokenizer, tools."""
