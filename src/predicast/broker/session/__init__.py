"""The broker's half of a WebSocket connection: a session without a network, and its shell."""

from predicast.broker.session.session import Session
from predicast.broker.session.terms import ConnectionLimits, Permissions
from predicast.broker.session.websocket import serve_websocket

__all__ = ["ConnectionLimits", "Permissions", "Session", "serve_websocket"]
