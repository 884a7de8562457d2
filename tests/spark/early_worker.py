"""The Python that Spark starts in tests: it connects first and imports PySpark later.

A process that Spark does not fork from its daemon has ten seconds to connect back, which no setting
changes, and PySpark's own modules import everything before they do (decision 72). On a machine that
runs other tests as well that is too short, and a test that is slow is not one that has failed.
"""

from __future__ import annotations

import os
import runpy
import shlex
import socket
import struct
import sys
from pathlib import Path
from typing import Any


def write_launcher(path: Path) -> None:
    """Make a program for ``PYSPARK_PYTHON``; its daemon, and what that forks, it leaves alone."""
    python, here = shlex.quote(sys.executable), shlex.quote(str(Path(__file__).resolve()))
    path.write_text(
        f'#!/bin/sh\n[ -z "$PYTHON_WORKER_FACTORY_PORT" ] || exec {python} {here} "$@"\n'
        f'exec {python} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)


def main() -> None:
    """Connect, and go on as ``python -m module`` would."""
    there = socket.create_connection(("127.0.0.1", int(os.environ["PYTHON_WORKER_FACTORY_PORT"])))
    secret = os.environ["PYTHON_WORKER_FACTORY_SECRET"].encode()
    there.sendall(struct.pack("!i", len(secret)) + secret)
    assert there.recv(6, socket.MSG_WAITALL) == struct.pack("!i2s", 2, b"ok")

    def connected(*_: object) -> tuple[Any, socket.socket]:
        return there.makefile("rwb", 1 << 16), there

    sys.path[0] = ""
    from pyspark import util, worker_util

    for each in (util, worker_util):
        vars(each)["local_connect_and_auth"] = connected
    _, option, module, *rest = sys.argv
    assert option == "-m"
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
