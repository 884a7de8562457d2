"""``compile``: a table of subscriptions, checked once on the driver and packed for the executors.

Subscriptions are compiled in the order of their ids, so that the same table gives the same digest
however Spark happens to deliver its rows. The whole table passes through the driver's memory. An
engine is packed as it is, with its texts and its parameters; nothing of it is read again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, Union

from predicast.engine import Engine, Entry, Subscribe
from predicast.engine.ids import check_id
from predicast.errors import (
    DuplicateIdError,
    InvalidOptionError,
    InvalidSubscriptionsError,
    LanguageError,
    PipelineError,
    PredicastError,
)
from predicast.language import Readable
from predicast.language.reading import stated_by
from predicast.language.time_zones import implied_zone, reading_in
from predicast.matching import DEFAULT
from predicast.model import Absent
from predicast.spark.image import EngineFile, EngineImage
from predicast.spark.options import check_choice
from predicast.spark.placement import (
    REPLICATED,
    Placement,
    Strategy,
    checked_strategy,
    digest_of,
    placed,
    subscribe_again,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from predicast.spark.event_schemas import EventSchema
    from predicast.spark.schemas import Intervals

OnInvalid: TypeAlias = Literal["raise", "drop", "quarantine"]

_MAX_SHOWN: Final = 5  # invalid subscriptions spelt out in an error's message
_MAX_LISTED: Final = 1_000  # invalid subscriptions in an error's field
_WINDOW: Final = 8_192  # rows that are subscribed at a time where some are refused


class InvalidSubscription(NamedTuple):
    """A subscription that was left out, and why."""

    id: str | None
    expression: str | None
    error: str


@dataclass(frozen=True, repr=False)
class CompiledSubscriptions:
    """Subscriptions ready to be matched on executors; what ``compile`` returns.

    Equal if they are packed alike: the same rows with the same options are, an engine is only like
    itself as it was then. Picklable; a copy that was pickled no longer knows the session it was
    compiled in.
    """

    digest: str
    attributes: tuple[str, ...] = field(compare=False)
    matcher: str = field(compare=False)
    absent: Absent = field(compare=False)
    count: int = field(compare=False)
    left_out: int = field(compare=False)
    invalid_rows: tuple[InvalidSubscription, ...] = field(compare=False)
    # Of all of them or, in shards, of the router.
    image: EngineImage | EngineFile = field(compare=False)
    asks_for_now: bool = field(compare=False, default=False)
    placement: Placement = field(compare=False, default=REPLICATED)
    session: SparkSession | None = field(compare=False, default=None)

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True  # none at all are still subscriptions

    def __repr__(self) -> str:
        shown = ", ".join(self.attributes[:6]) + (", ..." if len(self.attributes) > 6 else "")
        left_out = f", {self.left_out} invalid left out" if self.left_out else ""
        return (
            f"<CompiledSubscriptions: {self.count} subscriptions on [{shown}], "
            f"matcher {self.matcher!r}, absent {self.absent!r}{left_out}, "
            f"{self._size()}, digest {self.digest[:12]}>"
        )

    def _size(self) -> str:
        shards = self.placement.shards
        return f"{len(shards)} shards" if shards else f"{self.image.size()} bytes"

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (getattr(self, name) for name in self.__dataclass_fields__ if name != "session")
        return CompiledSubscriptions, tuple(fields)

    def in_folder(self, folder: str | os.PathLike[str]) -> CompiledSubscriptions:
        """The same, held in files of a folder that all hosts see.

        Queries then carry the files' names instead of the subscriptions, however many those are.
        Files are called by what is in them and are never removed; remove the folder when no query
        uses it any more.
        """
        place = Path(folder)
        shards = tuple(
            shard._replace(image=shard.image.in_folder(place)) for shard in self.placement.shards
        )
        image = self.image if shards else self.image.in_folder(place)
        return replace(self, image=image, placement=self.placement._replace(shards=shards))

    def engine(self) -> Engine:
        """A new engine with these subscriptions."""
        if not self.placement.shards:
            return self.image.unpacked()
        whole = Engine(matcher=self.matcher, absent=self.absent)
        whole.subscribe_many(subscribe_again(self.entries()))
        return whole

    def entries(self) -> Iterator[Entry]:
        """All of the subscriptions."""
        for image in self._images():
            yield from image.shared().subscriptions()

    def entry(self, id: str) -> Entry:
        """One of them."""
        *others, last = (image.shared() for image in self._images())
        return next((engine for engine in others if id in engine), last).get(id)

    def _images(self) -> Sequence[EngineImage | EngineFile]:
        return [shard.image for shard in self.placement.shards] or [self.image]

    @property
    def invalid(self) -> DataFrame:
        """What ``on_invalid="quarantine"`` set apart, as a DataFrame of id, expression and error.

        It belongs to the session of the DataFrame that was compiled, otherwise to the active
        session. ``invalid_rows`` is the same without Spark.
        """
        from pyspark.sql import SparkSession

        session = self.session or SparkSession.getActiveSession()
        if session is None:
            raise PipelineError(
                "there is no active Spark session to make a DataFrame with; "
                "invalid_rows has the same as Python objects"
            )
        return session.createDataFrame(
            list(self.invalid_rows), "id string, expression string, error string"
        )


Subscriptions: TypeAlias = Union[  # a string in a | would be an error at run time
    "DataFrame", Engine, Mapping[str, Readable], Iterable[tuple[str, Readable]]
]


def compile(  # noqa: PLR0913  # options of the public interface, all by name
    subscriptions: Subscriptions | CompiledSubscriptions,
    *,
    id: str = "id",
    expression: str = "expression",
    owner: str | None = None,
    matcher: str | None = None,
    absent: Absent | None = None,
    on_invalid: OnInvalid = "raise",
    events: DataFrame | StructType | None = None,
    intervals: Intervals | None = None,
    time_zone: str | None = None,
    strategy: Strategy = "auto",
) -> CompiledSubscriptions:
    """Check subscriptions and pack them for matching on executors.

    ``subscriptions`` is a DataFrame whose columns ``id`` and ``expression`` hold ids and
    ``where`` text (and whose column ``owner``, if named, says whose they are), or (id,
    expression) pairs, or an ``Engine``. ``matcher`` and ``absent`` are those of ``Engine``; an
    engine keeps its own unless told otherwise. What does not parse, lacks an id or shares it with
    another row is invalid: ``on_invalid`` raises ``InvalidSubscriptionsError``, drops it, or sets
    it apart in ``.invalid``. So is, if ``events`` are given (a DataFrame or its schema, and
    ``intervals`` as in ``match``), what looks at a column that they lack or can never match it.

    ``time_zone`` is that of timestamps in texts that name none, otherwise UTC; Spark's own SQL
    takes the session's: ``time_zone=spark.conf.get("spark.sql.session.timeZone")``.

    ``strategy`` says where they are held: all of them on every host (``"replicate"``), or divided
    into shards, each event visiting those that it may match something in (``"partition"``, or a
    ``Partition`` that says how). ``"auto"`` divides them when they take more than a gigabyte;
    ``placement`` tells what was chosen and why.

    Already compiled subscriptions are returned as they are.
    """
    if isinstance(subscriptions, CompiledSubscriptions):
        return subscriptions
    checked_strategy(strategy)
    check_choice("on_invalid", on_invalid, ("raise", "drop", "quarantine"))
    if absent is not None:
        check_choice("absent", absent, ("fails", "passes"))
    schema = None if events is None else _event_schema(events, intervals)
    if isinstance(subscriptions, Engine):
        _refuse_owner(owner)
        chosen = matcher or subscriptions.matcher, absent or subscriptions.absent
        if schema is None and chosen == (subscriptions.matcher, subscriptions.absent):
            snapshot = subscriptions.to_bytes()  # others may be changing the engine itself
            return _placed(Engine.from_bytes(snapshot), snapshot, strategy)
        matcher, absent = chosen
    rows, session = _rows(subscriptions, id, expression, owner)
    engine = Engine(matcher=matcher or DEFAULT, absent=absent or "fails")
    with reading_in(time_zone):
        invalid = _fill(engine, rows, schema)
    if invalid and on_invalid == "raise":
        raise _refusal(invalid, len(rows))
    return replace(
        _placed(engine, engine.to_bytes(), strategy),
        left_out=len(invalid),
        invalid_rows=tuple(invalid) if on_invalid == "quarantine" else (),
        session=session,
    )


def _placed(engine: Engine, snapshot: bytes, strategy: Strategy) -> CompiledSubscriptions:
    """An engine, whole or in shards."""
    placement = placed(engine, len(snapshot), strategy)
    if placement.router is None:
        return replace(described(EngineImage.of_snapshot(snapshot), engine), placement=placement)
    compiled = described(placement.router, engine)
    return replace(compiled, digest=digest_of(placement.shards), placement=placement)


def described(image: EngineImage, engine: Engine) -> CompiledSubscriptions:
    """The image of an engine, with what there is to know of it."""
    return CompiledSubscriptions(
        digest=image.digest,
        attributes=tuple(sorted(engine.attributes())),
        matcher=engine.matcher,
        absent=engine.absent,
        count=len(engine),
        left_out=0,
        invalid_rows=(),
        image=image,
        asks_for_now=engine.asks_for_now,
    )


class _TableRow(NamedTuple):
    id: Any
    expression: Any
    owner: Any = None


def _rows(
    subscriptions: Subscriptions, id: str, expression: str, owner: str | None
) -> tuple[list[_TableRow], SparkSession | None]:
    from pyspark.sql import DataFrame

    if isinstance(subscriptions, DataFrame):
        from predicast.spark.tables import collected

        rows = [_TableRow(*row) for row in collected(subscriptions, id, expression, owner)]
        return rows, subscriptions.sparkSession
    _refuse_owner(owner)
    if isinstance(subscriptions, Engine):
        return [
            _TableRow(e.id, e.subscription, e.owner) for e in subscriptions.subscriptions()
        ], None
    return list(_pairs(subscriptions)), None


def _refuse_owner(owner: str | None) -> None:
    if owner is not None:
        raise InvalidOptionError("owner names a column of a DataFrame", option="owner")


def _pairs(subscriptions: Any) -> Iterator[_TableRow]:
    pairs = subscriptions.items() if isinstance(subscriptions, Mapping) else subscriptions
    try:
        for id, expression in pairs:
            yield _TableRow(id, expression)
    except (TypeError, ValueError) as error:
        raise PipelineError(
            "subscriptions are a DataFrame, an Engine or (id, expression) pairs, "
            f"not {type(subscriptions).__name__} ({error})"
        ) from error


def _event_schema(events: DataFrame | StructType, intervals: Intervals | None) -> EventSchema:
    from predicast.spark.event_schemas import EventSchema

    return EventSchema(events, intervals)


def _fill(
    engine: Engine, rows: list[_TableRow], schema: EventSchema | None
) -> list[InvalidSubscription]:
    """Subscribe every valid row, in order of ids; return the others."""
    rows.sort(key=lambda row: str(row.id))
    reading = _TableRows(rows, schema)
    try:
        engine.subscribe_many(operation for _, operation in reading.valid())
    except PredicastError:  # the matcher's, of any one of them: which, and what of the others?
        valid = reading.valid()
        while window := list(islice(valid, _WINDOW)):
            report = engine.apply((each for _, each in window), on_refusal="report")
            for refusal in report.refused:
                position, _ = window[refusal.position]
                reading.refuse(position, refusal.error)
    return [each for _, each in sorted(reading.invalid.items())]


class _TableRows:
    """Rows being read, one by one: no more of them are held than are on their way."""

    def __init__(self, rows: list[_TableRow], schema: EventSchema | None) -> None:
        self._rows = rows
        self._schema = schema
        self._uses = Counter(row.id for row in rows if isinstance(row.id, str))
        self.invalid: dict[int, InvalidSubscription] = {}  # by position

    def valid(self) -> Iterator[tuple[int, Subscribe]]:
        """Each valid row by position; the others go to ``invalid``."""
        for position, row in enumerate(self._rows):
            try:
                self._check(row)
                stated, _ = stated_by(row.expression)
                if self._schema is not None:
                    self._schema.check(stated)
                # A text is kept, for explanations; unless it means something else elsewhere.
                keeps = isinstance(row.expression, str) and implied_zone() is UTC
            except PredicastError as error:
                self.refuse(position, error)
            else:
                yield position, Subscribe(row.id, row.expression if keeps else stated, row.owner)

    def refuse(self, position: int, error: PredicastError) -> None:
        """Set a row apart, with the reason."""
        row = self._rows[position]
        id, text = _shown(row.id), _shown(row.expression)
        self.invalid[position] = InvalidSubscription(id, text, error.message)

    def _check(self, row: _TableRow) -> None:
        check_id("id", row.id)
        uses = self._uses[row.id]
        if uses > 1:
            # A table has no order, so that none of them can be called the first.
            raise DuplicateIdError(f"{uses} subscriptions have the id {row.id!r}", id=row.id)
        if row.expression is None:
            raise LanguageError("the expression is null")
        if row.owner is not None:
            check_id("owner", row.owner)


def _shown(given: object) -> str | None:
    """What was given as a text that Spark can hold, whatever was in it."""
    return None if given is None else str(given).encode(errors="backslashreplace").decode()


def _refusal(invalid: list[InvalidSubscription], count: int) -> InvalidSubscriptionsError:
    lines = [f"{len(invalid)} of {count} subscriptions cannot be compiled:"]
    lines += [f"  {e.id!r}: " + e.error.replace("\n", "\n    ") for e in invalid[:_MAX_SHOWN]]
    if len(invalid) > _MAX_SHOWN:
        lines.append(f"  ... and {len(invalid) - _MAX_SHOWN} more")
    lines.append("on_invalid='drop' leaves them out, on_invalid='quarantine' also lists them")
    return InvalidSubscriptionsError(
        "\n".join(lines), invalid=[(each.id, each.error) for each in invalid[:_MAX_LISTED]]
    )
