"""The commands with Sigma rules: folders of YAML, and what Windows logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

RULES = r"""title: Who am I
id: 3f1c2f64-6a0c-4a34-9a2e-5d0c4a6f7b11
author: Ann, Bob
level: high
tags: [attack.discovery]
logsource: {product: windows}
detection:
  selection:
    Image|endswith: '\whoami.exe'
  condition: selection
---
title: Talk of passwords
author: Eve
logsource: {product: windows}
detection:
  keywords: [password, secret]
  condition: keywords
"""
WHO = "3f1c2f64-6a0c-4a34-9a2e-5d0c4a6f7b11"
RECORD = r"""<?xml version="1.0" encoding="utf-8"?>
<Events>
  <Event xmlns="http://schemas.microsoft.com/win/2004/08/events/event">
    <System>
      <Provider Name="Microsoft-Windows-Sysmon"/><EventID>1</EventID><Computer>pc-1</Computer>
    </System>
    <EventData>
      <Data Name="Image">C:\Windows\WHOAMI.exe</Data><Data Name="CommandLine">whoami</Data>
    </EventData>
  </Event>
</Events>
"""


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "rules" / "windows").mkdir(parents=True)
    (folder / "rules" / "windows" / "all.yml").write_text(RULES, encoding="utf-8")
    (folder / "rules" / "notes.txt").write_text("no rules", encoding="utf-8")
    (folder / "log.xml").write_text(RECORD, encoding="utf-8")
    lines = [{"Image": "C:\\whoami.exe"}, {"a": {"b": "My Password"}}, {"n": 1}]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def test_a_folder_of_rules_is_matched_and_names_its_authors(run: Run) -> None:
    result = run("match", "--dialect", "sigma", "rules", "log.jsonl")
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {
        "event": 0,
        "subscriptions": [WHO],
        "about": {
            WHO: {
                "title": "Who am I",
                "id": WHO,
                "level": "high",
                "tags": ["attack.discovery"],
                "author": "Ann, Bob",
            }
        },
    }
    assert second["subscriptions"] == ["windows/all-2"]
    assert second["about"]["windows/all-2"]["author"] == "Eve"


def test_a_table_of_matches_names_authors(run: Run) -> None:
    shown = run("match", "--dialect", "sigma", "rules", "log.jsonl", "--format", "table").stdout
    words = " ".join(shown.split())
    assert "Who am" in words  # wherever the lines are broken
    assert "by Ann" in words


def test_an_event_log_in_xml_is_matched_and_explained(run: Run) -> None:
    matched = run("match", "--dialect", "sigma", "rules", "log.xml")
    assert json.loads(matched.stdout)["subscriptions"] == [WHO]
    explained = run("explain", "--dialect", "sigma", "rules", WHO, "@log.xml")
    assert "✓ selection" in explained.stdout
    assert r"✓ Image|endswith: '\whoami.exe'" in explained.stdout
    assert "author: Ann, Bob" in explained.stdout


def test_a_rule_is_refused_by_its_line_in_the_file(run: Run, folder: Path) -> None:
    path = folder / "rules" / "windows" / "all.yml"
    path.write_text(RULES.replace("condition: keywords", "condition: keyword"), encoding="utf-8")
    result = run("check", "--dialect", "sigma", "rules", code=1)
    assert "line 17" in result.stderr
    assert "column 14: condition: there is no selection keyword" in result.stderr
    assert "did you mean keywords?" in result.stderr
