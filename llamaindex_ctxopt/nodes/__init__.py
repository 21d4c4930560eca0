"""Nodes as documents: rendered, packed and chosen."""
