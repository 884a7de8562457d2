"""Graph patterns, checked once on the driver and packed for the executors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Union

from predicast.engine import Engine
from predicast.engine.engine_of import EngineOf
from predicast.errors import InvalidOptionError
from predicast.spark.graph_image import GraphImage
from predicast.spark.table_rows import (
    InvalidSubscription,
    OnInvalid,
    fill,
    invalid_frame,
    refusal,
    table_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from predicast.engine.entry import EntryOf
    from predicast.graph import GraphEngine, GraphPattern, Ontology
    from predicast.graph.event_graph import Validation

PatternRows: TypeAlias = Union[  # a string in a | would be an error at run time
    "DataFrame", Mapping[str, "str | GraphPattern"], Iterable[tuple[str, "str | GraphPattern"]]
]


class PatternColumns(NamedTuple):
    """What the columns of a DataFrame of patterns are called."""

    id: str = "id"
    expression: str = "expression"
    owner: str | None = None


@dataclass(frozen=True, repr=False)
class CompiledPatterns:
    """Graph patterns ready to be matched on executors; what ``compile`` makes of them.

    Equal if they are packed alike. Picklable; a copy that was pickled no longer knows the session
    it was compiled in.
    """

    digest: str
    matcher: str = field(compare=False)
    validate: Validation
    count: int = field(compare=False)
    left_out: int = field(compare=False)
    invalid_rows: tuple[InvalidSubscription, ...] = field(compare=False)
    image: GraphImage = field(compare=False)
    session: SparkSession | None = field(compare=False, default=None)

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True  # none at all are still subscriptions

    def __repr__(self) -> str:
        left_out = f", {self.left_out} invalid left out" if self.left_out else ""
        return (
            f"<CompiledPatterns: {self.count} subscriptions, matcher {self.matcher!r}{left_out}, "
            f"{len(self.image.packed)} bytes, digest {self.digest[:12]}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (getattr(self, name) for name in self.__dataclass_fields__ if name != "session")
        return CompiledPatterns, tuple(fields)

    def engine(self) -> GraphEngine:
        """A new engine with these subscriptions."""
        return self.image.unpacked()

    def entry(self, id: str) -> EntryOf[GraphPattern]:
        """One of them."""
        return self.image.shared().get(id)

    @property
    def invalid(self) -> DataFrame:
        """What ``on_invalid="quarantine"`` set apart, as a DataFrame of id, expression, error."""
        return invalid_frame(self.invalid_rows, self.session)


def is_graph_engine(given: object) -> bool:
    """Whether it is a ``GraphEngine``, of which nothing need be imported to know."""
    return isinstance(given, EngineOf) and not isinstance(given, Engine)


def compiled_patterns(
    subscriptions: Any,
    ontology: Ontology | str | Path | None,
    columns: PatternColumns,
    matcher: str | None,
    on_invalid: OnInvalid,
    validate: Validation,
) -> CompiledPatterns:
    """Check patterns and pack them; those of an engine are packed as they are."""
    from predicast.graph import GraphEngine
    from predicast.graph.matching.registry import DEFAULT

    if isinstance(subscriptions, GraphEngine):
        if ontology is not None or matcher is not None:
            option = "matcher" if ontology is None else "ontology"
            raise InvalidOptionError(f"the engine has {option} of its own", option=option)
        return _packed(subscriptions, subscriptions.validate)
    read_by = parsed_ontology(ontology)
    engine = GraphEngine(read_by, matcher=matcher or DEFAULT, validate=validate)
    rows, session = table_rows(subscriptions, *columns)
    invalid = fill(engine, rows, lambda row: row.expression)
    if invalid and on_invalid == "raise":
        raise refusal(invalid, len(rows))
    set_apart = tuple(invalid) if on_invalid == "quarantine" else ()
    return _packed(engine, validate, len(invalid), set_apart, session)


def _packed(
    engine: GraphEngine,
    validate: Validation,
    left_out: int = 0,
    invalid: tuple[InvalidSubscription, ...] = (),
    session: SparkSession | None = None,
) -> CompiledPatterns:
    image = GraphImage.of(engine)
    count = len(engine)
    return CompiledPatterns(
        image.digest, engine.matcher, validate, count, left_out, invalid, image, session
    )


def parsed_ontology(given: Ontology | str | Path | None) -> Ontology:
    """The ontology itself, or what a text or a file says; without any, one that says nothing."""
    from predicast.graph import Ontology

    if given is None:
        return Ontology()
    return given if isinstance(given, Ontology) else Ontology.parse(given)
