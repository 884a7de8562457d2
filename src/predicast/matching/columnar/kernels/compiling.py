"""How kernels are compiled: once per machine, not once per process.

numba keeps compiled code beside the module, or in the user's cache directory where that cannot be
written. A worker may have neither (a read-only image, no home directory); it then shares a
directory under the system's temporary one with the other processes of its user.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numba.core.config
from llvmlite.binding import get_host_cpu_features

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.core.config
IS_COMPILED: Final = not _config.DISABLE_JIT  # NUMBA_DISABLE_JIT=1 runs the plain Python twins


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


# Other threads may run meanwhile: no kernel touches a Python object.
kernel: Callable[[F], F] = numba.njit(cache=True, nogil=True)  # type: ignore[assignment]

# For what takes a few microseconds: another thread that is let in keeps the interpreter for longer.
brief_kernel: Callable[[F], F] = numba.njit(cache=True)  # type: ignore[assignment]
