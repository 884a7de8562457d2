"""The repository keeps its own promises: what a document names exists, what is pinned is plain."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

DOCUMENTS = sorted(
    path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if "_build" not in path.parts
)
REQUIREMENTS = sorted(ROOT.glob("requirements*.txt"))

PINNED = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.+!]+( ; [\w. '\"<>=!*()-]+)?")
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?(?: +\"[^\"]*\")?\)")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:")

# A code span that begins with one of these names a place in the repository.
ROOMS = (".ci/", "bench/", "docs/", "src/", "tests/", "tools/")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", REQUIREMENTS, ids=relative)
def test_requirements_are_pinned_and_name_no_registry(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if not line.startswith("#")]
    assert packages
    assert [line for line in packages if not PINNED.fullmatch(line)] == []
    assert [line for line in lines if "://" in line or line.startswith("-")] == []


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = [requirement for group in groups for requirement in group]
    names = {re.match(r"[\w.-]+", requirement)[0] for requirement in declared}  # type: ignore[index]
    pinned = set(
        re.findall(
            r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    assert names - pinned == {"predicast"}


def test_every_place_that_pyproject_names_exists() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    named = [
        *tool["hatch"]["build"]["targets"]["sdist"]["include"],
        *tool["hatch"]["build"]["targets"]["wheel"]["packages"],
        *tool["ruff"]["src"],
        *tool["ruff"]["lint"]["per-file-ignores"],
        *tool["mypy"]["files"],
        *tool["pytest"]["testpaths"],
    ]
    assert [place for place in named if place != "." and not any(ROOT.glob(place))] == []


@pytest.mark.parametrize("room", ["src", "tests", "bench"])
def test_text_is_read_and_written_as_utf_8(room: str) -> None:
    """And not as whatever the machine at hand prefers."""
    unstated = [
        f"{relative(path)}:{call.lineno}"
        for path in (ROOT / room).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in {"read_text", "write_text"}
        and "encoding" not in {keyword.arg for keyword in call.keywords}
    ]
    assert unstated == []


def places(document: str) -> Iterator[str]:
    """The relative links and the repository paths that a Markdown text names."""
    prose = FENCE.sub("", document)
    for span in CODE.findall(prose):
        if span.startswith(ROOMS) and not re.search(r"[\s<>{}…]", span):
            yield "/" + span
    for target in LINK.findall(CODE.sub("", prose)):
        if not EXTERNAL.match(target) and not target.startswith("#"):
            yield target.partition("#")[0]


def exists(place: str, document: Path) -> bool:
    base, name = (ROOT, place[1:]) if place.startswith("/") else (document.parent, place)
    return any(base.glob(name)) if "*" in name else (base / name).exists()


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_every_place_a_document_names_exists(path: Path) -> None:
    missing = [
        place for place in places(path.read_text(encoding="utf-8")) if not exists(place, path)
    ]
    assert missing == []


def test_the_check_of_places_sees_what_it_should() -> None:
    text = (
        '[a](b.md#c) ![d](e/f.png "g") [h](https://i) [j](#k) [`l`](m.md) `src/n.py` `o/p`'
        " `docs/<q>`\n```\n[r](s.md)\n```\n"
    )
    assert list(places(text)) == ["/src/n.py", "b.md", "e/f.png", "m.md"]


@pytest.fixture(scope="module")
def listed_targets() -> set[str]:
    make = shutil.which("make")
    if make is None:
        pytest.skip("no make")
    run = subprocess.run([make, "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(re.findall(r"^ +make (\S+)", run.stdout, re.MULTILINE))


def test_make_help_lists_every_target(listed_targets: set[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert listed_targets == set(re.findall(r"^\.PHONY: (\S+)$", makefile, re.MULTILINE))
    assert {"run", "test", "help"} <= listed_targets


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_every_target_a_document_names_is_listed(path: Path, listed_targets: set[str]) -> None:
    in_code = re.findall(
        r"(?:`|^ *\$? *)make ([a-z][a-z-]*)", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(in_code) - listed_targets == set()
