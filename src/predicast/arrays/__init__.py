"""What NumPy lacks, for all who work on arrays: groups side by side, strings as bytes, a type."""

from predicast.arrays.csr import Array, expand, offsets, offsets_of, places_of_each
from predicast.arrays.words import Words, windows

__all__ = ["Array", "Words", "expand", "offsets", "offsets_of", "places_of_each", "windows"]
