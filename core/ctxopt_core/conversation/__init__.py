"""The counted conversation and its turns."""
