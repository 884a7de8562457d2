"""``parse_where``: text to subscription, remembering the shapes of earlier texts.

A regular expression cuts the text at its literals. What lies between them is the *shape*; if it
has been seen, its template is filled with the new literals, and neither tokeniser nor parser
runs. That takes microseconds instead of a tenth of a millisecond.

The cut is an optimisation and never decides what a text means: the parser reports where it found
literals, and a shape is remembered only if those are exactly the places of the cut. A text with,
say, a quote inside a comment is simply parsed each time.

Texts that begin alike are likely to be of one shape: the latest of them is tried first, as a
regular expression of its own (``shape_pattern.py``), and if it fits nothing need be cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC
from itertools import accumulate
from typing import Final, NamedTuple, TypeVar

from predicast.bounded_cache import BoundedCache
from predicast.errors import ModelError, ParseError, TextTooLongError, UnknownClassError
from predicast.language.time_zones import implied_zone
from predicast.language.where.position import error_at, unknown_class_at
from predicast.language.where.shape import ConstraintTemplate, Literal, Shape, estimate, in_places
from predicast.language.where.shape_pattern import ShapePattern, pattern_of
from predicast.model import Constraint, Subscription, Value
from predicast.model.normal_form import NormalClause, normalised, subscription_from
from predicast.model.outline import Stated, outlined
from predicast.model.values import NOT_UNICODE, lone_surrogate

T = TypeVar("T")

MAX_TEXT: Final = 65_536  # characters in one expression
MAX_BYTES: Final = 32 << 20  # of shapes: some thousands of the usual ones, a handful in practice
_OFTEN: Final = 8  # texts of a shape after which it is worth compiling a pattern of it
_MAX_BEGINNING: Final = 64  # characters of the first word, by which the latest pattern is found

_CUT: Final = re.compile(
    r"(?=[0-9'\"`])("  # look at the first character before trying the alternatives
    r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])"
    r"|'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'"
    r'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*"'
    r"|`[^`]*(?:``[^`]*)*`"  # a quoted name: part of the shape
    r")",
    re.DOTALL,
)
_MARKS: Final = {"'": "'", '"': '"'}  # what stands for a string in a shape; a number is 0


class Fixed(NamedTuple):
    """Which literals of a shape are not to be filled in, since names and constants hold them.

    Texts that have the same ones there, ``round(price, 2) < 5`` and ``round(price, 2) < 7``, share
    a shape of their own.
    """

    places: tuple[int, ...]

    @property
    def cost(self) -> int:
        return 100 + 36 * len(self.places)

    def key(self, key: tuple[str, ...], texts: Sequence[str]) -> tuple[str, ...]:
        """The key of the shape in which these texts stand; no text has one that begins so."""
        return ("", "=", *key, *(texts[place] for place in self.places))


class ShapeCache:
    """Shapes seen lately, as many as go into some bytes; safe to share between threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._shapes = BoundedCache[tuple[str, ...], Shape | Fixed](
            max_bytes, lambda _, shape: shape.cost
        )
        self._max_shape = max_bytes // 2  # what takes more is not kept
        self._patterns = BoundedCache[tuple[Shape, tuple[type, ...]], ShapePattern | None](
            max_bytes, lambda key, pattern: key[0].cost if pattern is None else pattern.cost
        )
        self._latest = BoundedCache[tuple[str, int], ShapePattern](
            max_bytes, lambda _, pattern: _MAX_BEGINNING + pattern.cost
        )
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._shapes)

    @property
    def cost(self) -> int:
        """Roughly the bytes of all the shapes."""
        return self._shapes.cost

    def parse(self, text: str) -> Subscription:
        """The subscription that the text states."""
        key, texts = _cut(text)
        subscription = self._filled(key, texts, Shape.fill)
        return self._parse_fresh(text, key) if subscription is None else subscription

    def outlined(self, text: str) -> Stated:
        """The same as an outline and operands; no object is made if the shape is known."""
        latest = self._latest.get((text.partition(" ")[0], text.count(" ")))
        if latest is not None and _is_plain(text):
            stated = latest.stated(text)
            if stated is not None:
                self.hits += 1
                return stated
        key, texts = _cut(text)
        stated = self._filled(key, texts, Shape.outlined)
        if stated is None:
            return outlined(self._parse_fresh(text, key))
        if _is_plain(text):
            self._put_latest(text, self._shapes[key], stated)
        return stated

    def _filled(
        self, key: tuple[str, ...], texts: list[str], fill: Callable[[Shape, list[str]], T]
    ) -> T | None:
        """What becomes of literals in a shape that is known; ``None`` if the parser must look."""
        try:
            found = self._shapes[key]
            if type(found) is Fixed:
                found = self._shapes[found.key(key, texts)]
        except KeyError:
            return None
        assert type(found) is Shape
        self.hits += 1
        try:
            return fill(found, texts)
        except ModelError:
            return None  # the parser's error knows its place

    def _put_latest(self, text: str, shape: Shape | Fixed, stated: Stated) -> None:
        """Have texts that begin like this one tried as texts of its shape."""
        beginning = text.partition(" ")[0]
        if type(shape) is Fixed or len(beginning) > _MAX_BEGINNING:
            return
        assert type(shape) is Shape
        shape.uses += 1
        if shape.uses < _OFTEN:
            return
        of = shape, tuple(map(type, stated.operands))
        try:
            pattern = self._patterns[of]
        except KeyError:
            pattern = self._patterns.put(of, pattern_of(shape, _CUT.split(text), stated))
        if pattern is not None:
            self._latest.replace((beginning, text.count(" ")), pattern)

    def _parse_fresh(self, text: str, key: tuple[str, ...]) -> Subscription:
        self.misses += 1
        from predicast.language.where.parser import parse  # sqlglot is slow to import

        clauses = normalised(parse(text))
        subscription = subscription_from(clauses, lambda leaf: filled(leaf, text))
        slots = _slots(text)
        leaves = in_places(clauses)
        places = {(each.start, each.end) for leaf in leaves for each in leaf.literals}
        if estimate(text, leaves) > self._max_shape:
            return subscription
        if slots.items() <= places:
            self._shapes.put(key, Shape(clauses, text, list(slots)))
        elif any(leaf.fixed for leaf in leaves):
            self._put_fixed(text, key, clauses, slots.items() - places)
        return subscription

    def _put_fixed(
        self,
        text: str,
        key: tuple[str, ...],
        clauses: list[NormalClause[ConstraintTemplate]],
        others: set[tuple[int, int]],
    ) -> None:
        """Remember a shape of which some literals are part of names or of constants."""
        spans = {span for leaf in in_places(clauses) for span in leaf.fixed}
        slots = list(_slots(text).items())
        if not all(any(a <= start and end <= b for a, b in spans) for start, end in others):
            return
        fixed = Fixed(tuple(place for place, slot in enumerate(slots) if slot in others))
        if self._shapes.put(key, fixed) == fixed:
            texts = [text[start:end] for start, end in slots]
            shape = Shape(clauses, text, [start for start, _ in slots])
            self._shapes.put(fixed.key(key, texts), shape)


_shared = ShapeCache()


def parse_where(text: str) -> Subscription:
    """The subscription that a ``where`` expression states.

    >>> parse_where("price < 10 AND symbol = 'IBM'").attributes() == {"price", "symbol"}
    True
    """
    if not isinstance(text, str):
        raise ParseError(f"an expression is a string, not {type(text).__name__}")
    return _shared.parse(text)


def outlined_where(text: str) -> Stated:
    """The outline and the operands of what a ``where`` expression states, for bulk work."""
    return _shared.outlined(text)


def check_text(text: str) -> None:
    """Refuse a text that is too long to be looked at, or no Unicode, wherever it is odd."""
    if len(text) > MAX_TEXT:
        raise TextTooLongError(
            f"the expression has {len(text)} characters; the limit is {MAX_TEXT}",
            limit=MAX_TEXT,
            actual=len(text),
        )
    if not text.isascii():
        surrogate = lone_surrogate(text)
        if surrogate is not None:
            raise error_at(ParseError, text, surrogate, f"the text {NOT_UNICODE}")


def _is_plain(text: str) -> bool:
    """Whether nothing is odd about a text, and timestamps in it are of the usual zone."""
    return text.isascii() and len(text) <= MAX_TEXT and implied_zone() is UTC


def _cut(text: str) -> tuple[tuple[str, ...], list[str]]:
    """The shape of a text, and the texts of its literals."""
    check_text(text)
    pieces = _CUT.split(text)
    texts = pieces[1::2]
    # One string per kind of literal; quoted names keep their text.
    pieces[1::2] = [t if t[0] == "`" else _MARKS.get(t[0], "0") for t in texts]
    zone = implied_zone()
    if zone is not UTC:  # constants in a shape may be of this zone; no text begins so
        pieces[:0] = ["", f"zone {zone}"]
    return tuple(pieces), [t for t in texts if t[0] != "`"]


def _slots(text: str) -> dict[int, int]:
    """Where each literal of the cut starts and ends."""
    pieces = _CUT.split(text)
    ends = list(accumulate(map(len, pieces)))
    return {
        end - len(piece): end
        for piece, end in zip(pieces[1::2], ends[1::2], strict=True)
        if piece[0] != "`"
    }


def filled(template: ConstraintTemplate, text: str) -> Constraint:
    """The constraint with the text's own literals; an error points at the one to blame."""
    spot = template.start

    def value_of(literal: Literal) -> Value:
        nonlocal spot
        spot = literal.start
        return literal.convert(text[literal.start : literal.end])

    try:
        return template.fill(value_of)
    except UnknownClassError as error:
        raise unknown_class_at(text, spot, error) from error
    except ModelError as error:
        raise error_at(ParseError, text, spot, error.message) from error
