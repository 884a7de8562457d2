"""The broker: clients over HTTP and WebSocket, events and subscriptions that outlive a crash.

``predicast serve`` is the way in for people. In a program, a ``Broker`` is given a backend, which
keeps what must not be lost, and hands out a ``Tenant`` for everything that one tenant may do.
"""

from predicast.broker.backend import Backend, Consumer, Start
from predicast.broker.broker import Broker
from predicast.broker.tenant import Recipient, Tenant

__all__ = ["Backend", "Broker", "Consumer", "Recipient", "Start", "Tenant"]
