"""Sigma rules as expressions."""

from bench.real.sigma.rules import TEXT, rule_expression

__all__ = ["TEXT", "rule_expression"]
