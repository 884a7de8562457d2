"""Getting the compiled loops without anybody waiting for them.

When the first matcher is made, a thread is started. It imports numba and loads the kernels that
are kept on disk, which takes half a second. If they are not all there, it has another process
compile them (``compiling_process.py``): in a thread of this one, the compiler would share the
interpreter with all calls. Each takes the place of the plain loop (``loops.py``) as soon as it is
there, and when all are the thread ends.

Where no process can be started, or nothing can be kept on disk, the thread compiles by itself.
What fails is tried a few times and then given up: the plain loops go on answering.

A fork would leave the thread behind in the middle of something, with locks that nobody opens again,
so a fork and the end of the interpreter wait for its *turn* to be over: importing numba, or loading
one kernel, some tenths of a second. A forked process begins anew when it is asked something.
``NUMBA_DISABLE_JIT=1`` keeps to the plain loops.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from predicast.errors import NotCompiledError
from predicast.matching.columnar import loops
from predicast.matching.columnar.compiling_process import READY

_ATTEMPTS: Final = 3
_PATIENCE_S: Final = 900  # for another process, which may wait for others that compile

_log = logging.getLogger("predicast")

_CHILD: Final = """
import json, sys
sys.path[:], directory, entries = json.loads(sys.argv[1])
from predicast.matching.columnar.compiling_process import compile_all
compile_all(directory, entries)
"""


class WarmUp:
    """The thread of this process for the kernels of one matcher, and what came of it.

    ``entries`` names the module of the compiled loops; ``loops`` is the one that has them in use,
    all together or ``one_by_one``: then its loops are a tuple whose fields are named as kernels.
    """

    def __init__(self, entries: str, loops: ModuleType, *, one_by_one: bool = False) -> None:
        self._entries = entries
        self._loops: Any = loops  # what a module has, no type tells
        self._one_by_one = one_by_one
        self._is_done = False
        self._starting = threading.Lock()
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_wanted = True
        self._is_watched = False
        self.failure: str | None = None

    def begin(self) -> None:
        """Start the thread, unless it was started before."""
        if self._is_begun() or self._is_done or _is_switched_off():
            return
        with self._starting:
            if self._is_begun():  # by another thread meanwhile
                return
            if not self._is_watched:
                self._watch()
            thread = threading.Thread(target=self._run, name="predicast-warm-up", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # there are too many, or the interpreter is about to end
                return
            self._thread = thread

    def _is_begun(self) -> bool:
        return self._thread is not None

    def wait(self) -> None:
        """Come back when the compiled loops are in use."""
        if self.failure is not None:
            self._thread, self.failure = None, None  # whoever waits wants it tried again
        self.begin()
        if self._thread is not None:
            self._thread.join()
        if self.failure is not None:
            raise NotCompiledError(f"the loops of matching could not be compiled: {self.failure}")

    # Forks, and the end.

    def _watch(self) -> None:
        self._is_watched = True
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._wait_for_turn,
                after_in_parent=self._end_turn,
                after_in_child=self._begin_anew,
            )

    def _wait_for_turn(self) -> None:
        self._turn.acquire()

    def _end_turn(self) -> None:
        self._turn.release()

    def _begin_anew(self) -> None:
        self._starting, self._turn = threading.Lock(), threading.Lock()
        self._thread = None

    def _end(self) -> None:
        """Let the thread finish its turn, and give it no other."""
        self._is_wanted = False
        self._turn.acquire(timeout=10)

    # What the thread does.

    def _run(self) -> None:
        why = "no reason was given"
        for _ in range(_ATTEMPTS):
            try:
                self._get_ready()
            except Exception as error:  # noqa: BLE001  # whatever it is, the plain loops answer
                why = f"{type(error).__name__}: {error}"
            else:
                return
            if not self._is_wanted:
                return
        self.failure = why
        _log.warning("Matching stays slow, since its loops could not be compiled: %s", why)

    def _get_ready(self) -> None:
        with self._turn:
            from predicast.matching.columnar.kernels.compiling import NotWantedError

            entries = import_module(self._entries)
        kernels, use = entries.KERNELS, partial(self._use, entries.COMPILED)
        make_ready = partial(kernels.make_ready, turn=lambda: self._turn, is_ready=use)

        def load(name: str) -> None:
            with suppress(NotWantedError), self._turn:
                kernels.load(name)
                use(name)

        try:
            make_ready(lambda: False)
        except NotWantedError:
            directory = kernels.cache_directory()
            if directory is not None and _can_start_python():
                _compile_elsewhere(directory, self._entries, load)
            make_ready(lambda: self._is_wanted)
        self._loops.now, self._is_done = entries.COMPILED, True

    def _use(self, compiled: Any, name: str) -> None:
        if self._one_by_one:
            self._loops.now = self._loops.now._replace(**{name: getattr(compiled, name)})


def _is_switched_off() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}


def _can_start_python() -> bool:
    """Whether there is a Python to start: an application may contain one and be none."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def _compile_elsewhere(directory: Path, entries: str, is_ready: Callable[[str], None]) -> None:
    """Have another process compile whatever is not kept yet, and wait for it.

    ``is_ready`` is told the name of each that is.
    """
    arguments = json.dumps([sys.path, str(directory), entries])
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:  # a sandbox, perhaps; this process can do it too
        return
    patience = threading.Timer(_PATIENCE_S, process.kill)
    patience.daemon = True
    said = "no reason given"
    with process:  # at the end of which it is waited for, whatever goes wrong
        patience.start()
        assert process.stdout is not None
        for line in map(str.strip, process.stdout):
            if line.startswith(READY):
                is_ready(line.removeprefix(READY))
            else:
                said = line or said
    patience.cancel()
    if process.returncode < 0:  # killed, for lack of memory perhaps: not to be risked here
        raise NotCompiledError(f"the process that compiles was killed ({-process.returncode})")
    if process.returncode:
        _log.info("The process that compiles failed (%s); compiling here", said)


_here: Final = WarmUp("predicast.matching.columnar.kernels.entries", loops, one_by_one=True)
begin: Final = _here.begin
wait: Final = _here.wait
