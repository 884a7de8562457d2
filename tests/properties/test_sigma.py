"""Random Sigma rules and events: the dialect beside a direct interpreter, and texts of any kind."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st
from sigma import conditions
from sigma.conditions import SigmaCondition
from sigma.rule.detection import SigmaDetections

from predicast import Engine
from predicast.errors import PredicastError
from predicast.language import to_subscription
from predicast.language.sigma import SigmaDialect
from predicast.language.sigma.conditions import ConditionError, parse_condition
from predicast.language.wording import expression_of_wording
from predicast.model import And, Leaf, Not, Or
from predicast.model.expression import Node
from tests.sigma_twin import compiled_rule

SIGMA = SigmaDialect()
FIELDS = st.sampled_from(["Image", "EventID", "User", "a.b"])
WORDS = st.sampled_from(
    ["", "a", "A", "ab", "a b", "cmd", "CMD.exe", "-a", "/a", "1", "10", "1.5", "-1", "true",
     "FALSE", "É", "a\nb", "10.0.0.1", "%a_", "\\a"]
)  # fmt: skip
PATTERNS = WORDS | st.lists(
    st.sampled_from(["a", "B", "1", "0", ".", "*", "?", "\\*", "\\\\", "%", "é"]), max_size=4
).map("".join)
NUMBERS = st.sampled_from([0, 1, 10, -1, 1.5, 100])
SCALARS = PATTERNS | NUMBERS | st.booleans() | st.none()
VALUES = WORDS | NUMBERS | st.booleans() | st.sampled_from([["a"], [1], []])
EVENTS = st.dictionaries(FIELDS, VALUES, max_size=4)


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values | st.lists(values, min_size=1, max_size=3)


def keyed(modifiers: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, Any]]:
    names = FIELDS.map(lambda field: f"{field}|{modifiers}" if modifiers else field)
    return st.tuples(names, values)


STRINGS = some(PATTERNS.filter(bool))
PLAIN = some(st.sampled_from(["a", "cmd", "-a", "x /a"]))
ITEMS = st.one_of(
    keyed("", some(SCALARS)),
    *(keyed(each, STRINGS) for each in ("contains", "startswith", "endswith", "contains|cased")),
    keyed("contains|all", st.lists(PATTERNS.filter(bool), min_size=2, max_size=3)),
    keyed("cased", STRINGS),
    keyed("neq", STRINGS),
    *(keyed(each, PLAIN) for each in ("windash", "contains|windash", "base64offset|contains")),
    *(keyed(each, some(st.sampled_from(["a.b", "^c", "A$"]))) for each in ("re", "re|i", "re|m|s")),
    *(keyed(each, NUMBERS) for each in ("lt", "lte", "gt", "gte")),
    keyed("exists", st.booleans()),
    keyed("cidr", some(st.sampled_from(["10.0.0.0/8", "10.0.0.1/32"]))),
    *(keyed(each, FIELDS) for each in ("fieldref", "fieldref|startswith", "fieldref|endswith")),
)
MAPS = st.lists(ITEMS, min_size=1, max_size=3).map(dict)
KEYWORDS = st.lists(WORDS.filter(bool) | st.integers(0, 20), min_size=1, max_size=3)
SELECTIONS = MAPS | st.lists(MAPS, min_size=1, max_size=2) | KEYWORDS
NAMES = ["sel_a", "sel_b", "other", "_hidden"]


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    words = st.sampled_from([" and ", " or "])
    return st.one_of(
        st.tuples(parts, words, parts).map("".join),
        parts.map("not {}".format),
        parts.map("({})".format),
    )


OPERANDS = st.sampled_from(
    [*NAMES, "1 of sel_*", "all of sel_*", "any of them", "1 of them", "all of them", "1 of *_b",
     "all of _*", "1 of s*l*a"]
)  # fmt: skip
CONDITIONS = st.recursive(OPERANDS, joined, max_leaves=6)
DETECTIONS = st.builds(
    lambda selections, condition: {**selections, "condition": condition},
    st.fixed_dictionaries(dict.fromkeys(NAMES, SELECTIONS)),
    CONDITIONS,
)


def rule(detection: Any) -> dict[str, Any]:
    return {"title": "A rule", "logsource": {"product": "windows"}, "detection": detection}


@given(DETECTIONS, st.lists(EVENTS, min_size=1, max_size=6))
def test_rules_fire_where_an_interpreter_says(detection: Any, events: list[Any]) -> None:
    fires = compiled_rule(detection)
    expected = [["rule"] if fires(event) else [] for event in events]
    text = yaml.safe_dump(rule(detection), allow_unicode=True)
    read = [SIGMA.read_event(event) for event in events]
    for matcher in ("brute-force", "columnar"):
        engine = Engine(matcher=matcher)
        engine.subscribe(text, id="rule", dialect="sigma")
        assert [engine.match(event) for event in read] == expected
        assert engine.match_batch(read) == expected


@given(DETECTIONS, EVENTS)
def test_explanations_say_what_is_so_of_every_part(detection: Any, event: Any) -> None:
    engine = Engine()
    engine.subscribe(json.dumps(rule(detection)), id="rule", dialect="sigma")
    read = SIGMA.read_event(event)
    explanation = engine.explain("rule", read)
    assert explanation.matched is bool(engine.match(read)) is explanation.outcome.held
    # Sigma is two-valued: nothing is unknown.
    assert all(each.held is not None for _, each in explanation.outcome.lines())


@given(DETECTIONS)
def test_the_wording_is_the_rule(detection: Any) -> None:
    text = json.dumps(rule(detection))
    engine = Engine()
    engine.subscribe(SIGMA.parse(text), id="parsed")
    engine.subscribe(expression_of_wording(SIGMA.wording(text)), id="wording")
    engine.subscribe(expression_of_wording(SIGMA.wording(text), wanted=False), id="opposite")
    for event in ({}, {"Image": "a", "EventID": 1}, {"User": "CMD.exe", "EventID": True}):
        found = engine.match(SIGMA.read_event(event))
        assert found in (["opposite"], ["parsed", "wording"])


# Conditions.


def as_pysigma_has_it(node: Any, detections: SigmaDetections) -> Node[str]:
    match node:
        case conditions.ConditionIdentifier():
            return Leaf(node.identifier)
        case conditions.ConditionSelector():
            found = node.resolve_referenced_detections(detections)
            leaves: tuple[Node[str], ...] = tuple(Leaf(each.identifier) for each in found)
            if len(leaves) == 1:
                return leaves[0]
            return And(leaves) if node.cond_class is conditions.ConditionAND else Or(leaves)
        case conditions.ConditionNOT():
            return Not(as_pysigma_has_it(node.args[0], detections))
    parts = tuple(as_pysigma_has_it(each, detections) for each in node.args)
    return And(parts) if isinstance(node, conditions.ConditionAND) else Or(parts)


def holds(node: Node[str], true: frozenset[str]) -> bool:
    match node:
        case Leaf(name):
            return name in true
        case Not(part):
            return not holds(part, true)
        case And(parts):
            return all(holds(part, true) for part in parts)
        case Or(parts):
            return any(holds(part, true) for part in parts)


@given(CONDITIONS, st.frozensets(st.sampled_from(NAMES)))
def test_conditions_are_read_as_pysigma_reads_them(text: str, true: frozenset[str]) -> None:
    selections: dict[str, Any] = {name: {"a": 1} for name in NAMES}
    detections = SigmaDetections.from_dict({**selections, "condition": text})
    theirs = SigmaCondition(text, detections).parse(postprocess=False)
    expected = holds(as_pysigma_has_it(theirs, detections), true)
    assert holds(parse_condition(text, NAMES), true) is expected


@given(
    st.lists(st.sampled_from(["not", "and", "or", "(", ")", "1", "of", "all", *NAMES, "|", "'"]))
)
def test_any_words_are_a_condition_or_refused_at_one_of_them(words: list[str]) -> None:
    text = " ".join(words)
    offset = 0
    try:
        parse_condition(text, NAMES)
    except ConditionError as error:
        offset = error.offset
    assert offset in {0, *(match.start() for match in re.finditer(r"\S+|$", text))}


# Texts of any kind.

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip
KEYS = st.sampled_from(
    ["title", "id", "status", "level", "tags", "date", "author", "logsource", "detection",
     "related", "correlation", "filter", "action", "taxonomy"]
)  # fmt: skip


def refused_or_read(text: str) -> None:
    try:
        parsed = SIGMA.parse(text)
    except PredicastError:
        return
    to_subscription(parsed)
    SIGMA.wording(text)
    json.dumps(SIGMA.about(text))


@given(
    DETECTIONS,
    st.dictionaries(KEYS, JUNK, max_size=2),
    st.dictionaries(st.sampled_from(NAMES), JUNK),
)
def test_rules_with_odd_parts_are_read_or_refused(
    detection: Any, odd: Any, selections: Any
) -> None:
    refused_or_read(yaml.safe_dump({**rule({**detection, **selections}), **odd}))


@given(st.data())
def test_texts_with_a_change_anywhere_are_read_or_refused(data: st.DataObject) -> None:
    text = yaml.safe_dump(rule(data.draw(DETECTIONS)))
    place = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 4))
    inserted = data.draw(
        st.text(max_size=3) | st.sampled_from(["&a ", "*a", "<<: ", "!!int ", "? ", "{"])
    )
    refused_or_read(text[:place] + inserted + text[place + cut :])


@given(st.text(alphabet=st.sampled_from("[]{}:,-? \n'\"&*!|>%@`#ab<=~\t"), max_size=60))
def test_any_text_is_refused(text: str) -> None:
    refused_or_read(text)


DOCUMENTS = st.recursive(
    JUNK,
    lambda inner: st.dictionaries(
        st.sampled_from(
            ["Event", "System", "EventData", "UserData", "winlog", "event_data", "Data", "@Name",
             "#text", "#attributes", "EventID", "event_id"]
        ),
        inner | st.lists(inner, max_size=2),
        max_size=3,
    ),
    max_leaves=12,
)  # fmt: skip


@given(DOCUMENTS | st.text(alphabet=st.sampled_from("<>/Event Data=\"'&;?!x"), max_size=40))
def test_any_event_is_read_or_refused(document: Any) -> None:
    try:
        read = SIGMA.read_event(document)
    except PredicastError:
        return
    assert isinstance(read["_text"], str) or "_text" in document
