"""A Python that has all that is installed here but Predicast."""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
from pathlib import Path


def packages_without_predicast(folder: Path) -> Path:
    """A folder for ``PYTHONPATH``; with ``-S`` it takes the place of the installed packages."""
    packages = folder / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "predicast" not in entry.name:
            (packages / entry.name).symlink_to(entry)
    return packages


def python_without_predicast(folder: Path) -> tuple[Path, Path]:
    """A program that runs such a Python, and what that Python calls itself."""
    interpreter = folder / "other-python"
    interpreter.symlink_to(os.path.realpath(sys.executable))
    packages = packages_without_predicast(folder)
    program = folder / "run-other-python"
    command = shlex.join(["env", f"PYTHONPATH={packages}", str(interpreter), "-S"])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program, interpreter
