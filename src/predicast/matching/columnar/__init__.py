"""The production matcher: segments of rank codes, scanned by compiled kernels."""

from predicast.matching.columnar.matcher import Columnar

__all__ = ["Columnar"]
