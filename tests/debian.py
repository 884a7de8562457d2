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
_UPDATE_S = 120.0
_INSTALL_S = 300.0
_TRY_AGAIN_S = 3600.0  # after it failed
_QUICK = ["-o", "Acquire::http::Timeout=10", "-o", "Acquire::Retries=0"]
_QUICK += ["-o", "DPkg::Lock::Timeout=60"]  # somebody else's apt-get may be at work
_INSTALL = ["--yes", "--no-install-recommends"]


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
    folder = Path(tempfile.gettempdir())
    outcome = folder / f"predicast-tests-{package}"
    # One for all packages: apt-get fails where another one runs.
    with (folder / "predicast-tests-apt").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # whoever comes second finds it done
        if outcome.exists() and time.time() - outcome.stat().st_mtime < _TRY_AGAIN_S:
            return outcome.read_text(encoding="utf-8")
        said = _install(package)
        outcome.write_text(said, encoding="utf-8")
        return said


def _install(package: str) -> str:
    try:
        if not _is_there(package):
            # Images come without lists, or with old ones that name packages which are gone. Some
            # source may not answer, and others do: what matters is whether ours is there now.
            _apt_get("update", seconds=_UPDATE_S)
            if not _is_there(package):
                return "apt-get knows no such package, or its mirror has it no more"
        done = _apt_get("install", *_INSTALL, package, seconds=_INSTALL_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it cannot be fetched: {error}"
    return "installed" if done.returncode == 0 else done.stderr.strip()[-300:]


def _is_there(package: str) -> bool:
    """Whether apt-get knows it, and the mirror has it; raises if no mirror answers."""
    listed = _apt_get("install", *_INSTALL, "--print-uris", package, seconds=60)
    mirror = re.search(r"'(https?://[^']+)'", listed.stdout)
    if mirror is None:
        return False
    request = urllib.request.Request(mirror[1], method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_PROBE_S):
            return True
    except urllib.error.HTTPError:
        return False


def _apt_get(*arguments: str, seconds: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["apt-get", *_QUICK, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )
