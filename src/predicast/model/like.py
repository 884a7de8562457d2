"""Whether a string is LIKE a pattern, in a time that no pattern can blow up.

A pattern is *segments* between the runs of ``%``, each of a fixed length: pieces of text at their
offsets, with ``_`` around them::

    a%bc_d%_e     segments   a        bc_d              _e
                  pieces     0: a     0: bc  3: d       1: e
                             at the   where it first    at the
                             start    fits              end

The first and the last are bound to the ends of the string; each of the others takes the first place
where it fits after the one before, which leaves the most room for the rest. A segment of one piece
is a search for that piece, which Python does in linear time. One of several pieces is tried
where its longest piece occurs; where that misleads again and again (``%xx…x_y`` in a text of
nothing but ``x``), all places are tested at once, one character of the segment after the other,
until none is left.

Cost: linear in string and pattern, but for segments of several pieces; for those at worst
their length times the string's, in passes over arrays at some 10¹⁰ characters a second. Rejected:
RE2, which needs as many steps for any long segment, at some 10⁸ a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.bounded_cache import remembered
from predicast.model.patterns import ANY_ONE, ANY_RUN, LikePattern

if TYPE_CHECKING:
    import numpy as np

_MAX_BYTES: Final = 64 << 20  # of tests that are remembered
_TEST_BYTES: Final = 1_000  # of a test of some pieces
_PIECE_BYTES: Final = 8  # more per character, however many pieces they make

# Occurrences of the longest piece that are tried one by one; ordinary strings have fewer.
_TRIES: Final = 16


class Segment(NamedTuple):
    """Pieces of text with their offsets, the length of the whole, and the longest piece."""

    pieces: tuple[tuple[int, str], ...]
    length: int
    longest: tuple[int, str]

    def fits(self, text: str, place: int) -> bool:
        """Whether it fits at a place, which is in the text."""
        return all(text.startswith(piece, place + offset) for offset, piece in self.pieces)

    def first_place(self, text: str, place: int, end: int) -> int:
        """Where it first fits in text[place:end], or -1."""
        last = end - self.length
        if not self.pieces or place > last:
            return place if place <= last else -1
        offset, longest = self.longest
        for _ in range(_TRIES):
            found = text.find(longest, place + offset, last + offset + len(longest))
            if found < 0:
                return -1
            place = found - offset
            if len(self.pieces) == 1 or self.fits(text, place):
                return place
            place += 1
        return self._tested_everywhere(text, place, last)

    def _tested_everywhere(self, text: str, place: int, last: int) -> int:
        """The first place up to the last where it fits, or -1."""
        if place > last:
            return -1
        import numpy as np

        characters = _characters(text[place : last + self.length])
        fits = np.ones(last + 1 - place, np.bool_)
        for offset, piece in self.pieces:
            for step, code in enumerate(_characters(piece), offset):
                fits &= characters[step : step + len(fits)] == code
                if not fits.any():
                    return -1
        return place + int(fits.argmax())


@remembered(_MAX_BYTES, lambda given, _: _TEST_BYTES + _PIECE_BYTES * len(given[0].pattern))
def like_test(pattern: LikePattern) -> Callable[[str], bool]:
    """A function that says whether a string is LIKE the pattern."""
    segments = _segments(pattern.parts())
    if len(segments) == 1:
        (only,) = segments
        return lambda text: len(text) == only.length and only.fits(text, 0)
    first, *between, last = segments
    shortest = sum(segment.length for segment in segments)

    def is_like(text: str) -> bool:
        end = len(text) - last.length
        if len(text) < shortest or not first.fits(text, 0) or not last.fits(text, end):
            return False
        place = first.length
        for segment in between:
            place = segment.first_place(text, place, end)
            if place < 0:
                return False
            place += segment.length
        return True

    return is_like


def _segments(parts: Iterable[str | object]) -> list[Segment]:
    """What stands before, between and after the runs; empty ones only at the ends."""
    segments: list[Segment] = []
    pieces: list[tuple[int, str]] = []
    length = 0
    for part in parts:
        if part is ANY_RUN:
            if length or not segments:
                segments.append(_segment(pieces, length))
            pieces, length = [], 0
        elif part is ANY_ONE:
            length += 1
        else:
            assert isinstance(part, str)
            pieces.append((length, part))
            length += len(part)
    return [*segments, _segment(pieces, length)]


def _segment(pieces: list[tuple[int, str]], length: int) -> Segment:
    longest = max(pieces, key=lambda piece: len(piece[1]), default=(0, ""))
    return Segment(tuple(pieces), length, longest)


def _characters(text: str) -> np.ndarray:
    """The code points; the narrowest type that text alone needs."""
    import numpy as np

    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)
