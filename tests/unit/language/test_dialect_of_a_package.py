"""The dialect of the how-to page, installed as a package of somebody else's would be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from predicast.language.dialect_registry import BUILT_IN

DOCS = Path(__file__).resolve().parents[3] / "docs"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOML = re.compile(r'^\[project\.entry-points\."(.*?)"\]\n(\w+) = "(.*)"$', re.MULTILINE)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as installers make it: the module, and what the package says of itself."""
    page = (DOCS / "how-to" / "write-a-dialect.md").read_text(encoding="utf-8")
    module = PYTHON.findall(page)[0]
    [(group, entry, value)] = TOML.findall(page)
    (tmp_path / "search_dialect.py").write_text(module, encoding="utf-8")
    said = tmp_path / "search_dialect-1.0.dist-info"
    said.mkdir()
    metadata = "Metadata-Version: 2.1\nName: search-dialect\nVersion: 1.0\n"
    (said / "METADATA").write_text(metadata, encoding="utf-8")
    (said / "entry_points.txt").write_text(f"[{group}]\n{entry} = {value}\n", encoding="utf-8")
    return tmp_path


def test_an_installed_package_adds_a_dialect(site: Path) -> None:
    (site / "open.search").write_text("status:open -label:spam\n", encoding="utf-8")
    events = '{"status": "open"}\n{"status": "open", "labels": {"label": "spam"}}\n'
    (site / "events.jsonl").write_text(events, encoding="utf-8")
    paths = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "predicast", "match", "--dialect", "search"]
    done = subprocess.run(
        [*command, "open.search", "events.jsonl"],
        cwd=site,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == '{"event":0,"subscriptions":["open"]}\n', done.stderr


def test_every_dialect_of_our_own_is_in_the_reference() -> None:
    reference = (DOCS / "reference" / "dialects.md").read_text(encoding="utf-8")
    assert [name for name in BUILT_IN if f"| `{name}`" not in reference] == []
