"""Threads in the background: they end when nobody needs them, and before the interpreter does."""

import subprocess
import sys

from predicast.matching.columnar.background import Calls, started

_LEAVING = """
import atexit, threading, time
from predicast.matching.columnar.background import Calls, started

begun, left = threading.Event(), threading.Event()

def work():
    begun.set()
    left.wait()
    time.sleep(0.05)  # which is when the interpreter would be gone
    print("finished", flush=True)
    return True

started(work, Calls(), "working")
begun.wait()
atexit.register(left.set)
"""


def test_the_interpreter_ends_when_the_work_is_done() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _LEAVING], check=False, capture_output=True, text=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "finished\n", "")


def test_it_ends_when_nobody_needs_it() -> None:
    calls = Calls()
    for _ in range(3):
        calls.put(None)
    answers = iter([True, True, False])
    started(lambda: next(answers), calls, "working").join()
    assert list(answers) == []
    assert calls.qsize() == 1


def test_it_ends_when_it_is_not_called() -> None:
    thread = started(lambda: True, Calls(), "working")
    thread.join()
    assert not thread.is_alive()
