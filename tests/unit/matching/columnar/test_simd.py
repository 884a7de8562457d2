"""Vectors: what the kernels write, and what they are compiled to."""

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from predicast.matching.columnar.kernels import simd
from predicast.matching.columnar.reserved import LANES

EMPTY = -7


@njit
def put_keys(held: Any, slot: int, mask: Any, keys: Any, count: int) -> Any:
    """What is called by kernels only cannot be called from here."""
    return simd.put_keys(held, slot, mask, keys, count)


@given(st.integers(0, 2**LANES - 1), st.integers(0, 5))
def test_keys_whose_bit_is_set_are_written_side_by_side(bits: int, before: int) -> None:
    held = np.arange(1_000, 1_000 + 3 * LANES, dtype=np.int32)
    keys = np.full(before + 2 * LANES, EMPTY, np.int32)
    end = put_keys(held, LANES, np.uint64(bits), keys, before)
    chosen = [int(held[LANES + place]) for place in range(LANES) if bits >> place & 1]
    assert keys[before:end].tolist() == chosen
    assert (keys[:before] == EMPTY).all()
    assert (keys[before + LANES :] == EMPTY).all()


_COMPILE = """
from numba import njit, types
from predicast.matching.columnar.kernels import simd
put = njit(lambda held, slot, mask, keys, count: simd.put_keys(held, slot, mask, keys, count))
numbers = types.Array(types.int32, 1, "C")
put.compile((numbers, types.int64, types.uint64, numbers, types.int64))
print(*put.inspect_asm().values())
"""


@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="of x86 processors")
@pytest.mark.parametrize(
    ("features", "compressing"), [("+avx2,+avx512f,+avx512bw,+popcnt", True), ("+avx2", False)]
)
def test_kernels_are_compiled_for_the_processor_that_is_asked_for(
    features: str, compressing: bool, tmp_path: Path
) -> None:
    """And never store what they compress: that instruction is slow on some processors."""
    asked = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": features}
    run = subprocess.run(
        [sys.executable, "-c", _COMPILE],
        env=os.environ | asked | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split("#")[0] for line in run.stdout.splitlines() if "compress" in line]
    assert bool(lines) == compressing
    assert not any("(" in line for line in lines)  # which is how an address is written
