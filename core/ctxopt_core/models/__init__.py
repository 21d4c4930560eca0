"""Model ids, the catalog of context windows, prices and cost."""
