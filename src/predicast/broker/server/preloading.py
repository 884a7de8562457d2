"""Loading what the first requests take, before they come.

A broker that holds nothing has no use for a parser or a matcher when it starts, and importing them
takes a second, which the first subscriber and everybody else would wait for.
"""

from __future__ import annotations

import threading

from predicast.engine import Engine


def preload_in_background() -> None:
    """Begin, and come back at once; a request that comes sooner waits no longer than it would."""
    threading.Thread(target=preload, name="predicast-preload", daemon=True).start()


def preload() -> None:
    """Read a subscription and match an event, for the sake of what that imports."""
    engine = Engine()
    engine.subscribe("x < 1", id="x")
    engine.match_batch([{"x": 0}])
