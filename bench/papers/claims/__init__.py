"""The papers' claims, each judged by a stated rule from what was measured."""

from bench.papers.claims.judges import verdicts

__all__ = ["verdicts"]
