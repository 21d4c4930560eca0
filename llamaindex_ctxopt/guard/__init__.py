"""A model whose requests are fitted before they are sent."""
