"""Getting the compiled visits without anybody waiting for them; see the module of the same name
that does so for the default matcher.
"""

from __future__ import annotations

from typing import Final

from predicast.matching.columnar.warming_up import WarmUp
from predicast.matching.region_join import loops

_here: Final = WarmUp("predicast.matching.region_join.kernels.entries", loops)
begin: Final = _here.begin
wait: Final = _here.wait
