"""The input budget, its shares and their allocation."""
