"""Sigma rules as expressions: each kind of value, told apart on a handful of events."""

from __future__ import annotations

from typing import Any

import pytest

from bench.real.corpus import with_text
from bench.real.sigma import rule_expression
from predicast import Engine
from predicast.errors import LanguageError
from tests.sigma_twin import compiled_rule

EVENTS: list[dict[str, Any]] = [
    {},
    {"Image": "C:\\Windows\\CMD.exe", "EventID": 1, "Path": "C:\\Windows\\cmd.exe"},
    {"Image": "C:\\Windows\\cmd.exe", "EventID": "1", "CommandLine": "cmd /c  echo 100% _done_"},
    {"Image": "cmd.exe", "EventID": 4688, "CommandLine": "powershell -enc aQBlAHgA"},
    {"Image": "", "EventID": 10, "Signed": True, "CommandLine": "a*b?c\nkeyword Here"},
    {"Image": "x", "EventID": 1.5, "Signed": "FALSE", "CommandLine": "axbyc", "Path": "X"},
    {"Ip": "10.1.2.3", "Size": 100, "Signed": "true", "CommandLine": "netsh -ip 10.1.2.3"},
    {"Ip": "fe80::1", "Size": 7, "Image": "Straße", "CommandLine": "netsh /ip 6"},
    {"Ip": "no address", "Size": "100", "Image": "ÉCOLE", "EventID": "abc"},
]

DETECTIONS: list[dict[str, Any]] = [
    {"s": {"Image": "cmd.EXE"}},
    {"s": {"Image": "c:\\windows\\cmd.exe"}},
    {"s": {"Image|cased": "C:\\Windows\\cmd.exe"}},
    {"s": {"Image|endswith": ["\\cmd.exe", "X"]}},
    {"s": {"Image|startswith": "c:\\"}},
    {"s": {"Image|contains|cased": "CMD"}},
    {"s": {"Image": ["école", "STRASSE", ""]}},
    {"s": {"Image": "*"}},
    {"s": {"Image": "c*.e?e"}},
    {"s": {"CommandLine|contains": ["100% _", "a\\*b\\?c"]}},
    {"s": {"CommandLine": "a*b?c"}},
    {"s": {"CommandLine|contains|all": ["cmd", "echo"]}},
    {"s": {"CommandLine|contains|windash": " -ip "}},
    {"s": {"CommandLine|wide|base64offset|contains": "iex"}},
    {"s": {"CommandLine|re": "c[md]+ /c\\s+echo"}},
    {"s": {"CommandLine|re|i": "POWER.*ENC"}},
    {"s": {"EventID": 1}},
    {"s": {"EventID": ["1", "4688", "abc"]}},
    {"s": {"EventID": [1, 10, 1.5]}},
    {"s": {"EventID|gte": 10}},
    {"s": {"Size|lt": 100}},
    {"s": {"Signed": True}},
    {"s": {"Signed": False}},
    {"s": {"Image": None}},
    {"s": {"Image|exists": True}},
    {"s": {"Image|exists": False}},
    {"s": {"Ip|cidr": ["10.0.0.0/8", "fe80::/10"]}},
    {"s": {"Image|fieldref": "Path"}},
    {"s": ["KEYWORD here", "nothing of the kind"]},
    {"s": {"|all": ["cmd", "echo"]}},
    {"s": [{"Image|endswith": "cmd.exe", "EventID": 1}, {"Size": 100}]},
]


def engine_with(detection: dict[str, Any]) -> Engine:
    engine = Engine()
    engine.subscribe(rule_expression(detection), id="rule")
    return engine


@pytest.mark.parametrize("condition", ["s", "not s", "not (not s)"])
@pytest.mark.parametrize("detection", DETECTIONS, ids=lambda d: str(d["s"]))
def test_a_rule_fires_where_sigma_says(detection: dict[str, Any], condition: str) -> None:
    detection = {**detection, "condition": condition}
    engine, fires = engine_with(detection), compiled_rule(detection)
    outcomes = [bool(engine.match(with_text(event))) for event in EVENTS]
    assert outcomes == [fires(event) for event in EVENTS]
    assert condition != "s" or any(outcomes)


@pytest.mark.parametrize(
    "condition",
    [
        "1 of sel_*", "all of sel_*", "not 1 of sel_*", "not all of sel_*", "sel_a and not sel_b",
        "not (sel_a or not sel_b)", "all of them", "sel_a or not (sel_b and not other)",
    ],
)  # fmt: skip
def test_selections_combine(condition: str) -> None:
    detection = {
        "sel_a": {"Image|endswith": "cmd.exe", "EventID": [1, 4688]},
        "sel_b": [{"CommandLine|contains": "echo"}, {"Path|contains": "windows"}],
        "other": {"EventID": 1},
        "condition": condition,
    }
    engine, fires = engine_with(detection), compiled_rule(detection)
    for event in EVENTS:
        assert bool(engine.match(with_text(event))) is fires(event), event


def test_what_is_no_rule_is_refused() -> None:
    with pytest.raises(LanguageError, match=r"no Sigma rule: .*not defined"):
        rule_expression({"s": {"a": 1}, "condition": "t"})
    with pytest.raises(LanguageError, match="'a' is compared with a placeholder, %users%"):
        rule_expression({"s": {"a|expand": "x%users%"}, "condition": "s"})
    with pytest.raises(LanguageError, match="'a' is compared with a SigmaFieldReference"):
        rule_expression({"s": {"a|fieldref|startswith": "b"}, "condition": "s"})
