"""The compiled visits: loaded where they are kept already, or compiled now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from predicast.arrays import Array
from predicast.matching.region_join.kernels.compiling import REGION_JOIN
from predicast.matching.region_join.kernels.visits import count_visits, meet_visits
from predicast.matching.region_join.loops import Loops

if TYPE_CHECKING:
    from predicast.matching.region_join.cells import Visits

KERNELS: Final = REGION_JOIN


def _meet(visits: Visits, begin: int, most: int) -> tuple[Array, Array, int]:
    mine, others, after = meet_visits(*visits, begin, most)
    return mine, others, after


def _count(visits: Visits) -> int:
    return int(count_visits(*visits))


COMPILED: Final = Loops(_meet, _count)
