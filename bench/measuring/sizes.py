"""``Size``: a benchmark comes in two sizes."""

from __future__ import annotations

import enum


class Size(enum.StrEnum):
    """How large the workloads are: for a minute's look, or as in the papers."""

    SMALL = "small"
    FULL = "full"
