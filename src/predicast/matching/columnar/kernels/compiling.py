"""How kernels are compiled: for types that are known beforehand, and once per machine.

An *entry* is a kernel that the rest of the package calls. It is compiled for the types that it says
and for no others: never in the middle of a call. numba keeps what it compiles beside the module, or
in the user's cache directory where that cannot be written. A worker may have neither (a read-only
image, no home directory); it then shares a directory under the system's temporary one with the
other processes of its user.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numba
import numba.core.config
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import event
from numba.core.types import unliteral

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.core.config
_COLUMNAR: Final = Path(__file__).parent.parent
# Whatever a kernel is made of; numba itself notices a change of the entry's own file only.
_SOURCES: Final = (
    *("kernels/*.py", "layout/image.py", "layout/question.py", "patterns/index_arrays.py"),
    *("compile/word_table.py", "reserved.py"),
)


def _digest(sources: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in sources:
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _is_writable(directory: Path) -> bool:
    while not directory.exists():
        directory = directory.parent
    return os.access(directory, os.W_OK)


def _choose_cache_directory() -> None:
    """See to it that there is one; an explicit NUMBA_CACHE_DIR stays."""
    beside = Path(__file__).parent / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~").expanduser() / ".cache") / "numba"
    if _config.CACHE_DIR or _is_writable(beside) or _is_writable(home):
        return
    user = os.getuid() if hasattr(os, "getuid") else "user"
    _config.CACHE_DIR = str(Path(tempfile.gettempdir()) / f"predicast-kernels-{user}")


_choose_cache_directory()


def features() -> list[str]:
    """What the processor has that kernels are compiled for (``+avx2``), which need not be ours."""
    stated: str | None = _config.CPU_FEATURES  # NUMBA_CPU_FEATURES
    return (get_host_cpu_features().flatten() if stated is None else stated).split(",")


_njit: Any = numba.njit  # some of its options are missing from its type
_plain: Any = unliteral  # as its type, too, is
_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy", "no_cfunc_wrapper": True}


def _called(**options: Any) -> Callable[[F], F]:
    """For kernels that are called by other kernels only.

    What calling them from Python takes need not be compiled, nor kept. A number that stands in the
    call is of the same type as any other: else numba compiles one more for each.
    """

    def decorated(function: F) -> F:
        made = _njit(nogil=True, no_cpython_wrapper=True, **options, **_OPTIONS)(function)
        typed = made.get_call_template
        made.get_call_template = lambda args, kws: typed([_plain(each) for each in args], kws)
        return made  # type: ignore[no-any-return]

    return decorated


kernel: Callable[[F], F] = _called()
# The same, written out wherever it is called: for the innermost loops, where handing over some
# arrays would take longer than what is done with them.
inlined: Callable[[F], F] = _njit(nogil=True, inline="always", **_OPTIONS)
# The same later, by LLVM: it knows what need not be counted when an array is handed over.
merged: Callable[[F], F] = _called(forceinline=True)


class NotWantedError(Exception):
    """Something would have to be compiled, and must not be."""


class _Guard(event.Listener):
    """Ends a compilation of this thread, at its next step, when it is not wanted."""

    def __init__(self, is_wanted: Callable[[], bool]) -> None:
        self._is_wanted = is_wanted
        self._thread = threading.get_ident()

    def on_start(self, event: Any) -> None:
        if threading.get_ident() == self._thread and not self._is_wanted():
            raise NotWantedError

    def on_end(self, event: Any) -> None:
        """Nothing: what has ended was wanted."""


class Entry(NamedTuple):
    """A kernel that is called from Python, and the types of arguments that it is compiled for."""

    dispatcher: Any
    signatures: tuple[tuple[Any, ...], ...]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.dispatcher.__name__  # type: ignore[no-any-return]

    def make_ready(self, guard: _Guard) -> None:
        """Load or compile it, unless it is; from then on it is compiled for nothing else."""
        if len(self.dispatcher.overloads) == len(self.signatures):
            return
        with ExitStack() as guarded:
            for kind in ("numba:compile", "numba:run_pass"):
                guarded.enter_context(event.install_listener(kind, guard))
            for signature in self.signatures:
                self.dispatcher.compile(signature)
        self.dispatcher.disable_compile()


class KernelSet:
    """The kernels of one matcher, which are loaded or compiled together."""

    def __init__(self, sources: Iterable[Path]) -> None:
        self.entries: list[Entry] = []
        self._digest = _digest(sources)

    def entry(self, *signatures: tuple[Any, ...], nogil: bool = True) -> Callable[[F], F]:
        """Mark a kernel that is called from Python, and say for which types.

        Other threads may run meanwhile: no kernel touches a Python object. For what takes a few
        microseconds ``nogil`` is no gain: another thread that is let in keeps the interpreter for
        longer.
        """

        def decorated(function: F) -> F:
            function.__qualname__ = f"{function.__qualname__}-{self._digest}"  # it is kept as that
            try:
                made = _njit(cache=True, nogil=nogil, **_OPTIONS)(function)
            except RuntimeError:  # there is no place to keep it
                made = _njit(nogil=nogil, **_OPTIONS)(function)
            self.entries.append(Entry(made, signatures))
            return made  # type: ignore[no-any-return]

        return decorated

    def put_in_order(self, names: Sequence[str]) -> None:
        """Have them loaded or compiled in the order of these names, which all of them are among."""
        self.entries.sort(key=lambda entry: names.index(entry.name))

    def make_ready(
        self,
        is_wanted: Callable[[], bool],
        turn: Callable[[], AbstractContextManager[Any]],
        is_ready: Callable[[str], object],
    ) -> None:
        """See to it that each entry can be called; what is not kept is compiled if that is wanted.

        Each is loaded or compiled inside a ``turn``: between two of them others may have theirs.
        ``is_ready`` is told the name of each that can be called.
        """
        for each in self.entries:
            with turn():
                each.make_ready(_Guard(is_wanted))
            is_ready(each.name)

    def load(self, name: str) -> None:
        """See to it that the entry with this name can be called, if it is kept."""
        for each in self.entries:
            if each.name == name:
                each.make_ready(_Guard(lambda: False))

    def names(self) -> frozenset[str]:
        """The qualified names of the entries."""
        return frozenset(each.dispatcher.__qualname__ for each in self.entries)

    def compiled_here(self) -> list[str]:
        """The entries that this process did not find anywhere."""
        return [each.name for each in self.entries if each.dispatcher.stats.cache_misses]

    def cache_directory(self) -> Path | None:
        """Where compiled kernels are kept, if anywhere."""
        path = self.entries[0].dispatcher.stats.cache_path
        return None if path is None else Path(path)


COLUMNAR: Final = KernelSet(
    path for pattern in _SOURCES for path in sorted(_COLUMNAR.glob(pattern))
)
entry: Final = COLUMNAR.entry


def array(item: Any, dimensions: int = 1, *, written: bool = False) -> Any:
    """The type of an array without gaps; unless it is written to, of one that cannot be, too."""
    return types.Array(item, dimensions, "C", readonly=not written)
