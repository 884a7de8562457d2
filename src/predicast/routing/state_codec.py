"""The state of a broker as bytes, for whoever keeps it: JSON behind a checksum.

What was cut short or altered on a disk is a ``DamagedStateError``, and never a broker that has
forgotten half of what it promised.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import msgspec

from predicast.errors import DamagedStateError, PredicastError
from predicast.routing.codec import (
    WirePublished,
    WireSubscribe,
    decode,
    encode,
    expression_in,
    expression_out,
    operation_in,
    operation_out,
    published_in,
    published_out,
)
from predicast.routing.interface import Role
from predicast.routing.messages import Numbered
from predicast.routing.state import (
    IncomingState,
    InterfaceChange,
    InterfaceRecord,
    OutgoingState,
    RouterState,
    StateChange,
)

_VERSION: Final = b"predicast-broker-1 "
_SAME: Final = (  # fields that are written as they are
    "peer",
    "role",
    "incoming",
    "is_known",
    "is_known_there",
    "was_there",
    "is_ignored",
    "leaving",
    "said_bye",
    "heard_bye",
)
_SAME_OUTGOING: Final = (
    "epoch",
    "next_sequence",
    "acknowledged",
    "settled",
    "announced",
    "whole_at",
)


class _Outgoing(msgspec.Struct, forbid_unknown_fields=True):
    epoch: int
    next_sequence: int
    acknowledged: int
    settled: int
    announced: int
    whole_at: int
    kept: list[msgspec.Raw]


class _Record(msgspec.Struct, forbid_unknown_fields=True):
    peer: str
    role: Role
    incoming: IncomingState
    is_known: bool
    is_known_there: bool
    was_there: bool
    is_ignored: bool
    leaving: bool
    said_bye: bool
    heard_bye: bool
    outgoing: _Outgoing
    wanted: list[WireSubscribe]
    told: dict[str, msgspec.Raw]
    announced_again: list[str] | None
    held: list[WirePublished]


class _State(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    next_epoch: int
    interfaces: list[_Record]
    repeats: dict[str, tuple[int, ...]]


class _InterfaceChange(msgspec.Struct, forbid_unknown_fields=True):
    record: _Record
    kept_from: int
    held_from: int
    unwanted: tuple[str, ...]
    untold: tuple[str, ...]
    is_told_anew: bool


class _Change(msgspec.Struct, forbid_unknown_fields=True):
    next_epoch: int
    interfaces: list[_InterfaceChange]
    gone: tuple[str, ...]
    repeats: dict[str, tuple[int, ...]]


_SAME_CHANGE: Final = ("kept_from", "held_from", "unwanted", "untold", "is_told_anew")


def change_to_bytes(change: StateChange) -> bytes:
    """What has changed of a state, to be kept; a journal sees to checksums."""
    changes = [
        _InterfaceChange(
            _record_out(each.record), **{name: getattr(each, name) for name in _SAME_CHANGE}
        )
        for each in change.interfaces
    ]
    return msgspec.json.encode(_Change(change.next_epoch, changes, change.gone, change.repeats))


def change_from_bytes(data: bytes) -> StateChange:
    """What was kept of a change."""
    try:
        wire = msgspec.json.decode(data, type=_Change)
        changes = tuple(
            InterfaceChange(
                _record_in(each.record), **{name: getattr(each, name) for name in _SAME_CHANGE}
            )
            for each in wire.interfaces
        )
    except (msgspec.DecodeError, PredicastError) as error:
        raise DamagedStateError(
            f"a change of the broker's state cannot be read: {error}"
        ) from error
    return StateChange(wire.next_epoch, changes, wire.gone, wire.repeats)


def state_to_bytes(state: RouterState) -> bytes:
    """The state, to be kept."""
    records = [_record_out(each) for each in state.interfaces]
    body = msgspec.json.encode(_State(state.name, state.next_epoch, records, state.repeats))
    return _VERSION + b"%08x " % zlib.crc32(body) + body


def state_from_bytes(data: bytes) -> RouterState:
    """The state that was kept; damaged, it is refused."""
    version, checksum, body = data[:19], data[19:27], data[28:]
    if version != _VERSION:
        raise DamagedStateError("these bytes are no broker's state, or another version's")
    if checksum != b"%08x" % zlib.crc32(body):
        raise DamagedStateError("the broker's state was cut short or altered")
    try:
        wire = msgspec.json.decode(body, type=_State)
        interfaces = tuple(_record_in(each) for each in wire.interfaces)
    except (msgspec.DecodeError, PredicastError) as error:
        raise DamagedStateError(f"the broker's state cannot be read: {error}") from error
    return RouterState(wire.name, wire.next_epoch, interfaces, wire.repeats)


def _record_out(record: InterfaceRecord) -> _Record:
    out = record.outgoing
    again = record.announced_again
    wanted = [operation_out(each) for each in record.wanted]
    return _Record(
        **{name: getattr(record, name) for name in _SAME},
        outgoing=_Outgoing(
            **{name: getattr(out, name) for name in _SAME_OUTGOING},
            kept=[msgspec.Raw(encode(each)) for each in out.kept],
        ),
        wanted=[each for each in wanted if isinstance(each, WireSubscribe)],
        told={id: expression_out(each) for id, each in record.told.items()},
        announced_again=None if again is None else sorted(again),
        held=[published_out(each) for each in record.held],
    )


def _record_in(wire: _Record) -> InterfaceRecord:
    out, again = wire.outgoing, wire.announced_again
    kept: Any = tuple(decode(bytes(each)) for each in out.kept)
    if not all(isinstance(each, Numbered) for each in kept):
        raise DamagedStateError(f"what was kept for {wire.peer!r} is no part of a stream")
    wanted: Any = tuple(operation_in(each) for each in wire.wanted)
    return InterfaceRecord(
        **{name: getattr(wire, name) for name in _SAME},
        outgoing=OutgoingState(
            **{name: getattr(out, name) for name in _SAME_OUTGOING},
            kept=kept,
        ),
        wanted=wanted,
        told={id: expression_in(each) for id, each in wire.told.items()},
        announced_again=None if again is None else frozenset(again),
        held=tuple(published_in(each) for each in wire.held),
    )
