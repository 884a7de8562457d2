"""The rules of the house that a machine can check: who imports whom, and what is exported."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import predicast
from predicast import errors

SOURCE = Path(predicast.__file__).parent

DOCS = SOURCE.parent.parent / "docs"

# What each part of the package is for, and which others it may import; imports point one way. The
# code map in the documentation shows this table, and a test below holds it to that.
PARTS: dict[str, tuple[str, str]] = {
    "errors/": ("the whole error tree", ""),
    "locks.py": ("locks that a forked process finds free", ""),
    "bounded_cache.py": ("what all caches are: bounded by bytes", "locks"),
    "arrays/": ("what NumPy lacks: groups that stand side by side, strings as bytes, a type", ""),
    "model/": (
        "values, events, constraints, subscriptions; outlines and columns of operands",
        "errors locks bounded_cache",
    ),
    "derived/": (
        "expressions over attributes: trees, functions, what they make of one event",
        "errors bounded_cache model",
    ),
    "arrow/": (
        "the Arrow edge: what is accepted as a table, its columns brought to plain layouts",
        "errors model",
    ),
    "language/": (
        "text, JSON and Arrow to subscriptions and back; texts with parameters",
        "errors locks bounded_cache model derived arrow",
    ),
    "covering/": (
        "which subscriptions cover which: the relation, the graph of filters, merging",
        "errors bounded_cache model",
    ),
    "matching/": (
        "the `Matcher` interface, the registry, batches of events; a folder per algorithm",
        "errors locks arrays bounded_cache model derived arrow covering",
    ),
    "engine/": (
        "`Engine` and its parts: store, ids, statements, windows, changes, snapshots",
        "errors locks arrays bounded_cache model derived arrow language covering matching",
    ),
    "graph/": (
        "events that are graphs: ontologies, event graphs, patterns and what matches them",
        "errors locks arrays bounded_cache model derived arrow language covering matching engine",
    ),
    "routing/": (
        "brokers in a tree, without I/O: messages, interfaces, what each neighbour is told",
        "errors bounded_cache model language covering engine",
    ),
    "protocol/": (
        "what brokers and their clients say to each other: records, frames",
        "errors model language",
    ),
    "client/": ("clients of a broker, async and sync", "errors model language protocol"),
    "broker/": (
        "tenants, backends, sessions, the server, links between brokers",
        (
            "errors locks arrays bounded_cache model arrow language covering engine graph "
            "routing protocol client"
        ),
    ),
    "console/": (
        "a broker's pages for people, at its own address",
        "errors model language engine protocol broker",
    ),
    "testing/": (
        "strategies and conformance suites, for people who add a matcher, a dialect or a backend",
        "errors model derived language covering matching engine graph protocol broker",
    ),
    "spark/": (
        "the same matching over DataFrames, batch and streaming",
        (
            "errors locks arrays bounded_cache model arrow language covering matching engine graph "
            "protocol client"
        ),
    ),
    "demo/": (
        "the three worlds of `make run`",
        "errors model language engine protocol broker spark",
    ),
    "cli/": (
        "one command per file",
        (
            "errors bounded_cache model arrow language matching engine graph routing "
            "protocol client broker console spark demo"
        ),
    ),
}
MAY_IMPORT: dict[str, set[str]] = {
    name.rstrip("/").removesuffix(".py"): set(others.split()) for name, (_, others) in PARTS.items()
}
MAY_IMPORT |= {"__about__": set(), "__main__": {"cli"}}

HEAVY = {
    "pyspark": {"spark", "demo"},
    "pandas": {"spark", "demo"},
    "polars": set(),  # who has a frame of it has imported it
    "duckdb": set(),
    "deltalake": {"spark"},
    "numba": set(),  # only kernels, see is_kernel
    "llvmlite": set(),  # only kernels, see is_kernel
    "starlette": {"broker", "console"},
    "fastapi": {"broker", "console"},
    "uvicorn": {"broker", "console"},
    "nicegui": {"console"},
    "pyoxigraph": {"graph"},
    "typer": {"cli"},
    "matplotlib": {"demo"},
    "hypothesis": {"testing"},
    "pytest": {"testing"},
    "sqlglot": {"language"},
}

# Whatever is compiled, and how, is in these folders.
KERNELS = (
    SOURCE / "matching" / "columnar" / "kernels",
    SOURCE / "matching" / "region_join" / "kernels",
    SOURCE / "graph" / "matching" / "joins" / "kernels",
)
COMPILERS = {"numba", "llvmlite"}


def is_kernel(path: Path) -> bool:
    return path.parent in KERNELS


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] == "predicast" and len(parts) > 1 and parts[1] in MAY_IMPORT:
            allowed_parts = MAY_IMPORT[part] | {part, "__about__"}
            assert parts[1] in allowed_parts, f"{part} imports {name}"
        allowed = HEAVY.get(parts[0])
        if allowed is not None:
            compiled = parts[0] in COMPILERS and is_kernel(path)
            assert part in allowed or compiled, f"{part} imports {name}"


def test_there_is_an_order_in_which_imports_point() -> None:
    order: list[str] = []
    left = {part: others - {part} for part, others in MAY_IMPORT.items()}
    while left:
        ready = [part for part, others in left.items() if others <= set(order)]
        assert ready, f"imports go round in circles among {sorted(left)}"
        order += ready
        for part in ready:
            del left[part]


def test_every_part_is_known() -> None:
    assert {part_of(path) for path in modules()} - {"__init__"} == set(MAY_IMPORT)


def test_the_code_map_shows_the_parts() -> None:
    rows = [
        f"| `src/predicast/{name}` | {purpose} | {', '.join(others.split()) or 'nothing'} |"
        for name, (purpose, others) in PARTS.items()
    ]
    table = "\n".join(["| part | what is in it | may import |", "| --- | --- | --- |", *rows])
    assert table in (DOCS / "explanation" / "code-map.md").read_text(encoding="utf-8"), (
        f"it must be\n\n{table}"
    )


def test_importing_predicast_loads_nothing_heavy() -> None:
    heavy = [*HEAVY, "numpy", "pyarrow"]
    code = f"import sys, predicast; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def packages() -> list[str]:
    found = [
        name
        for _, name, is_package in pkgutil.walk_packages([str(SOURCE)], "predicast.")
        if is_package
    ]
    return ["predicast", *found]


@pytest.mark.parametrize("name", packages())
def test_a_package_exports_what_it_says_and_only_re_exports(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", ())  # a folder of internals exports nothing
    assert len(exported) == len(set(exported))
    for public in exported:
        assert getattr(module, public) is not None
    assert module.__file__ is not None
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            assert node.name in {"__getattr__", "__dir__"}, f"{name} defines {node.name}"
        else:
            assert isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.Expr | ast.If), (
                name
            )


def test_every_public_name_is_the_same_object_everywhere() -> None:
    home: dict[str, tuple[str, object]] = {}
    for name in packages():
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            where, known = home.setdefault(public, (name, getattr(module, public)))
            assert known is getattr(module, public), f"{public} differs in {where} and {name}"


def test_the_error_tree_is_drawn_as_it_is() -> None:
    drawn = errors.__doc__ or ""
    for public in errors.__all__:
        if public.endswith("Error"):
            assert f" {public}" in drawn, f"{public} is missing from the drawing"
            assert issubclass(getattr(errors, public), errors.PredicastError)
            # As tracebacks show it, by which an error of ours is known again on Spark's driver.
            assert getattr(errors, public).__module__ == errors.__name__


def test_errors_travel_between_processes() -> None:
    import pickle

    for public in errors.__all__:
        if not public.endswith("Error"):
            continue
        assert getattr(errors, public).__module__ == "predicast.errors"
        original = getattr(errors, public)("what happened")
        for field in original._field_names():
            setattr(original, field, "x")
        copy = pickle.loads(pickle.dumps(original))
        assert type(copy) is type(original)
        assert vars(copy) == vars(original)


def test_files_are_of_a_readable_size() -> None:
    too_long = {
        str(path.relative_to(SOURCE)): lines
        for path in modules()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }
    assert too_long == {}
