"""What NumPy lacks, for all who work on arrays: groups that stand side by side, and a type."""

from predicast.arrays.csr import Array, expand, offsets, offsets_of, places_of_each

__all__ = ["Array", "expand", "offsets", "offsets_of", "places_of_each"]
