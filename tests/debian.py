"""Programs from Debian's packages that tests need, and that are fetched where that can be done.

That takes root, ``apt-get`` and a mirror that answers at once: where one of these is missing, the
tests are skipped, and say why. Test processes that run side by side try once for all of them.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

_PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
_PROBE_S = 5.0
_INSTALL_S = 300.0
_TRY_AGAIN_S = 3600.0  # after it failed
_QUICK = ["-o", "Acquire::http::Timeout=10", "-o", "Acquire::Retries=0"]


def program(name: str, package: str) -> str:
    """The path of a program, which is installed if need be; skips the test if it cannot be had."""
    found = shutil.which(name, path=_PLACES)
    if found is None:
        why = _installed(package)
        found = shutil.which(name, path=_PLACES)
        if found is None:
            pytest.skip(f"{name} is not installed (Debian: apt install {package}): {why}")
    return found


def _installed(package: str) -> str:
    """Install a package, unless that failed a while ago; what became of it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "installing it takes root"
    if shutil.which("apt-get") is None:
        return "there is no apt-get"
    outcome = Path(tempfile.gettempdir()) / f"predicast-tests-{package}"
    with outcome.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # whoever comes second finds it done
        file.seek(0)
        said = file.read()
        if not said or time.time() - outcome.stat().st_mtime > _TRY_AGAIN_S:
            said = _install(package)
            file.truncate(0)
            file.write(said)
        return said


def _install(package: str) -> str:
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *_QUICK, package]
    try:
        listed = subprocess.run(
            [*command, "--print-uris"], capture_output=True, text=True, check=False, timeout=60
        )
        mirror = re.search(r"'(https?://[^']+)'", listed.stdout)
        if mirror is None:
            return "apt-get knows no such package; apt-get update may help"
        request = urllib.request.Request(mirror[1], method="HEAD")
        with urllib.request.urlopen(request, timeout=_PROBE_S):
            pass
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_INSTALL_S,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot be fetched: {error}"
    return "installed" if done.returncode == 0 else done.stderr.strip()[-300:]
