"""One round: an engine and the oracle go through the same random history, and are asked on the way.

    load ── change ── ask ── window ── settle ── ask ── load ── ask ── unsubscribe half ── ask …
                                                           └─ a merge runs meanwhile ─┘

The seed decides the steps, not how far a merge has come when the next event is matched. So that
small numbers of subscriptions, too, fill blocks and are merged, an engine is *tuned* in some
rounds: it compiles at once, and its blocks are of two clauses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from random import Random
from typing import Final

from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast.engine.operations import Operation
from predicast.matching.columnar import Columnar
from predicast.matching.columnar.layout.blocks import Layout
from predicast.model import Absent, Subscription
from tests.differential.asking import (
    ARROW_WAYS,
    DICT_WAYS,
    Ask,
    Difference,
    answer,
    compared,
    expected,
)
from tests.differential.event_batches import Batch
from tests.differential.sources import Source
from tests.differential.steps import (
    Changes,
    Refused,
    RoundTrip,
    Settle,
    Step,
    Tune,
    note,
)

ORACLE: Final = "brute-force"
_FEW: Final = 5_000  # subscriptions; thousands of events against more make long answers
_BY_DEFINITION: Final = 100  # subscriptions for which the oracle itself is checked, per ask


@dataclass(frozen=True, slots=True)
class Scale:
    """About how many subscriptions stand, how many steps are made, how many events are asked."""

    subscriptions: int
    steps: int
    events: int


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the columnar matcher sets for all engines, set for one; nothing leaves it as it is."""

    compile_threshold: float | None = None
    small: int | None = None
    layout: Layout | None = None


@dataclass(frozen=True, slots=True)
class Contender:
    """The matcher under test: its name, and how it is tuned."""

    matcher: str
    tuning: Tuning = Tuning()

    def engine(self, absent: Absent) -> Engine:
        engine = Engine(matcher=self.matcher, absent=absent)
        self.tune(engine)
        return engine

    def tune(self, engine: Engine) -> None:
        if isinstance(engine._store.matcher, Columnar):
            for each in fields(Tuning):
                value = getattr(self.tuning, each.name)
                if value is not None:
                    setattr(engine._store.matcher, each.name, value)


@dataclass(slots=True)
class Tally:
    """What a round came to."""

    decisions: int = 0
    matches: int = 0
    changes: int = 0
    merges: int = 0  # steps in which clauses were merged
    beside: int = 0  # asks while a merge was running


@dataclass(slots=True)
class Outcome:
    """The history of a round, and the difference at its end if there is one."""

    tally: Tally = field(default_factory=Tally)
    history: list[Step] = field(default_factory=list)
    difference: Difference | None = None


class Walk:
    """A round under way."""

    def __init__(
        self, contender: Contender, source: Source, scale: Scale, absent: Absent, chance: Random
    ) -> None:
        self._source = source
        self._scale = scale
        self._chance = chance
        self._tune: Tune = contender.tune
        self._engine = contender.engine(absent)
        self._oracle = Engine(matcher=ORACLE, absent=absent)
        self._absent: Absent = absent
        self._standing: dict[str, Subscription] = {}
        self._gone: list[str] = []
        self._merged = 0
        self.outcome = Outcome()

    def run(self, advance: Callable[[int], None] = lambda _: None) -> Outcome:
        """All the steps, or those up to the first difference."""
        loads = self._chance.randint(1, 3)
        for _ in range(loads):
            self._step(self._source.bulk(max(1, self._scale.subscriptions // loads)))
        for _ in range(self._scale.steps):
            if self.outcome.difference is not None:
                break
            self._step(self._draw_step())
            for _ in range(self._chance.choice((0, 1, 1, 2))):
                self._ask(advance)
        return self.outcome

    # Steps.

    def _draw_step(self) -> Step:
        size = self._scale.subscriptions
        draws: list[tuple[int, Callable[[], Step]]] = [
            (9, lambda: Changes(self._operations(30), is_window=False)),
            (5, lambda: Changes(self._operations(60), is_window=True)),
            (1, lambda: Refused(self._operations(20, is_undone=True))),
            (2, Settle),
            (1, lambda: RoundTrip(self._chance.random() < 0.3)),
        ]
        if len(self._standing) < 1.5 * size:
            most = max(2, size // self._chance.choice((3, 10, 30)))
            draws.append((3, lambda: self._source.bulk(self._chance.randint(1, most))))
        if len(self._standing) > 0.7 * size:
            draws.append((1, self._removal))
        weights = [weight for weight, _ in draws]
        _, make = self._chance.choices(draws, weights)[0]
        return make()

    def _operations(self, most: int, *, is_undone: bool = False) -> tuple[Operation, ...]:
        """Operations that are valid one after the other; nobody is gone if they are undone."""
        standing, gone = list(self._standing), list(self._gone)
        operations: list[Operation] = []
        for _ in range(self._chance.randint(1, most)):
            id, subscription = self._source.one()
            draw = self._chance.random()
            if draw < 0.4 and standing:
                operations.append(Change(self._chance.choice(standing), subscription))
            elif draw < 0.65 and standing:
                place = self._chance.randrange(len(standing))
                standing[place], standing[-1] = standing[-1], standing[place]
                gone.append(standing.pop())
                operations.append(Unsubscribe(gone[-1]))
            else:
                if gone and draw < 0.8:  # somebody comes back
                    id = gone.pop(self._chance.randrange(len(gone)))
                operations.append(Subscribe(id, subscription))
                standing.append(id)
        if not is_undone:
            self._gone = gone
        return tuple(operations)

    def _removal(self) -> Step:
        share = self._chance.choice((0.3, 0.5, 0.6, 0.7, 1.0))
        ids = self._chance.sample(list(self._standing), int(share * len(self._standing)))
        self._gone += ids
        return Changes(tuple(map(Unsubscribe, ids)), is_window=self._chance.random() < 0.3)

    def _step(self, step: Step) -> None:
        outcome = self.outcome
        if outcome.difference is not None:
            return
        outcome.history.append(step)
        step.run_plainly(self._oracle)
        outcome.tally.changes += note(step, self._standing)
        try:
            self._engine = step.run(self._engine, self._tune)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is a difference
            outcome.difference = Difference(f"{type(step).__name__} raised {error!r}")
            return
        if len(self._engine) != len(self._oracle):
            what = f"{len(self._engine)} subscriptions stand, not {len(self._oracle)}"
            outcome.difference = Difference(what)

    # Asking.

    def _ask(self, advance: Callable[[int], None]) -> None:
        if self.outcome.difference is not None:
            return
        ask = self._draw_ask()
        self.outcome.history.append(ask)
        tally = self.outcome.tally
        tally.beside += self._engine.statistics().get("merging", 0)
        try:
            got = answer(self._engine, ask)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is a difference
            self.outcome.difference = Difference(f"{ask.way} raised {error!r}")
            return
        wanted = expected(self._oracle, ask)
        difference = compared(ask, got, wanted)
        if difference is None:
            difference = self._by_definition(ask, wanted)
        elif not difference.missing and not difference.extra:
            difference = self._named(difference, ask, wanted)
        self.outcome.difference = difference
        decisions = len(ask.batch) * len(self._standing)
        tally.decisions += decisions
        tally.matches += sum(map(len, wanted))
        self._count_merges()
        advance(decisions)

    def _draw_ask(self) -> Ask:
        standing = list(self._standing.values())
        batch = self._source.events(self._draw_count(), standing)
        ways = DICT_WAYS if batch.arrow is None else DICT_WAYS + 2 * ARROW_WAYS
        way = self._chance.choice(ways)
        if way not in ARROW_WAYS:
            return Ask(batch, way)
        limit = self._chance.choice((1, 1, 2, 10, 1000)) if self._chance.random() < 0.3 else None
        return Ask(batch, way, limit, in_table=self._chance.random() < 0.2)

    def _draw_count(self) -> int:
        """None, some, or so many that they are coded in pieces."""
        most = 2 * self._scale.events
        if self._chance.random() < 0.02 and self._scale.subscriptions < _FEW:
            most *= 25
        return self._chance.randint(0, most)

    def _named(self, difference: Difference, ask: Ask, wanted: list[list[str]]) -> Difference:
        """With the ids that a count or a limit has kept to itself, if the engine still errs."""
        if difference.event is None:
            return difference
        alone = Ask(Batch((difference.event,)), "match")
        again = compared(alone, answer(self._engine, alone), [wanted[difference.place]])
        if again is None:
            return difference
        return replace(difference, missing=again.missing, extra=again.extra)

    def _by_definition(self, ask: Ask, wanted: list[list[str]]) -> Difference | None:
        """The oracle tests whole columns; that it does so rightly is checked by the model."""
        if not wanted:
            return None
        place = self._chance.randrange(len(wanted))
        event, found = ask.batch.events[place], set(wanted[place])
        ids = list(self._standing)
        for id in self._chance.sample(ids, min(_BY_DEFINITION, len(ids))):
            if self._standing[id].matches(event, self._absent) != (id in found):
                missing, extra = ((), (id,)) if id in found else ((id,), ())
                return Difference("the oracle is wrong", event, place, missing, extra)
        return None

    def _count_merges(self) -> None:
        merged = self._engine.statistics().get("merged", 0)
        self.outcome.tally.merges += merged > self._merged
        self._merged = merged
