"""The cache that is bounded by bytes, and that all of the package's caches are made of it."""

import ast
import gc
import pickle
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import predicast
from predicast.bounded_cache import BoundedCache, remembered
from predicast.covering.filter import _reduced
from predicast.covering.ranges import as_domain
from predicast.engine.templates import _direct
from predicast.language import parametric, parse_where
from predicast.language.derived_names import may_compute
from predicast.language.parameters import _remembered
from predicast.language.where import ShapeCache
from predicast.language.where.cache import _shared, outlined_where
from predicast.language.where.shape import OUTLINES
from predicast.matching.columnar.bounds_table import _bounds
from predicast.matching.memory import deep_bytes
from predicast.model.domain import domain_of
from predicast.model.like import like_test
from predicast.model.outline import OF_VALUES, outline_of
from predicast.model.patterns import regex_test

CACHES: dict[str, BoundedCache[Any, Any]] = {
    "shapes": _shared._shapes,
    "patterns of shapes": _shared._patterns,
    "latest patterns": _shared._latest,
    "outlines of values": OF_VALUES,
    "outlines that name what is derived": may_compute.cache,
    "outlines by types": OUTLINES,
    "outlines": outline_of.cache,
    "texts with parameters": _remembered.cache,
    "templates": _direct.cache,
    "plans": _bounds.cache,
    "domains": domain_of.cache,
    "reduced domains": _reduced.cache,
    "ranges": as_domain.cache,
    "LIKE": like_test.cache,
    "RLIKE": regex_test.cache,
}


def of_size(max_bytes: int) -> BoundedCache[str, bytes]:
    return BoundedCache(max_bytes, lambda _, value: len(value))


def test_it_gives_back_what_was_put() -> None:
    cache = of_size(10_000)
    cache.put("a", b"1")
    assert cache["a"] == b"1"
    with pytest.raises(KeyError):
        cache["b"]


def test_the_cost_stays_below_the_limit() -> None:
    cache = of_size(100_000)
    for number in range(1_000):
        cache.put(str(number), bytes(number))
        assert cache.cost <= 100_000
    assert cache.cost > 40_000


def test_what_is_asked_for_stays_and_what_is_not_goes() -> None:
    cache = of_size(100_000)
    cache.put("asked for", b"1")
    cache.put("left alone", b"2")
    for number in range(1_000):
        cache.put(str(number), bytes(1_000))
        assert cache["asked for"] == b"1"
    with pytest.raises(KeyError):
        cache["left alone"]


def test_what_is_too_large_is_not_kept_and_drives_nothing_out() -> None:
    cache = of_size(100_000)
    cache.put("small", b"1")
    large = bytes(60_000)
    assert cache.put("large", large) is large
    with pytest.raises(KeyError):
        cache["large"]
    assert cache["small"] == b"1"


def test_of_two_values_the_first_is_kept() -> None:
    cache = of_size(100_000)
    first, second = bytes(1_000), bytes(1_000)
    assert cache.put("a", first) is first
    assert cache.put("a", second) is first
    assert cache.cost < 2_000


def test_a_value_takes_the_place_of_another() -> None:
    cache = of_size(10_000)
    cache.put("a", bytes(1_000))
    before = cache.cost
    cache.replace("a", bytes(500))
    assert cache["a"] == bytes(500)
    assert cache.cost == before - 500
    cache.replace("b", b"new")
    assert cache["b"] == b"new"


def test_forgetting_everything() -> None:
    cache = of_size(5_000)
    for number in range(10):
        cache.put(str(number), bytes(1_000))
    cache.clear()
    assert (len(cache), cache.cost) == (0, 0)
    with pytest.raises(KeyError):
        cache["9"]


def test_a_function_is_called_once_for_the_same_arguments_also_if_it_gives_none() -> None:
    calls = []

    @remembered(10_000, lambda *_: 1)
    def nothing(word: str) -> None:
        """Its own words."""
        calls.append(word)

    assert nothing("a") is nothing("a") is None
    assert calls == ["a"]
    assert nothing.__doc__ == "Its own words."


def test_an_error_of_the_function_is_not_kept_and_has_no_other_behind_it() -> None:
    @remembered(10_000, lambda *_: 1)
    def refuse(word: str) -> None:
        raise ValueError(word)

    for _ in range(2):
        with pytest.raises(ValueError, match="a") as caught:
            refuse("a")
        assert caught.value.__context__ is None


def test_a_function_travels_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(outline_of)) is outline_of


def test_any_number_of_threads_may_use_it() -> None:
    cache = of_size(20_000)

    def use(start: int) -> bool:
        for number in range(start, start + 2_000):
            key = str(number % 70)
            try:
                found = cache[key]
            except KeyError:
                found = cache.put(key, key.encode() * 100)
            if found != key.encode() * 100 or cache.cost > 20_000:
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(0, 80, 10)))


# The caches of the package.


def test_no_cache_is_bounded_by_a_count_alone() -> None:
    package = Path(predicast.__file__).parent
    strategies = {package / "testing" / name for name in ("strategies.py", "expressions.py")}
    # Strategies are made once for the few arguments that tests write, and hold nothing of a user.
    for path in set(package.rglob("*.py")) - strategies:
        imported = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module == "functools"
            for alias in node.names
        }
        assert not imported & {"cache", "lru_cache"}, f"{path} has a cache without a cost"


def test_no_cache_is_larger_than_it_may_be() -> None:
    for number in range(4):
        outlined_where(wide(number, tests=10))
        parametric(wide(number, tests=10) + " AND p = :p").fill({"p": number})
    for name, cache in CACHES.items():
        assert cache.cost <= 192 << 20, name


def wide(number: int, tests: int) -> str:
    """A short text with 256 clauses, which repeat each test up to 256 times."""
    choices = [f"(a{number}_{place} = {place} OR b{place} = 'x')" for place in range(8)]
    return " AND ".join(choices + [f"c{place} < {number}" for place in range(tests)])


def often(text: str) -> None:
    """Until there is a pattern of its shape."""
    for _ in range(10):
        outlined_where(text)


def twice(text: str) -> None:
    """At first the shape is remembered, then its outline."""
    outlined_where(text)
    outlined_where(text)


def cover(number: int) -> None:
    members = ", ".join(f"'{number}-{each}'" for each in range(20))
    [clause] = parse_where(f"x IN ({members})").clauses
    domain_of(clause.constraints, "fails")


EVERYDAY: dict[str, tuple[Callable[[int], object], BoundedCache[Any, Any]]] = {
    "outlines": (lambda n: outlined_where(f"o{n} < 1 AND p{n} = 'x' OR q{n}"), outline_of.cache),
    "outlines by types": (lambda n: twice(f"t{n} < {n}.5 AND u{n} = 'x'"), OUTLINES),
    "patterns": (lambda n: often(f"v{n} < {n}.5 AND w{n} = 'x'"), _shared._patterns),
    "texts": (lambda n: parametric(f"a{n} BETWEEN :x AND :y AND b{n} = :z"), _remembered.cache),
    "domains": (cover, domain_of.cache),
}  # fmt: skip


@pytest.mark.parametrize("name", EVERYDAY)
def test_a_cost_is_about_what_is_held(name: str) -> None:
    fill, cache = EVERYDAY[name]
    fill(1_000)
    cache.clear()
    before = cache.cost
    for number in range(100):
        fill(number)
    held, told = deep_bytes(dict(cache)), cache.cost - before
    assert held / 3 < told < held * 6


def test_the_cost_of_a_pattern_grows_with_its_program() -> None:
    assert regex_test("a{500}").cost > 5 * regex_test("a").cost


SHAPES = {
    "small": [
        f"a{n} < {n} AND b{n} IN ('x', 'y', 'z') AND (c{n} LIKE 'x%' OR d{n} > 5)"
        for n in range(200)
    ],
    "of many clauses": [wide(n, tests=20) for n in range(3)],
    "of many literals": [f"a{n} IN ({', '.join(map(str, range(2_000)))})" for n in range(3)],
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_cost_what_python_allocates_for_them(name: str) -> None:
    texts, cache = SHAPES[name], ShapeCache()
    for text in texts:
        ShapeCache().parse(text)  # what is remembered elsewhere, is so already
    gc.collect()
    tracemalloc.start()
    try:
        for text in texts:
            cache.parse(text)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(cache) == len(texts)
    assert held / 3 < cache.cost < held * 3
