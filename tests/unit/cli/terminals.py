"""A terminal to run commands on: a real one, as far as they can tell."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

import pytest

from predicast.cli import main


def on_a_terminal(command: Sequence[str], *, term: str = "dumb") -> tuple[int, str]:
    """Run with output and errors on one terminal; return the exit code and what it showed."""
    parent, child = pty.openpty()
    environment = os.environ | {"TERM": term, "COLUMNS": "80"}
    process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child, env=environment)
    os.close(child)
    shown = _shown_until_closed(parent)
    return process.wait(), shown


def here_on_a_terminal(
    arguments: Sequence[str], *, given: BinaryIO | None = None, piped_to: BinaryIO | None = None
) -> str:
    """Run ``predicast`` in this process, and return what it showed: most of a short command's
    time goes into starting Python.

    Its standard input and output may be files, as where a shell has a pipe.
    """
    parent, child = pty.openpty()
    with ThreadPoolExecutor(1) as reading, pytest.MonkeyPatch.context() as patch:
        shown = reading.submit(_shown_until_closed, parent)
        with os.fdopen(child, "wb", buffering=0) as terminal:
            patch.setenv("TERM", "dumb")
            patch.setenv("COLUMNS", "80")
            patch.setattr(sys, "argv", ["predicast", *arguments])
            patch.setattr(sys, "stdin", _text(given or terminal, "r"))
            patch.setattr(sys, "stdout", _text(piped_to or terminal, "w"))
            patch.setattr(sys, "stderr", _text(terminal, "w"))
            try:
                main()
            except SystemExit:
                pass
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
        return shown.result()


def _text(file: BinaryIO, mode: str) -> object:
    """Another stream on the same file, which does not close it."""
    return os.fdopen(file.fileno(), mode, encoding="utf-8", closefd=False)


def _shown_until_closed(parent: int) -> str:
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
    return shown.decode().replace("\r\n", "\n")
