"""The kernels of region joins, which are loaded or compiled together."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from predicast.matching.columnar.kernels.compiling import KernelSet

REGION_JOIN: Final = KernelSet(sorted(Path(__file__).parent.glob("*.py")))
entry: Final = REGION_JOIN.entry
