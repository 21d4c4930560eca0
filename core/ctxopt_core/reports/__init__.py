"""The report of a fit and its stored form."""
