"""The broker over HTTP: publishing, subscriptions, deliveries, and what to look at when it runs."""

from predicast.broker.server.app import make_app

__all__ = ["make_app"]
