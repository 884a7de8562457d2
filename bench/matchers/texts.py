"""Pattern workload: prefixes, suffixes, substrings and LIKE over addresses and product names.

Strings are put together from a vocabulary, as addresses and names are: a few hosts and brands turn
up again and again, the rest is long and varied.

    https://shop.example/garden/tools/red-oak-chair-4711?ref=mail        url
    Red Oak Chair 4711                                                   name
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from bench.matchers.workload import Comparison, Shape, Workload

HOSTS: Final = ("shop", "news", "maps", "mail", "blog", "docs", "forum", "media")
SECTIONS: Final = (
    "garden", "kitchen", "office", "outdoor", "sports", "music",
    "books", "travel", "health", "pets", "art", "toys",
)  # fmt: skip
COLOURS: Final = (
    "red", "blue", "green", "black", "white", "amber",
    "ivory", "teal", "olive", "plum", "navy", "coral",
)  # fmt: skip
MATERIALS: Final = (
    "oak", "steel", "glass", "linen", "cork", "clay",
    "brass", "wool", "paper", "stone", "silk", "pine",
)  # fmt: skip
THINGS: Final = (
    "chair", "lamp", "table", "kettle", "mirror", "basket", "bench", "shelf", "clock", "vase",
    "stool", "frame", "tray", "bowl", "candle", "drawer", "easel", "funnel", "goblet", "hammer",
    "inkwell", "jug", "knife", "ladder", "mortar", "nozzle", "opener", "rug",
)  # fmt: skip
SOURCES: Final = ("mail", "search", "home", "friend", "print")
NUMBERS: Final = 10_000
# Each fifth of the subscriptions has one of these shapes.
SHAPES: Final = ("url prefix", "url suffix", "name contains", "url like", "name prefix and section")


def texts_workload(subscriptions: int, events: int, seed: int = 0) -> Workload:
    """Subscriptions by shape in turn; every event has a url, a name and a section."""
    chance = np.random.default_rng([seed, 3])
    rows = np.arange(subscriptions)
    shapes = tuple(
        _SHAPES[name](rows[number :: len(SHAPES)], chance) for number, name in enumerate(SHAPES)
    )
    return Workload(
        family="strings",
        subscriptions=subscriptions,
        shapes=tuple(shape for shape in shapes if len(shape.rows)),
        events=text_events(events, np.random.default_rng([seed, 4])),
    )


def text_events(events: int, chance: np.random.Generator) -> pa.RecordBatch:
    """Addresses of products, and the products' names."""
    section = _words(SECTIONS, events, chance)
    colour, material, thing = (_words(words, events, chance) for words in _NAME)
    number = _numbers(events, chance)
    url = _joined(
        *_address(events, chance, section), "/", colour, "-", material, "-", thing, "-", number,
        "?ref=", _words(SOURCES, events, chance),
    )  # fmt: skip
    name = _joined(*(np.strings.capitalize(each) for each in (colour, " ", material, " ", thing)))
    return pa.RecordBatch.from_pydict(
        {"url": url, "name": _joined(name, " ", number), "section": section}
    )


def _prefix(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    address = _address(len(rows), chance, _words(SECTIONS, len(rows), chance))
    colour, material = (_words(words, len(rows), chance) for words in _NAME[:2])
    columns = {"head": _joined(*address, "/", colour, "-", material)}
    return Shape(rows, ((Comparison("url", "prefix", ("head",)),),), columns)


def _suffix(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    thing, source = _words(THINGS, len(rows), chance), _words(SOURCES, len(rows), chance)
    digits = chance.integers(100, size=len(rows)).astype("U2")
    columns = {"tail": _joined(digits, "?ref=", source), "thing": _joined("-", thing, "-")}
    clause = (Comparison("url", "suffix", ("tail",)), Comparison("url", "contains", ("thing",)))
    return Shape(rows, (clause,), columns)


def _contains(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    material, thing = (_words(words, len(rows), chance) for words in _NAME[1:])
    part = _joined(np.strings.capitalize(material), " ", np.strings.capitalize(thing))
    digit = chance.integers(10, size=len(rows)).astype("U1")
    columns = {"part": _joined(part, " ", digit)}
    return Shape(rows, ((Comparison("name", "contains", ("part",)),),), columns)


def _like(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    address = _address(len(rows), chance, _words(SECTIONS, len(rows), chance))
    digits = chance.integers(10, size=len(rows)).astype("U1")
    columns = {
        "head": _joined(*address, "/"),
        "tail": _joined(digits, "?ref=", _words(SOURCES, len(rows), chance)),
    }
    return Shape(rows, ((Comparison("url", "like", ("head", "tail")),),), columns)


def _named(rows: np.ndarray, chance: np.random.Generator) -> Shape:
    colour, material = (_words(words, len(rows), chance) for words in _NAME[:2])
    columns = {
        "head": _joined(np.strings.capitalize(colour), " ", np.strings.capitalize(material)),
        "section": _words(SECTIONS, len(rows), chance),
    }
    clause = (Comparison("section", "=", ("section",)), Comparison("name", "prefix", ("head",)))
    return Shape(rows, (clause,), columns)


_NAME: Final = (COLOURS, MATERIALS, THINGS)
_SHAPES: Final = dict(zip(SHAPES, (_prefix, _suffix, _contains, _like, _named), strict=True))


def _address(count: int, chance: np.random.Generator, section: np.ndarray) -> tuple[object, ...]:
    return "https://", _words(HOSTS, count, chance), ".example/", section


def _words(words: tuple[str, ...], count: int, chance: np.random.Generator) -> np.ndarray:
    return np.array(words)[chance.integers(len(words), size=count)]


def _numbers(count: int, chance: np.random.Generator) -> np.ndarray:
    return chance.integers(NUMBERS, size=count).astype("U4")


def _joined(*parts: object) -> np.ndarray:
    whole: np.ndarray = np.strings.add(parts[0], parts[1])  # type: ignore[call-overload]
    for part in parts[2:]:
        whole = np.strings.add(whole, part)  # type: ignore[call-overload]
    return whole
