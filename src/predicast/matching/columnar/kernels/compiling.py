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
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numba
import numba.core.config
from llvmlite.binding import get_host_cpu_features
from numba import types

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.core.config
_COLUMNAR: Final = Path(__file__).parent.parent
# Whatever a kernel is made of; numba itself notices a change of the entry's own file only.
_SOURCES: Final = (
    *("kernels/*.py", "layout/image.py", "patterns/index_arrays.py", "compile/word_table.py"),
    "reserved.py",
)


def _digest() -> str:
    found = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(_COLUMNAR.glob(pattern)):
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
_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy", "no_cfunc_wrapper": True}
_DIGEST: Final = _digest()

# Called by other kernels only: what calling them from Python takes need not be compiled, nor kept.
kernel: Callable[[F], F] = _njit(nogil=True, no_cpython_wrapper=True, **_OPTIONS)
# The same, written out wherever it is called: for the innermost loops, where handing over some
# arrays would take longer than what is done with them.
inlined: Callable[[F], F] = _njit(nogil=True, inline="always", **_OPTIONS)


class Entry(NamedTuple):
    """A kernel that is called from Python, and the types of arguments that it is compiled for."""

    dispatcher: Any
    signatures: tuple[tuple[Any, ...], ...]


ENTRIES: Final[list[Entry]] = []


def entry(*signatures: tuple[Any, ...], nogil: bool = True) -> Callable[[F], F]:
    """Mark a kernel that is called from Python, and say for which types.

    Other threads may run meanwhile: no kernel touches a Python object. For what takes a few
    microseconds ``nogil`` is no gain: another thread that is let in keeps the interpreter for
    longer.
    """

    def decorated(function: F) -> F:
        function.__qualname__ = f"{function.__qualname__}-{_DIGEST}"  # under which it is kept
        try:
            made = _njit(cache=True, nogil=nogil, **_OPTIONS)(function)
        except RuntimeError:  # there is no place to keep it
            made = _njit(nogil=nogil, **_OPTIONS)(function)
        ENTRIES.append(Entry(made, signatures))
        return made  # type: ignore[no-any-return]

    return decorated


def array(item: Any, dimensions: int = 1, *, written: bool = False) -> Any:
    """The type of an array without gaps; unless it is written to, of one that cannot be, too."""
    return types.Array(item, dimensions, "C", readonly=not written)
