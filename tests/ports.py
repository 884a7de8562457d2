"""Ports that are ours before anything listens there, and while a server is away."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """Ports of loopback that nobody else is given until the block ends.

    A socket that is bound and does not listen keeps others from being given its port, and lets a
    server have it that asks for it by number: servers say that they may reuse an address.
    """
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in held:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            each.bind(("127.0.0.1", 0))
        yield [each.getsockname()[1] for each in held]
