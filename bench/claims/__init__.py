"""The papers' claims, each judged by a stated rule from what was measured."""

from bench.claims.judges import verdicts
from bench.claims.verdict import Finding, Verdict

__all__ = ["Finding", "Verdict", "verdicts"]
