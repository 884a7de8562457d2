"""What a result was measured on; a time means nothing without it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import msgspec

from predicast.__about__ import __version__


class Machine(msgspec.Struct, frozen=True):
    """The processor, the memory, and the versions that matter."""

    processor: str
    cores: int
    memory_gib: float | None
    system: str
    python: str
    predicast: str

    def __str__(self) -> str:
        memory = f", {self.memory_gib:.0f} GiB" if self.memory_gib else ""
        return f"{self.processor}, {self.cores} cores{memory}, {self.system}, {self.python}"


def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_gib=_memory_gib(),
        system=f"{platform.system()} {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        predicast=__version__,
    )


def _processor() -> str:
    # platform.processor() is empty on most Linux systems.
    details = Path("/proc/cpuinfo")
    if details.exists():
        for line in details.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine() or "unknown"


def _memory_gib() -> float | None:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        return None
    return round(size / 2**30, 1)
