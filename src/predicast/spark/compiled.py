"""``compile``: a table of subscriptions, checked once and packed for the executors.

Subscriptions are compiled in the order of their ids, so that the same table gives the same digest
however Spark happens to deliver its rows, and wherever they are read (``reading.py``). What was
read of the whole table is in the driver's memory in the end. An engine is packed as it is, with its
texts and its parameters; nothing of it is read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, Union, overload

from predicast.engine import Engine, Entry
from predicast.errors import InvalidOptionError
from predicast.language import Readable
from predicast.language.dialect_registry import dialect_named
from predicast.matching import DEFAULT
from predicast.model import Absent
from predicast.model.vocabulary import HasVocabulary, Vocabulary, checked_vocabulary
from predicast.spark.compiled_patterns import (
    CompiledPatterns,
    PatternColumns,
    PatternRows,
    compiled_patterns,
    is_graph_engine,
    parsed_ontology,
)
from predicast.spark.image import EngineFile, EngineImage
from predicast.spark.options import check_choice, refuse_options
from predicast.spark.placement import (
    REPLICATED,
    Placement,
    Strategy,
    checked_strategy,
    digest_of,
    placed,
    subscribe_again,
)
from predicast.spark.schemas import GivenBy
from predicast.spark.table_rows import (
    InvalidSubscription,
    OnInvalid,
    invalid_frame,
    refusal,
    refuse_owner,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from predicast.graph import GraphEngine, Ontology
    from predicast.graph.event_graph import Validation
    from predicast.matching.batches.interval_columns import IntervalColumns
    from predicast.spark.event_schemas import EventSchema


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
    # Of an ontology's properties among the attributes: all that give one a value.
    given_by: GivenBy = field(compare=False, default_factory=dict)
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

    def files(self) -> list[Path]:
        """Those that hold the subscriptions, if they are in files."""
        return [image.path for image in self._images() if isinstance(image, EngineFile)]

    def engine(self) -> Engine:
        """A new engine with these subscriptions."""
        if not self.placement.shards:
            return self.image.unpacked()
        whole = Engine(matcher=self.matcher, absent=self.absent, ontology=self.vocabulary)
        whole.subscribe_many(subscribe_again(self.entries()))
        return whole

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The names of the ontology that they go by, if there is one."""
        return self._images()[0].shared().vocabulary

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
        return invalid_frame(self.invalid_rows, self.session)


Subscriptions: TypeAlias = Union[  # a string in a | would be an error at run time
    "DataFrame", Engine, Mapping[str, Readable], Iterable[tuple[str, Readable]]
]


AnySubscriptions: TypeAlias = Union[
    Subscriptions, CompiledSubscriptions, CompiledPatterns, "GraphEngine"
]


@overload
def compile(
    subscriptions: Subscriptions | CompiledSubscriptions,
    *,
    ontology: HasVocabulary | str | Path | None = None,
    graphs: Literal[False] = False,
    id: str = "id",
    expression: str = "expression",
    owner: str | None = None,
    matcher: str | None = None,
    absent: Absent | None = None,
    on_invalid: OnInvalid = "raise",
    events: DataFrame | StructType | None = None,
    intervals: IntervalColumns | None = None,
    time_zone: str | None = None,
    strategy: Strategy = "auto",
    dialect: str | None = None,
    dialect_column: str | None = None,
) -> CompiledSubscriptions: ...


@overload
def compile(subscriptions: GraphEngine | CompiledPatterns) -> CompiledPatterns: ...


@overload
def compile(
    subscriptions: PatternRows,
    *,
    ontology: Ontology | str | Path | None = None,
    graphs: Literal[True],
    id: str = "id",
    expression: str = "expression",
    owner: str | None = None,
    matcher: str | None = None,
    on_invalid: OnInvalid = "raise",
    validate: Validation = "off",
) -> CompiledPatterns: ...


def compile(  # noqa: PLR0913  # options of the public interface, all by name
    subscriptions: Any,
    *,
    ontology: Any = None,
    graphs: bool = False,
    id: str = "id",
    expression: str = "expression",
    owner: str | None = None,
    matcher: str | None = None,
    absent: Absent | None = None,
    on_invalid: OnInvalid = "raise",
    events: DataFrame | StructType | None = None,
    intervals: IntervalColumns | None = None,
    time_zone: str | None = None,
    strategy: Strategy = "auto",
    validate: Validation = "off",
    dialect: str | None = None,
    dialect_column: str | None = None,
) -> CompiledSubscriptions | CompiledPatterns:
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

    ``dialect`` names the language of the texts, if it is not ``where``; ``dialect_column`` a column
    that says it of each row, where it is not null. Such texts are read on the driver.

    ``ontology`` (an ``Ontology``, or RDF text or a path to it) is that of ``Engine``: texts may
    name classes, ``type IS A 'Computer'``, and a column gives the properties above its own.

    With ``graphs``, expressions are graph patterns, and events are graphs: RDF texts in one column,
    which are read by the ontology. ``validate`` is that of ``GraphEngine``, which may be given as
    well. Where patterns are held, what they look at and in which time zone is then not to be
    chosen.

    Already compiled subscriptions are returned as they are.
    """
    if isinstance(subscriptions, CompiledSubscriptions | CompiledPatterns):
        return subscriptions
    check_choice("on_invalid", on_invalid, ("raise", "drop", "quarantine"))
    if graphs or is_graph_engine(subscriptions):
        refuse_options(
            "subscriptions are graph patterns",
            absent=absent,
            events=events,
            intervals=intervals,
            time_zone=time_zone,
            strategy=None if strategy == "auto" else strategy,
            dialect=dialect,
            dialect_column=dialect_column,
        )
        columns = PatternColumns(id, expression, owner)
        return compiled_patterns(subscriptions, ontology, columns, matcher, on_invalid, validate)
    if validate != "off":
        raise InvalidOptionError("validate is for graphs; say graphs=True", option="validate")
    checked_strategy(strategy)
    if absent is not None:
        check_choice("absent", absent, ("fails", "passes"))
    vocabulary = _vocabulary(subscriptions, ontology)
    schema = None if events is None else _event_schema(events, intervals, vocabulary)
    if isinstance(subscriptions, Engine):
        refuse_owner(owner)
        chosen = matcher or subscriptions.matcher, absent or subscriptions.absent
        if schema is None and chosen == (subscriptions.matcher, subscriptions.absent):
            snapshot = subscriptions.to_bytes()  # others may be changing the engine itself
            return _placed(Engine.from_bytes(snapshot), snapshot, strategy)
        matcher, absent = chosen
    if dialect is not None:
        dialect_named(dialect)  # refuses a name that is none
    from predicast.spark.reading import ReadTable, RowReading  # PyArrow takes its time

    settings = matcher or DEFAULT, absent or "fails", vocabulary, time_zone, schema, dialect
    table = ReadTable(subscriptions, id, expression, owner, dialect_column)
    read = table.read(RowReading(*settings))
    if read.invalid and on_invalid == "raise":
        raise refusal(read.invalid, read.rows)
    return replace(
        _placed(read.engine, read.engine.to_bytes(), strategy),
        left_out=len(read.invalid),
        invalid_rows=tuple(read.invalid) if on_invalid == "quarantine" else (),
        session=read.session,
    )


def _placed(engine: Engine, snapshot: bytes, strategy: Strategy) -> CompiledSubscriptions:
    """An engine, whole or in shards."""
    placement = placed(engine, len(snapshot), strategy)
    if placement.router is None:
        return replace(described(EngineImage.of_snapshot(snapshot), engine), placement=placement)
    return in_shards(placement, engine)


class Described(Protocol):
    """What there is to know of subscriptions: an engine, or several that are one to others."""

    @property
    def matcher(self) -> str: ...

    @property
    def absent(self) -> Absent: ...

    @property
    def asks_for_now(self) -> bool: ...

    def givers(self) -> Mapping[str, frozenset[str]]: ...

    def __len__(self) -> int: ...


def in_shards(placement: Placement, engine: Described) -> CompiledSubscriptions:
    """Subscriptions in shards, with what there is to know of all of them."""
    assert placement.router is not None
    compiled = described(placement.router, engine)
    return replace(compiled, digest=digest_of(placement.shards), placement=placement)


def described(image: EngineImage, engine: Described) -> CompiledSubscriptions:
    """The image of an engine, with what there is to know of it."""
    givers = engine.givers()
    return CompiledSubscriptions(
        digest=image.digest,
        attributes=tuple(sorted(givers)),
        matcher=engine.matcher,
        absent=engine.absent,
        count=len(engine),
        left_out=0,
        invalid_rows=(),
        image=image,
        asks_for_now=engine.asks_for_now,
        given_by={name: tuple(sorted(each)) for name, each in givers.items() if len(each) > 1},
    )


def _vocabulary(
    subscriptions: object, ontology: HasVocabulary | str | Path | None
) -> Vocabulary | None:
    """What names mean: by the ontology that is given, or by that of an engine."""
    if isinstance(subscriptions, Engine):
        if ontology is not None:
            raise InvalidOptionError("the engine goes by its own ontology", option="ontology")
        return subscriptions.vocabulary
    if isinstance(ontology, str | Path):
        return parsed_ontology(ontology).vocabulary()
    return None if ontology is None else checked_vocabulary(ontology)


def _event_schema(
    events: DataFrame | StructType, intervals: IntervalColumns | None, vocabulary: Vocabulary | None
) -> EventSchema:
    from predicast.spark.event_schemas import EventSchema

    return EventSchema(events, intervals, vocabulary)
