"""Running a window of operations, with a report of what became of them.

A window is all or nothing, unless the caller wants what is refused to be left out and listed. A
matcher refuses a whole window; to learn which operations it means, they are then run one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from predicast.engine.operations import Operation, Refusal, Report
from predicast.engine.store_of import AnyStore
from predicast.engine.windows import Reads, Said, read
from predicast.errors import PredicastError, UnsupportedByMatcherError
from predicast.matching.delta import Effect

OnRefusal: TypeAlias = Literal["raise", "report"]


# An operation of a window, where it stands, and what its expression says.
Read: TypeAlias = tuple[int, Operation, Said | None]


def read_all(
    operations: Sequence[Operation], on_refusal: OnRefusal, reader: Reads
) -> tuple[list[Read], list[Refusal]]:
    """The operations with what they state, and those that cannot be read."""
    reads: list[Read] = []
    refused: list[Refusal] = []
    for position, operation in enumerate(operations):
        try:
            reads.append((position, operation, read(operation, reader)))
        except PredicastError as error:
            if on_refusal == "raise":
                error.add_note(f"operation {position} of the window")
                raise
            refused.append(Refusal(position, operation, error))
    return reads, refused


def run_together(
    store: AnyStore,
    reads: list[Read],
    refused: list[Refusal],
    on_refusal: OnRefusal,
) -> Report:
    """Run operations in one step; ``refused`` are those that could not even be read."""
    window = store.window()
    refused_here: list[Refusal] = []
    for position, operation, said in reads:
        try:
            window.take(operation, said)
        except PredicastError as error:
            if on_refusal == "raise":
                error.add_note(f"operation {position} of the window")
                raise
            refused_here.append(Refusal(position, operation, error))
    try:
        effect = store.run(window)
    except UnsupportedByMatcherError:
        if on_refusal == "raise":
            raise
        return _run_apart(store, reads, refused)
    return _report(len(reads) - len(refused_here), effect, [*refused, *refused_here])


def _run_apart(store: AnyStore, reads: list[Read], refused: list[Refusal]) -> Report:
    """Run a window of which the matcher refuses something one by one, to learn what."""
    taken, effect = 0, Effect()
    refused_here: list[Refusal] = []
    for position, operation, said in reads:
        window = store.window()
        try:
            window.take(operation, said)
            effect += store.run(window)
            taken += 1
        except PredicastError as error:
            refused_here.append(Refusal(position, operation, error))
    return _report(taken, effect, [*refused, *refused_here])


def _report(taken: int, effect: Effect, refused: list[Refusal]) -> Report:
    """``taken`` operations had this effect, once they were collapsed."""
    return Report(
        taken + len(refused),
        taken - sum(effect),
        *effect,
        tuple(sorted(refused, key=lambda refusal: refusal.position)),
    )
