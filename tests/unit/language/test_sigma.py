"""What Sigma rules ask of events: each kind of value, told apart on a handful of events."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sigma.processing.pipeline import ProcessingPipeline

from predicast import Engine
from predicast.derived.addresses import is_in
from predicast.errors import ParseError
from predicast.language.sigma import SigmaDialect
from tests.sigma_twin import compiled_rule

SIGMA = SigmaDialect()

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
    {"CommandLine": "echo //5pAGUAeAA="},
    {"EventID": True, "Signed": 1, "Image": 4688, "Size": -1.5, "Path": 46, "CommandLine": False},
    {"EventID": ["1", 1], "Signed": [True], "Image": [], "Size": [100], "Path": "4688"},
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
    {"s": {"CommandLine|re|m|i": "^KEYWORD here$"}},
    {"s": {"CommandLine|re|s": "b.c.keyword"}},
    {"s": {"CommandLine|base64offset|contains": "x"}},
    {"s": {"CommandLine|utf16|base64offset|contains": "iex"}},
    {"s": {"Image|neq": "cmd.exe"}},
    {"s": {"Image|startswith": "46"}},
    {"s": {"Image|cased": "46??"}},
    {"s": {"Size": ["-1.5", "-1*"]}},
    {"s": {"Size": ["007", "1?0"]}},
    {"s": {"EventID|gt": 1}},
    {"s": {"Size|lte": 100}},
    {"s": {"Signed": ["true", "x"]}},
    {"s": {"Signed": "False"}},
    {"s": {"CommandLine": "false"}},
    {"s": {"EventID": [10, "x*"]}},
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
    {"s": {"Image|fieldref|startswith": "Path"}},
    {"s": {"Image|fieldref|endswith": "Path"}},
    {"s": {"Image|fieldref|neq": "Path"}},
    {"s": ["KEYWORD here", "nothing of the kind"]},
    {"s": {"|all": ["cmd", "echo"]}},
    {"s": [{"Image|endswith": "cmd.exe", "EventID": 1}, {"Size": 100}]},
]


def rule(detection: dict[str, Any], **others: Any) -> str:
    source = {"product": "windows", "category": "process_creation"}
    return json.dumps({"title": "A rule", "logsource": source, "detection": detection, **others})


def engine_with(detection: dict[str, Any]) -> Engine:
    engine = Engine()
    engine.subscribe(rule(detection), id="rule", dialect="sigma")
    return engine


def read(event: dict[str, Any]) -> dict[str, Any]:
    return dict(SIGMA.read_event(event))


@pytest.mark.parametrize("condition", ["s", "not s", "not (not s)"])
@pytest.mark.parametrize("detection", DETECTIONS, ids=lambda d: str(d["s"]))
def test_a_rule_fires_where_sigma_says(detection: dict[str, Any], condition: str) -> None:
    detection = {**detection, "condition": condition}
    engine, fires = engine_with(detection), compiled_rule(detection)
    outcomes = [bool(engine.match(read(event))) for event in EVENTS]
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
        assert bool(engine.match(read(event))) is fires(event), event


@pytest.mark.parametrize("condition", ["s", "not s"])
@pytest.mark.parametrize(
    "network",
    ["10.0.0.0/8", "0.0.0.0/0", "fe80::/10", "::/0", "::/64", "::ffff:0:0/96", "::ffff:a00:0/104"],
)
def test_an_address_is_in_a_network_however_it_is_written(network: str, condition: str) -> None:
    engine = engine_with({"s": {"Ip|cidr": network}, "condition": condition})
    values = ["10.0.0.1", "11.0.0.1", "::ffff:10.0.0.1", "::ffff:11.0.0.1", "::1", "fe80::1", "x"]
    for value in [*values, 5, None]:
        held = bool(is_in(value, network))
        assert bool(engine.match({"Ip": value})) is (held is (condition == "s")), value


def test_the_parts_of_a_time() -> None:
    engine = engine_with({"s": {"At|hour|gte": 22, "At|month": 2}, "condition": "s"})
    at = datetime(2026, 2, 1, 22, 30, tzinfo=UTC)
    assert engine.match({"At": at}) == engine.match({"At": "2026-02-01 23:00:00"}) == ["rule"]
    assert engine.match({"At": at.replace(hour=21)}) == engine.match({"At": "at ten"}) == []


def test_a_number_may_be_of_more_than_64_bits() -> None:
    engine = engine_with({"s": {"Id": [2**70, 5]}, "t": {"Id|gt": 2**70}, "condition": "s or t"})
    assert engine.match({"Id": str(2**70)}) == engine.match({"Id": 2**70}) == ["rule"]
    assert engine.match({"Id": 2**71}) == engine.match({"Id": 5}) == ["rule"]
    assert engine.match({"Id": 2**70 - 1}) == engine.match({"Id": True}) == []


def test_several_conditions_are_alternatives() -> None:
    engine = engine_with({"s": {"a": 1}, "t": {"b": 1}, "condition": ["s", "t"]})
    assert engine.match({"a": 1}) == engine.match({"b": 1}) == ["rule"]
    assert engine.match({"a": 2}) == []


def test_log_sources_may_be_conditions() -> None:
    engine = Engine()
    text = rule({"s": {"a": 1}, "condition": "s"})
    engine.subscribe(text, id="anywhere", dialect="sigma")
    engine.subscribe(text, id="there", dialect="sigma:log-sources")
    assert engine.match({"a": 1}) == ["anywhere"]
    source = {"product": "Windows", "category": "process_creation", "service": "x"}
    assert engine.match({"a": 1, "logsource": source}) == ["anywhere", "there"]
    assert engine.match({"a": 1, "logsource": {"product": "linux"}}) == ["anywhere"]


PIPELINE = """
name: ours
priority: 10
vars: {admins: [ann, bob*]}
transformations:
  - id: names
    type: field_name_mapping
    mapping: {Image: process.path}
  - id: people
    type: value_placeholders
  - id: source
    type: add_condition
    conditions: {channel: sysmon}
    rule_conditions: [{type: logsource, product: windows}]
"""


def test_a_pipeline_renames_fields_fills_placeholders_and_adds_conditions() -> None:
    dialect = SigmaDialect(pipeline=ProcessingPipeline.from_yaml(PIPELINE))
    detection = {"s": {"Image|endswith": ".exe", "User|expand": "%admins%"}, "condition": "s"}
    engine = Engine()
    engine.subscribe(dialect.parse(rule(detection)), id="rule")
    event = {"process": {"path": "cmd.EXE"}, "User": "bobby", "channel": "Sysmon"}
    assert engine.match(event) == ["rule"]
    assert engine.match(event | {"User": "eve"}) == engine.match(event | {"channel": "x"}) == []
    assert engine.match({**event, "process": {}, "Image": "cmd.exe"}) == []


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"a|expand": "x%users%"}, "compared with a placeholder, %users%"),
        ({"a|fieldref|contains": "b"}, "fieldref goes alone, or with startswith or endswith"),
        ({"a|week": 5}, "there are minute, hour, day, month and year"),
        ({"a|re": "(?=x)"}, "invalid perl operator"),
        ({"a|re": 5}, "write it in quotes"),
        ({"a|cidr": "10.0.0.0/99"}, "Invalid CIDR"),
        ({"a|gt": "x"}, "incompatible to value type"),
        ({"a|containz": "x"}, "did you mean contains?"),
        ({"a|windash": "-a -b -c -d"}, "at most three"),
        ({"a": {"b": 1}}, "Unsupported type"),
    ],
    ids=lambda given: str(given)[:30],
)
def test_what_cannot_be_asked_is_refused_where_it_stands(item: dict[str, Any], why: str) -> None:
    text = rule({"t": {"x": 1}, "s": [{"b": 1}, item], "condition": "s or t"})
    with pytest.raises(ParseError) as caught:
        SIGMA.parse(text)
    assert why in caught.value.message
    [key] = item
    assert caught.value.column == text.index(json.dumps(key)) + 1
