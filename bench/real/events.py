"""Events like those of the corpus, as many as are wanted: each is one of them that happened again.

The same program ran elsewhere: another user on another computer, other process ids, other ids of
logons, another time, in another folder below the usual ones, with other numbers on its command
line, or one more argument. What the programs are and what they were asked to do stays, so that
rules go on firing. Some command lines repeat, as they do in logs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from bench.real.corpus import with_text

Event = dict[str, Any]

_USERS: Final = 400
_COMPUTERS: Final = 1_000
_ACCOUNTS: Final = ("User", "ParentUser", "SourceUser", "TargetUser", "SubjectUserName")
_FOLDERS: Final = re.compile(r"\\(Downloads|Temp|Desktop|Documents|Public)\\", re.IGNORECASE)
_SAME_COMMAND: Final = 0.3  # the part of command lines that stay as they are if nothing varies them
_ACCOUNT_ID: Final = re.compile(r"\bS-1-5-21(?:-\d+){4}\b")
_LONG_NUMBER: Final = re.compile(r"(?<![\w.])\d{3,}(?![\w.])")
_GUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_HASH: Final = re.compile(r"\b(MD5|SHA1|SHA256)=([0-9A-F]+)")
_TIME: Final = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$")
_HEXADECIMAL: Final = re.compile(r"^0x[0-9a-f]{4,}$")


def like(events: Sequence[Event], count: int, *, seed: int = 0) -> list[Event]:
    """So many events, each like one of those given, with the attribute that keywords stand in."""
    chance = random.Random(seed)
    return [with_text(_again(chance, events[number % len(events)])) for number in range(count)]


def _again(chance: random.Random, event: Event) -> Event:
    users = _user_names(event)
    user = f"user{chance.randrange(_USERS):03}"
    folder = f"\\{chance.randrange(16**6):06x}\\"
    numbers = _remembered(lambda number: str(chance.randrange(10 ** len(number))).zfill(3))
    changed: Event = {}
    for name, value in event.items():
        if isinstance(value, int):
            changed[name] = 4 * chance.randrange(1, 6_000) if name.endswith("ProcessId") else value
            continue
        text = _random_parts(chance, value)
        for each in users:
            text = text.replace(each, user)
        text = _FOLDERS.sub(lambda found: found[0][:-1] + folder, text)
        if name.endswith("CommandLine"):
            text = _LONG_NUMBER.sub(lambda found: numbers(found[0]), text)
        if name == "CommandLine" and text == value and chance.random() > _SAME_COMMAND:
            text += f" {chance.getrandbits(32):08x}"
        changed[name] = text
    changed["Computer"] = f"host-{chance.randrange(_COMPUTERS)}.example.org"
    return changed


def _user_names(event: Event) -> list[str]:
    """The names of people in an event, the longest first; not those of the system's accounts."""
    accounts = [str(event[name]).rpartition("\\")[2] for name in _ACCOUNTS if name in event]
    people = {name for name in accounts if len(name) > 3 and name.isalnum() and not name.isupper()}
    return sorted(people, key=len, reverse=True)


def _random_parts(chance: random.Random, text: str) -> str:
    """The text with what is random in it drawn anew: times, ids, hashes."""
    if _TIME.match(text):
        return _time(chance)
    if _HEXADECIMAL.match(text):
        return f"0x{chance.getrandbits(24):x}"
    text = _GUID.sub(lambda _: _guid(chance), text)
    text = _ACCOUNT_ID.sub(lambda _: _account_id(chance), text)
    return _HASH.sub(lambda found: f"{found[1]}={_hash(chance, len(found[2]))}", text)


def _time(chance: random.Random) -> str:
    day, hour, minute = chance.randrange(1, 29), chance.randrange(24), chance.randrange(60)
    return f"2026-01-{day:02} {hour:02}:{minute:02}:{chance.uniform(0, 59.9):06.3f}"


def _guid(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032X}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _account_id(chance: random.Random) -> str:
    numbers = [chance.getrandbits(32) for _ in range(3)]
    return "-".join(map(str, ("S-1-5-21", *numbers, chance.randrange(1_000, 1_500))))


def _hash(chance: random.Random, digits: int) -> str:
    return f"{chance.getrandbits(4 * digits):0{digits}X}"


def _remembered(make: Callable[[str], str]) -> Callable[[str], str]:
    """The same number stays the same throughout an event."""
    made: dict[str, str] = {}
    return lambda key: made.setdefault(key, make(key))


def event_table(events: Sequence[Event]) -> pa.Table:
    """The events as columns: integers where an attribute has no other values, else strings."""
    names = list(dict.fromkeys(name for event in events for name in event))
    return pa.table({name: _column([event.get(name) for event in events]) for name in names})


def _column(values: Sequence[Any]) -> pa.Array:
    if all(value is None or isinstance(value, int) for value in values):
        return pa.array(values, pa.int64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())
