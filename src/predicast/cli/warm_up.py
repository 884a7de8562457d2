"""``predicast warm-up``: compile what matching needs, when an image or an environment is built."""

from __future__ import annotations

import time

from predicast.cli.terminal import notices, output


def warm_up() -> None:
    """Compile what matching needs, so that every process on this machine is fast at once.

    It takes some seconds the first time and less than one after that. What is compiled is kept
    beside the installed package or, where that cannot be written to, in the user's cache directory;
    NUMBA_CACHE_DIR names another one.
    """
    from predicast.engine import Engine

    console = notices()
    start = time.monotonic()
    if console.is_terminal and not console.is_dumb_terminal:
        with console.status("Compiling"):
            Engine().warm_up()
    else:
        Engine().warm_up()
    output().print(f"Matching is compiled ({time.monotonic() - start:.1f} s).")
