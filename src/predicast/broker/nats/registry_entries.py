"""What stands in the bucket of subscriptions: windows of changes, and what came of them.

=====================  ===========================================================================
``window.<name>``      a window: its operations, or of how many parts it is
``part.<name>.<n>``    a part of a window that is too large for one message
``id.<token>``         a subscription as it was when the windows up to ``as_of`` had been applied
``folded``             up to where all windows have been folded into subscriptions, and can go
``refused``            where windows stand that were refused: all agree, but cannot tell any more
                       when what they were refused for has been folded
=====================  ===========================================================================

A window takes effect where its one entry stands in the stream, whole, whatever came before or after
it. Parts are written first: without their window they are nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import msgspec

from predicast.errors import DamagedStoreError, shortened
from predicast.language.json_form import event_from_document, event_to_json
from predicast.language.parameter_values import parameter_values
from predicast.protocol.records import Adjust, Definition, Put, RegistryOperation, Remove

WINDOW: Final = "window"
PART: Final = "part"
ID: Final = "id"
FOLDED: Final = "folded"
REFUSED: Final = "refused"


class PutStep(msgspec.Struct, frozen=True, tag="put", omit_defaults=True):
    """A ``Put``; parameters are the text of a JSON object, as everywhere in files."""

    definition: Definition
    parameters: str | None = None
    replace: bool = False
    over: int | None = None


class AdjustStep(msgspec.Struct, frozen=True, tag="adjust"):
    """An ``Adjust``."""

    id: str
    parameters: str


class RemoveStep(msgspec.Struct, frozen=True, tag="remove"):
    """A ``Remove``."""

    id: str


class LeaseStep(msgspec.Struct, frozen=True, tag="lease"):
    """An ephemeral subscription is served by this process from now on."""

    id: str
    process: str


class OrphansStep(msgspec.Struct, frozen=True, tag="orphans"):
    """A process is gone, and with it the ephemeral subscriptions that it served."""

    process: str


Step: TypeAlias = PutStep | AdjustStep | RemoveStep | LeaseStep | OrphansStep


class WindowEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A window, the process that asked for it, and where the events ended when it did so."""

    process: str
    after: int
    steps: list[Step] = []
    parts: int = 0


class Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subscription that is there.

    ``born`` is the window that brought it; what it gets are events behind ``after``. An ephemeral
    one is served by ``process``.
    """

    definition: Definition
    born: int
    after: int
    process: str
    parameters: str | None = None


class IdEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A subscription after the windows up to ``as_of``; it is gone if nothing is held."""

    id: str
    as_of: int
    held: Held | None = None


class FoldedEntry(msgspec.Struct, frozen=True):
    """All windows up to ``as_of``, so many since the beginning, are in the entries of their ids."""

    as_of: int
    windows: int


class RefusedEntry(msgspec.Struct, frozen=True):
    """Windows that changed nothing, by where they stand."""

    windows: list[int]


Entry: TypeAlias = WindowEntry | IdEntry | FoldedEntry | RefusedEntry | list[Step]

_window: Final = msgspec.json.Decoder(WindowEntry)
_steps: Final = msgspec.json.Decoder(list[Step])
_id: Final = msgspec.json.Decoder(IdEntry)
_folded: Final = msgspec.json.Decoder(FoldedEntry)
_refused: Final = msgspec.json.Decoder(RefusedEntry)
_DECODERS: Final = {
    WINDOW: _window,
    PART: _steps,
    ID: _id,
    FOLDED: _folded,
    REFUSED: _refused,
}
encoded: Final = msgspec.json.encode


def step_of(operation: RegistryOperation) -> Step:
    """The operation as it is written down."""
    if isinstance(operation, Put):
        definition = operation.definition
        parameters = parameters_text(definition.parameters)
        bare = msgspec.structs.replace(definition, parameters=None)
        return PutStep(bare, parameters, operation.replace, operation.over)
    if isinstance(operation, Adjust):
        return AdjustStep(operation.id, parameters_text(operation.parameters) or "{}")
    return RemoveStep(operation.id)


def with_parameters(definition: Definition, parameters: str | None) -> Definition:
    """The definition with its parameters as values."""
    return msgspec.structs.replace(definition, parameters=parameter_values(parameters))


def operation_of(step: Step) -> RegistryOperation | None:
    """What was written down, as an operation; a lease is none that engines know."""
    if isinstance(step, PutStep):
        definition = with_parameters(step.definition, step.parameters)
        return Put(definition, step.replace, step.over)
    if isinstance(step, AdjustStep):
        return Adjust(step.id, parameter_values(step.parameters) or {})
    return Remove(step.id) if isinstance(step, RemoveStep) else None


def parameters_text(parameters: Any) -> str | None:
    """Values of parameters as JSON that says of each what it is."""
    return None if parameters is None else event_to_json(event_from_document(dict(parameters)))


def entry_of(key: str, data: bytes) -> Entry | None:
    """What stands under a key; nothing if the key is none of ours."""
    decoder: Any = _DECODERS.get(key.partition(".")[0])
    if decoder is None:
        return None
    try:
        return decoder.decode(data)  # type: ignore[no-any-return]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedStoreError(
            f"the entry {shortened(key)} among the subscriptions cannot be read: {error}",
            where=key,
        ) from error


def parted(steps: Sequence[Step], most_bytes: int) -> list[list[Step]]:
    """The steps in parts that a message can hold; a step that is too large is alone."""
    parts: list[list[Step]] = [[]]
    size = 0
    for step in steps:
        length = len(encoded(step)) + 1
        if parts[-1] and size + length > most_bytes:
            parts.append([])
            size = 0
        parts[-1].append(step)
        size += length
    return parts
