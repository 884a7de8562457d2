"""What Predicast needs installed, by its own package metadata, and what of that is not there.

The list is ``pyproject.toml``'s, so that there is no second one to keep up to date. Only the
comparisons that we write there are understood: ``>=`` and ``<`` on plain releases.
"""

from __future__ import annotations

import re
import shlex
import sys
from importlib import metadata
from typing import Final, NamedTuple

import typer

from predicast.cli.terminal import print_error

_REFUSED: Final = 2
PACKAGE: Final = "predicast"

_REQUIREMENT: Final = re.compile(
    r"(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?\s*(?P<bounds>[^;]*)"
    r"(?:;.*\bextra\s*==\s*['\"](?P<extra>[\w.-]+)['\"].*|;.*)?"
)
_BOUND: Final = re.compile(r"(>=|<)\s*([\d.]+)")


class Requirement(NamedTuple):
    """A distribution, the versions of it that will do, and the extras of it that are needed."""

    name: str
    bounds: str
    extras: str = ""

    def __str__(self) -> str:
        return self.name + self.extras + self.bounds

    def installed(self) -> str | None:
        """The version that is installed, if any."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def is_met(self) -> bool:
        """Whether a version that will do is installed."""
        version = self.installed()
        return version is not None and all(
            _release(version) >= _release(bound)
            if comparison == ">="
            else _release(version) < _release(bound)
            for comparison, bound in _BOUND.findall(self.bounds)
        )


def _release(version: str) -> tuple[int, ...]:
    """4.3.0rc1 as (4, 3), so that 4.3 and 4.3.0 are equal."""
    number = re.match(r"\d+(\.\d+)*", version)
    parts = [int(part) for part in number[0].split(".")] if number else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def requirements(extra: str | None = None) -> list[Requirement]:
    """What the library needs, or what one of its extras needs beyond that.

    Raises:
        PackageNotFoundError: when Predicast runs from a folder without being installed.
    """
    found: dict[str, Requirement] = {}
    for line in metadata.requires(PACKAGE) or ():
        match = _REQUIREMENT.fullmatch(line)
        assert match is not None, line
        if match["extra"] != extra:
            continue
        if match["name"] == PACKAGE:
            for inner in (match["extras"] or "").split(","):
                found |= {each.name: each for each in requirements(inner.strip())}
        else:
            bounds = ",".join(sorted(match["bounds"].strip().split(","), reverse=True))
            extras = f"[{match['extras']}]" if match["extras"] else ""
            found[match["name"]] = Requirement(match["name"], bounds, extras)
    return list(found.values())


def unmet(extra: str | None = None) -> list[str]:
    """Those of the requirements that are not met; none if the list itself is not at hand."""
    try:
        return [str(each) for each in requirements(extra) if not each.is_met()]
    except metadata.PackageNotFoundError:
        return []


def require_extras(what: str, *extras: str) -> None:
    """Stop with the line that installs what is missing, if anything is."""
    missing = [each for extra in extras for each in unmet(extra)]
    if missing:
        them = "it" if len(missing) == 1 else "them"
        print_error(
            f"{what} needs {', '.join(missing)}; this installs {them}:\n  {install_line(*missing)}"
        )
        raise typer.Exit(_REFUSED)


def install_line(*packages: str) -> str:
    """The command that installs packages where this Python will find them.

    What an extra needs is installed by its own names: ``predicast[spark]`` would be looked for in
    an index, and Predicast is installed from a clone.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])
