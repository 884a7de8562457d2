"""Brokers that tests start as processes of their own."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

COMMAND = (sys.executable, "-m", "predicast")


class Served(NamedTuple):
    process: "subprocess.Popen[str]"
    url: str


@contextmanager
def serving(*arguments: str) -> Iterator[Served]:
    """A broker on any free port, until the block ends."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--no-console", *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        found = re.search(r"listens on (\S+),", first)
        assert found is not None, first + process.stderr.read()
        yield Served(process, found[1])
    finally:
        process.kill()
        process.communicate()
