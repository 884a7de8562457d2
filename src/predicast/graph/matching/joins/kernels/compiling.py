"""The kernels of this matcher, which are loaded or compiled together."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from predicast.matching.columnar import kernels
from predicast.matching.columnar.kernels.compiling import KernelSet

_HERE: Final = Path(__file__).parent
# Whatever the kernels are made of.
_SOURCES: Final = (
    *sorted(_HERE.glob("*.py")),
    _HERE.parent / "trie.py",
    *(Path(kernels.__path__[0]) / name for name in ("buffers.py", "simd.py")),
)

JOINS: Final = KernelSet(_SOURCES)
entry: Final = JOINS.entry
