"""How often a broker looks for circles of dead objects: seldom, and not among what stays.

By Python's defaults every few hundred new objects are looked through, and all there are when they
have become a quarter more. A broker makes some objects for each event, keeps the latest events, and
holds millions of objects for subscriptions: with ten subscribers to an event, half of its time
went into finding nothing, in pauses that deliveries had to wait for.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# New objects before they are looked through, which takes a millisecond or two, and how many such
# rounds there are before older ones are, and before all are.
_SELDOM: Final = (20_000, 10, 50)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look seldom, while the block runs."""
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def leave_out_what_is_there() -> None:
    """Never look through what has been made so far: it is there to stay."""
    gc.collect()
    gc.freeze()
