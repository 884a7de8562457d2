"""Tables in every layout that Arrow has, with what their rows say known beforehand.

A column is drawn in three steps: what its values are (``Plain`` types, with values that the model
refuses among them), in which layouts they lie (dictionaries, runs, views, extensions, slices,
structs, one around the other), and how they are cut into chunks. Layouts never change what a row
says, so the rows are known without asking Arrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from predicast.model import Interval
from predicast.model.decimals import ExactDecimal
from predicast.testing.strategies import floats, integers, strings

REFUSED: Final = object()  # what the model has no value for
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Boxed(pa.ExtensionType):  # type: ignore[misc]  # PyArrow has no types
    """An extension type that means nothing."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "predicast.boxed")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, _: bytes) -> Boxed:
        return cls(storage)


# What values are.


@dataclass(frozen=True)
class Plain:
    """A type, what pa.array takes for its values, and what the model has for them."""

    type: pa.DataType
    raw: st.SearchStrategy[Any]
    means: Callable[[Any], Any]

    def build(self, draw: st.DrawFn, values: list[Any]) -> pa.Array:
        return pa.array(values, self.type)

    def filler(self, draw: st.DrawFn) -> Any:
        return draw(self.raw)


def _finite(value: float) -> Any:
    return value if np.isfinite(value) else REFUSED


def _exact(value: Decimal) -> Any:
    if Fraction(value).denominator == 1:
        return _integer(int(value))
    # A float stands for the decimal that it is written as.
    nearest = float(value)
    return nearest if Decimal(repr(nearest)) == value else ExactDecimal(value)


def _integer(value: int) -> Any:
    if -(2**63) <= value < 2**63:
        return value
    return float(value) if int(float(value)) == value else ExactDecimal(value)


def _instant(unit: timedelta, most: int = 1) -> Callable[[int], Any]:
    def means(count: int) -> Any:
        try:
            return REFUSED if count % most else _EPOCH + count // most * unit
        except OverflowError:
            return REFUSED

    return means


def _integers(width: int, signed: bool) -> Plain:
    kind = getattr(pa, f"{'' if signed else 'u'}int{width}")()
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    usual = st.integers(max(low, -3), min(high, 7)) | st.sampled_from([low, min(high, 2**63 - 1)])
    raw = usual if width < 64 else usual | integers().map(lambda n: n if n >= low else -(n + 1))
    if not signed and width == 64:
        raw |= st.integers(0, 99).map(lambda n: 2**64 - 1 if n == 0 else n)
    return Plain(kind, raw, _integer)


def _floats(width: int) -> Plain:
    dtype = np.dtype(f"float{width}").type
    usual = st.integers(-6, 14).map(lambda step: step / 2) | floats().filter(
        lambda value: abs(value) <= float(np.finfo(dtype).max)
    )
    raw = st.integers(0, 150).flatmap(
        lambda n: st.sampled_from([float("nan"), float("inf")]) if n == 0 else usual
    )
    return Plain(getattr(pa, f"float{width}")(), raw.map(lambda f: dtype(f).item()), _finite)


def _timestamps(unit: str, zone: str | None) -> Plain:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    usual = st.integers(-3, 7).map(lambda n: n * max(1, per_second // 10**6))
    usual |= st.integers(-(2**31), 2**32 - 1).map(lambda n: n * per_second)
    odd = st.sampled_from([2**62, -(2**62), 253_402_300_799 * min(per_second, 10**6) + 1, 1])
    raw = st.integers(0, 150).flatmap(lambda n: odd if n == 0 else usual)
    if unit == "ns":
        means = _instant(timedelta(microseconds=1), 1_000)
    else:
        means = _instant(timedelta(microseconds=10**6 // per_second))
    return Plain(pa.timestamp(unit, zone), raw, means)


def _dates(bits: int) -> Plain:
    scale = 1 if bits == 32 else 86_400_000
    days = st.integers(-3, 3) | st.integers(-719_162, 2_932_896)
    odd = st.sampled_from([-719_163, 2_932_897, 2**31 - 1, -(2**31)])
    raw = st.integers(0, 150).flatmap(lambda n: odd if n == 0 else days)

    def means(count: int) -> Any:
        try:
            day = date(1970, 1, 1) + timedelta(days=count // scale)
        except OverflowError:
            return REFUSED
        return datetime(day.year, day.month, day.day, tzinfo=UTC)

    return Plain(getattr(pa, f"date{bits}")(), raw.map(lambda n: n * scale), means)


def _decimals(kind: pa.DataType) -> Plain:
    most = 10**kind.precision - 1
    quarter = 10**kind.scale // 4 if kind.scale >= 2 else 10 ** max(kind.scale, 0)
    usual = st.integers(-20, 20).map(lambda n: max(-most, min(most, n * quarter)))
    odd = st.sampled_from([1, most, -most, 2**53 + 1, 2**63, 2**64]).map(lambda n: min(n, most))
    raw = st.integers(0, 80).flatmap(lambda n: odd if n == 0 else usual)
    return Plain(kind, raw.map(lambda n: Decimal(f"{n}E{-kind.scale}")), _exact)


def _unlike_any(kind: pa.DataType, raw: st.SearchStrategy[Any]) -> Plain:
    return Plain(kind, raw, lambda _: REFUSED)


PLAIN: Final = [
    *(_integers(width, signed) for width in (8, 16, 32, 64) for signed in (True, False)),
    *(_floats(width) for width in (16, 32, 64)),
    *(Plain(kind, strings(), str) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    Plain(pa.bool_(), st.booleans(), bool),
    *(
        _timestamps(unit, zone)
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Berlin", "No/Where")
    ),
    _dates(32),
    _dates(64),
    *(
        _decimals(kind)
        for kind in (
            pa.decimal32(7, 2),
            pa.decimal64(18, 2),
            pa.decimal128(20, 0),
            pa.decimal128(38, 4),
            pa.decimal128(5, -2),
            pa.decimal256(60, 10),
        )
    ),
    Plain(pa.null(), st.none(), lambda _: None),
]
UNLIKE_ANY: Final = [
    _unlike_any(pa.binary(), st.binary(max_size=2)),
    _unlike_any(pa.list_(pa.int8()), st.lists(st.integers(0, 3), max_size=2)),
    _unlike_any(pa.duration("s"), st.integers(-(2**62), 2**62)),
    _unlike_any(pa.time32("s"), st.integers(0, 86_399)),
]


# In which layouts they lie. Each has a type, builds an array, and says what a raw value means.


@dataclass(frozen=True)
class Dictionary:
    """Words in any order, some of them twice or unused; null as an index, a word, or both."""

    index: pa.DataType
    inner: Any
    null_words: bool

    @property
    def type(self) -> pa.DataType:
        return pa.dictionary(self.index, self.inner.type)

    def means(self, raw: Any) -> Any:
        return self.inner.means(raw)

    def filler(self, draw: st.DrawFn) -> Any:
        return self.inner.filler(draw)

    def build(self, draw: st.DrawFn, values: list[Any]) -> pa.Array:
        words: list[Any] = []
        indices: list[int | None] = []
        for value in values:
            if value is None and not (self.null_words and draw(st.booleans())):
                indices.append(None)
                continue
            places = [place for place, word in enumerate(words) if _same(word, value)]
            if not places or (len(words) < 100 and draw(st.integers(0, 4)) == 0):
                words.append(value)
                indices.append(len(words) - 1)
            else:
                indices.append(draw(st.sampled_from(places)))
        if draw(st.booleans()):
            words.append(self.filler(draw))
        dictionary = self.inner.build(draw, words)
        return pa.DictionaryArray.from_arrays(pa.array(indices, self.index), dictionary)


@dataclass(frozen=True)
class Runs:
    """Equal neighbours stored once."""

    ends: pa.DataType
    inner: Any

    @property
    def type(self) -> pa.DataType:
        return pa.run_end_encoded(self.ends, self.inner.type)

    def means(self, raw: Any) -> Any:
        return self.inner.means(raw)

    def filler(self, draw: st.DrawFn) -> Any:
        return self.inner.filler(draw)

    def build(self, draw: st.DrawFn, values: list[Any]) -> pa.Array:
        ends: list[int] = []
        runs: list[Any] = []
        for place, value in enumerate(values):
            if runs and _same(runs[-1], value):
                ends[-1] = place + 1
            else:
                runs.append(value)
                ends.append(place + 1)
        built = self.inner.build(draw, runs)
        return pa.RunEndEncodedArray.from_arrays(pa.array(ends, self.ends), built)


@dataclass(frozen=True)
class Extension:
    """A type of somebody's own around another."""

    inner: Any

    @property
    def type(self) -> pa.DataType:
        return Boxed(self.inner.type)

    def means(self, raw: Any) -> Any:
        return self.inner.means(raw)

    def filler(self, draw: st.DrawFn) -> Any:
        return self.inner.filler(draw)

    def build(self, draw: st.DrawFn, values: list[Any]) -> pa.Array:
        return pa.ExtensionArray.from_storage(self.type, self.inner.build(draw, values))


@dataclass(frozen=True)
class Bytes:
    """Booleans as bytes."""

    type = pa.bool8()

    def means(self, raw: Any) -> Any:
        return bool(raw)

    def filler(self, draw: st.DrawFn) -> Any:
        return draw(st.sampled_from([0, 1, 1, -5]))

    def build(self, draw: st.DrawFn, values: list[Any]) -> pa.Array:
        return pa.ExtensionArray.from_storage(self.type, pa.array(values, pa.int8()))


@dataclass(frozen=True)
class Sliced:
    """A piece of something larger."""

    inner: Any

    @property
    def type(self) -> pa.DataType:
        return self.inner.type

    def means(self, raw: Any) -> Any:
        return self.inner.means(raw)

    def filler(self, draw: st.DrawFn) -> Any:
        return self.inner.filler(draw)

    def build(self, draw: st.DrawFn, values: list[Any]) -> pa.Array:
        before, after = draw(st.integers(0, 9)), draw(st.integers(0, 2))
        padding = [self.filler(draw), None]
        padded = [padding[n % 2] for n in range(before)] + values + padding[:after]
        return self.inner.build(draw, padded).slice(before, len(values))


@dataclass(frozen=True)
class Struct:
    """Fields; where the struct is null, they hold something all the same."""

    fields: tuple[tuple[str, Any], ...]

    @property
    def type(self) -> pa.DataType:
        return pa.struct([(name, field.type) for name, field in self.fields])

    def means(self, raw: Any) -> Any:
        return {
            name: None if raw[place] is None else field.means(raw[place])
            for place, (name, field) in enumerate(self.fields)
        }

    def filler(self, draw: st.DrawFn) -> Any:
        return tuple(
            None if draw(st.integers(0, 3)) == 0 else field.filler(draw) for _, field in self.fields
        )

    def build(self, draw: st.DrawFn, values: list[Any]) -> pa.Array:
        full = [self.filler(draw) if value is None else value for value in values]
        children = [
            field.build(draw, [value[place] for value in full])
            for place, (_, field) in enumerate(self.fields)
        ]
        names = [name for name, _ in self.fields]
        mask = pa.array([value is None for value in values], pa.bool_())
        return pa.StructArray.from_arrays(children, names, mask=mask)


def _same(one: Any, other: Any) -> bool:
    """Equal, and not merely as 0.0 and -0.0 are."""
    return repr(one) == repr(other)


_INDICES: Final = [
    getattr(pa, f"{sign}int{width}")() for sign in ("", "u") for width in (8, 32, 64)
]


@st.composite
def layouts(draw: st.DrawFn, inner: Any, depth: int = 3) -> Any:
    """Layouts around something, mostly few."""
    if inner.type == pa.null():
        return inner
    for _ in range(draw(st.integers(0, depth))):
        # PyArrow cannot build a dictionary of runs or of dictionaries, nor runs of runs; runs of an
        # extension of an extension of strings end the process.
        nested = any(isinstance(each, Dictionary | Runs) for each in _around(inner))
        choice = draw(st.integers(0, 4))
        if choice == 0 and not nested:
            inner = Dictionary(draw(st.sampled_from(_INDICES)), inner, draw(st.booleans()))
        elif choice == 1 and not any(isinstance(each, Runs) for each in _around(inner)):
            inner = Runs(draw(st.sampled_from([pa.int16(), pa.int32(), pa.int64()])), inner)
        elif choice == 2 and not any(isinstance(each, Extension) for each in _around(inner)):
            inner = Extension(inner)
        else:
            inner = Sliced(inner)
    return inner


@st.composite
def in_layouts(draw: st.DrawFn, plain: Plain, values: list[Any]) -> pa.ChunkedArray:
    """A column of these values, in some layouts and chunks."""
    return _chunked(draw, draw(layouts(plain)), values)


def _around(layout: Any) -> list[Any]:
    inside = getattr(layout, "inner", None)
    return [layout] if inside is None else [layout, *_around(inside)]


# Tables.


@dataclass(frozen=True)
class Example:
    """A table, and what its rows say: by attribute, values, REFUSED ones and absences."""

    table: pa.Table
    rows: list[dict[str, Any]]
    unlike_any: frozenset[str]  # attributes of types that no event has
    intervals: dict[str, tuple[str, str]]


@st.composite
def leaves(draw: st.DrawFn) -> Any:
    """A type of values in some layouts."""
    odd = draw(st.integers(0, 60)) == 0
    kind = draw(st.sampled_from(UNLIKE_ANY if odd else [*PLAIN, Bytes()]))
    return draw(layouts(kind))


@st.composite
def tables(draw: st.DrawFn) -> Example:
    """Tables with some of the model's names as columns and fields, and perhaps an interval."""
    length = draw(st.integers(0, 12))
    plans: dict[str, Any] = {}
    for name in ("a", "b", "c"):
        if draw(st.integers(0, 3)):
            plans[name] = draw(leaves())
    if draw(st.booleans()):
        inner = Struct((("total", draw(leaves())), ("other", draw(leaves()))))
        plans["order"] = draw(layouts(inner))
    intervals = {}
    if draw(st.integers(0, 2)) == 0:
        numbers = [each for each in PLAIN if each.type not in _TEXTS]
        one = draw(st.sampled_from(numbers))
        other = one if draw(st.booleans()) else draw(st.sampled_from(numbers))
        plans |= {"lo": draw(layouts(one)), "hi": draw(layouts(other))}
        intervals["c"] = ("lo", "hi")
    columns, said = {}, {}
    for name, plan in plans.items():
        pool = [plan.filler(draw) for _ in range(draw(st.integers(1, 4)))]
        picked = draw(st.lists(st.sampled_from([*pool, None]), min_size=length, max_size=length))
        columns[name] = _chunked(draw, plan, picked)
        said[name] = [None if raw is None else plan.means(raw) for raw in picked]
    rows = [_row({name: said[name][row] for name in said}, intervals) for row in range(length)]
    odd = frozenset(
        name
        for column, plan in plans.items()
        for name, leaf in _leaves(column, plan)
        if leaf in UNLIKE_ANY
    )
    if not columns:
        columns = {"": pa.nulls(length)}
    return Example(pa.table(columns), rows, odd, intervals)


_TEXTS: Final = (pa.string(), pa.large_string(), pa.string_view())


def _leaves(name: str, plan: Any) -> list[tuple[str, Any]]:
    innermost = _around(plan)[-1]
    if isinstance(innermost, Struct):
        return [
            found
            for field, inside in innermost.fields
            for found in _leaves(f"{name}.{field}", inside)
        ]
    return [(name, innermost)]


def _chunked(draw: st.DrawFn, plan: Any, values: list[Any]) -> pa.ChunkedArray:
    cuts = sorted(draw(st.lists(st.integers(0, len(values)), max_size=3)))
    bounds = zip([0, *cuts], [*cuts, len(values)], strict=True)
    chunks = [plan.build(draw, values[start:end]) for start, end in bounds]
    if not values and draw(st.booleans()):
        chunks = []
    return pa.chunked_array(chunks, plan.type)


def _row(said: dict[str, Any], intervals: dict[str, tuple[str, str]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in said.items():
        if isinstance(value, dict):
            row |= {f"{name}.{field}": inside for field, inside in value.items()}
        else:
            row[name] = value
    for name, pair in intervals.items():
        lo, hi = (row[end] for end in pair)
        row[name] = _interval(lo, hi)
    return row


def _interval(lo: Any, hi: Any) -> Any:
    if lo is REFUSED or hi is REFUSED:
        return REFUSED
    if lo is None and hi is None:
        return None
    try:
        return Interval(lo, hi)
    except ValueError:
        return REFUSED
