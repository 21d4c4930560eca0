"""The name of the custom event that carries a report."""

from __future__ import annotations

REPORT_EVENT = "ctxopt_report"
