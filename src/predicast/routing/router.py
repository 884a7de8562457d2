"""``Router``: a broker without its network, clock and disk.

Messages and the time go in; messages to send come out, each with its interface, and the time of the
next timer. Time is in seconds, by whatever clock never goes back. Interfaces go by the name of the
neighbour at their other end.

What a step returns may only be sent after ``state()`` was made to last, if the broker is to survive
a crash: what has been acknowledged is in there.
"""

from __future__ import annotations

from predicast.routing.messages import Message, Send
from predicast.routing.options import RouterOptions
from predicast.routing.state import RouterState


class Router:
    """One broker of a tree: what its neighbours want, and what goes to whom."""

    def __init__(self, options: RouterOptions, state: RouterState | None = None) -> None:
        """A new broker, or one that goes on where ``state`` was taken."""
        raise NotImplementedError

    def start(self, now: float) -> list[Send]:
        """Greet the first candidate and, after a restart, all neighbours of before."""
        raise NotImplementedError

    def receive(self, message: Message, interface: str, now: float) -> list[Send]:
        """Take a message from a neighbour.

        A ``Hello`` from a neighbour that is not known makes an interface to it. Whatever is wrong
        with a message is told the neighbour in a ``Refuse``; nothing is raised.
        """
        raise NotImplementedError

    def detach(self, interface: str, now: float) -> list[Send]:
        """The connection is gone: the interface is Closed, without waiting for its time to live."""
        raise NotImplementedError

    def leave(self, now: float) -> list[Send]:
        """Say goodbye to all neighbours; ``is_gone`` once all of them have agreed."""
        raise NotImplementedError

    @property
    def is_gone(self) -> bool:
        """Whether a broker that leaves has nothing left to do."""
        raise NotImplementedError

    def next_timer(self) -> float | None:
        """When ``on_timer`` wants to be called."""
        raise NotImplementedError

    def on_timer(self, now: float) -> list[Send]:
        """Do what is due: repetitions, signs of life, interfaces that have gone silent."""
        raise NotImplementedError

    def state(self) -> RouterState:
        """All that has to survive a crash."""
        raise NotImplementedError

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done."""
        raise NotImplementedError
