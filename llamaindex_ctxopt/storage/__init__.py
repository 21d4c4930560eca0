"""Memories and plans as a workflow's context stores them."""
