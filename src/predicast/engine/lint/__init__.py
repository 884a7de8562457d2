"""What looks wrong with subscriptions: findings, each with what would be right."""

from predicast.engine.lint.findings import Check, Finding, Severity

__all__ = ["Check", "Finding", "Severity"]
