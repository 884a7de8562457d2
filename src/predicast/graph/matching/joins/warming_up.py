"""Getting the compiled search without anybody waiting for it; see the module of the same name that
does so for flat events.
"""

from __future__ import annotations

from typing import Final

from predicast.graph.matching.joins import loops
from predicast.matching.columnar.warming_up import WarmUp

_here: Final = WarmUp("predicast.graph.matching.joins.kernels.entries", loops)
begin: Final = _here.begin
wait: Final = _here.wait
