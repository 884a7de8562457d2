"""``predicast subscriptions``: a table of subscriptions, changed and looked at."""

from predicast.cli.subscriptions.commands import subscriptions

__all__ = ["subscriptions"]
