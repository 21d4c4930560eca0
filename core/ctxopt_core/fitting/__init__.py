"""Fitting one request: measure, allocate, cut, recount, report."""
