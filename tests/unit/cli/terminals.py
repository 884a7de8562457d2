"""A terminal to run commands on: a real one, as far as they can tell."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Sequence


def on_a_terminal(command: Sequence[str], *, term: str = "dumb") -> tuple[int, str]:
    """Run with output and errors on one terminal; return the exit code and what it showed."""
    parent, child = pty.openpty()
    environment = os.environ | {"TERM": term, "COLUMNS": "80"}
    process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child, env=environment)
    os.close(child)
    shown = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:  # which is how Linux says that nobody has the terminal open any more
            break
        if not piece:
            break
        shown += piece
    os.close(parent)
    return process.wait(), shown.decode().replace("\r\n", "\n")
