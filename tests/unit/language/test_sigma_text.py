"""Sigma rules as text: where they are wrong, what else they say, and texts meant to do harm."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from predicast import Engine
from predicast.errors import (
    LimitError,
    NestingTooDeepError,
    ParseError,
    UnknownDialectError,
    UnsupportedSyntaxError,
)
from predicast.language import dialect_named, to_subscription
from predicast.language.sigma import SigmaDialect
from predicast.language.sigma.selections import MAX_TESTS
from predicast.testing import DialectConformance

SIGMA = SigmaDialect()
RULE = r"""# Found in the wild.
title: Somebody asks who they are
id: 5c4c3b5e-8f5e-4c9d-9f0a-0c8a5d3b7e21
author: Ann, Bob
level: high
tags:
  - attack.discovery
logsource:
  product: windows
detection:
  selection_who:
    - Image|endswith: '\whoami.exe'
    - OriginalFileName: whoami.exe
  selection_all:
    CommandLine|contains: ['/priv', '/all']
    EventID: 1
  filter:
    User: null
  condition: all of selection_* and not filter
"""


KEYWORDS = """
title: Words
logsource: {product: linux, service: auth}
detection:
  keywords: [secret, 'pass*word', 7]
  times: {Size|gt: 5, Port|startswith: '80', Signed: true}
  condition: 1 of them
"""


class TestSigma(DialectConformance):
    dialect = "sigma"
    texts = (RULE, KEYWORDS)


class TestSigmaOfLogs(DialectConformance):
    dialect = "sigma:log-sources"
    texts = (RULE, KEYWORDS)
    events: ClassVar[Sequence[Mapping[str, Any]]] = (
        {"logsource.product": "linux", "logsource.service": "auth", "Signed": True},
    )


def refused(text: str, kind: type[ParseError] = ParseError) -> ParseError:
    with pytest.raises(kind) as caught:
        SIGMA.parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("before", "after", "line", "column", "why"),
    [
        ("level: high", "level: higher", 5, 1, "'higher' is not a valid Sigma rule level"),
        ("title:", "titel:", 2, 1, "must have a title"),
        ("5c4c3b5e-", "5c4c", 3, 1, "must be an UUID"),
        ("  product: windows", "  - windows", 8, 1, "must be a valid YAML map"),
        ("|contains:", "|contain:", 15, 5, "did you mean contains?"),
        ("|endswith: '\\whoami.exe'", "|re: '('", 12, 7, "missing )"),
        ("and not filter", "and not filters", 19, 41, "did you mean filter?"),
        ("selection_* and", "selection_*", 19, 33, "and or or is missing before not"),
        ("all of selection_*", "all of x_*", 19, 21, "no selection is called x_*"),
        ("and not", "AND not", 19, 33, "write and in lower case"),
        ("not filter", "(not filter", 19, 48, "a parenthesis is not closed"),
        ("not filter", "not", 19, 40, "the name of a selection is missing"),
        ("not filter", "filter | count() > 5", 19, 44, "count its matches"),
        ("not filter", "filter | near x", 19, 44, "near behind | are not supported"),
        ("  filter:", "  selection_all:", 17, 3, "the key 'selection_all' is there twice"),
        ("'/all']", "'/all'", 16, 5, "no YAML"),
        ("tags:", "tags: [", 7, 3, "no YAML"),
        ("  filter:", "  5:", 10, 1, "5 is neither"),
        ("all of selection_* and not filter", "5", 10, 1, "write it in quotes"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_pointed_at(
    before: str, after: str, line: int, column: int, why: str
) -> None:
    assert before in RULE
    error = refused(RULE.replace(before, after))
    assert (why in error.message, error.line, error.column) == (True, line, column), error.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("title: x\ncorrelation:\n  type: event_count", "a correlation is about several events"),
        ("title: x\nfilter:\n  rules: []", "a filter changes other rules"),
        ("action: global\ntitle: x", "documents with an action"),
        (RULE.replace("  filter:", "  timeframe: 5m\n  filter:"), "a timeframe is about several"),
    ],
)
def test_what_is_about_several_events_is_refused_by_name(text: str, why: str) -> None:
    error = refused(text, UnsupportedSyntaxError)
    assert why in error.message
    assert error.hint is not None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# nothing", "holds no rule"),
        (f"{RULE}---\n{RULE}", "holds 2 documents"),
        ("- title: x", "a rule is a mapping"),
        ("title", "a rule is a mapping"),
        ("{", "no YAML"),
        ("title: \x07", "no YAML"),
        ("title: 2026-13-45", "no YAML"),
        ("title: !!int ''", "no YAML"),
        ("title: !!python/name:os.system x", "no YAML"),
    ],
)
def test_what_is_no_rule_is_refused(text: str, why: str) -> None:
    assert why in refused(text).message


def test_a_rule_may_be_json() -> None:
    document = {
        "title": "A \U0001f600",
        "logsource": {"product": "x"},
        "detection": {"s": {"a": "\t"}, "condition": "s"},
    }
    engine = Engine()
    engine.subscribe(json.dumps(document), id="rule", dialect="sigma")
    assert engine.match({"a": "\t"}) == ["rule"]
    assert SIGMA.about(json.dumps(document)) == {"title": "A \U0001f600"}


def test_a_rule_says_who_wrote_it() -> None:
    assert SIGMA.about(RULE) == {
        "title": "Somebody asks who they are",
        "id": "5c4c3b5e-8f5e-4c9d-9f0a-0c8a5d3b7e21",
        "level": "high",
        "tags": ["attack.discovery"],
        "author": "Ann, Bob",
    }


def test_a_match_is_explained_in_the_words_of_the_rule() -> None:
    engine = Engine()
    engine.subscribe(RULE, id="who", dialect="sigma")
    event = {"Image": "C:\\WHOAMI.exe", "CommandLine": "whoami /all", "EventID": "1", "User": "ann"}
    assert (
        str(engine.explain("who", event))
        == r"""who: matched
  ✓ AND
    ✓ AND
      ✓ selection_who
        ✓ OR
          ✓ Image|endswith: '\whoami.exe'    saw 'C:\\WHOAMI.exe'
          ✗ OriginalFileName: 'whoami.exe'    saw absent
      ✓ selection_all
        ✓ AND
          ✓ CommandLine|contains: ['/priv', '/all']    saw 'whoami /all' (met by '/all')
          ✓ EventID: 1    saw '1'
    ✓ NOT
      ✗ filter
        ✗ User: null    saw 'ann'"""
    )


def test_all_of_several_values_tell_which_is_missing() -> None:
    text = RULE.replace("|contains:", "|contains|all:").replace("'/priv', ", "'/PRIV', ")
    engine = Engine()
    engine.subscribe(text, id="who", dialect="sigma:log-sources")
    shown = str(engine.explain("who", {"CommandLine": "whoami /all", "logsource.product": "x"}))
    assert "✗ CommandLine|contains|all: ['/PRIV', '/all']    saw 'whoami /all'" in shown
    assert "(not met: '/PRIV')" in shown
    assert "✗ logsource, product: windows    saw 'x'" in shown


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("sources", "there are log-sources and pipeline=NAME"),
        ("pipeline=", "there are log-sources and pipeline=NAME"),
        ("pipeline=of-nobody", "no pipeline 'of-nobody' is installed"),
        ("pipeline=/etc/passwd", "no pipeline '/etc/passwd' is installed"),
    ],
)
def test_options_that_are_not_there_are_refused(options: str, why: str) -> None:
    with pytest.raises(UnknownDialectError, match=why):
        dialect_named(f"sigma:{options}")


def test_without_pysigma_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predicast.language.dialect_registry._dialects", {})
    monkeypatch.delitem(sys.modules, "predicast.language.sigma.dialect")
    monkeypatch.setitem(sys.modules, "sigma.processing.pipeline", None)
    with pytest.raises(UnknownDialectError, match="comes with the extra 'sigma'"):
        dialect_named("sigma")


def test_a_file_may_hold_several_rules() -> None:
    other = RULE.replace("id: 5c4c3b5e", "# id: 5c4c3b5e")
    found = list(SIGMA.documents(f"{RULE}---\n{other}---\n"))
    assert [(each.line, each.id) for each in found] == [
        (1, "5c4c3b5e-8f5e-4c9d-9f0a-0c8a5d3b7e21"),
        (20, None),
    ]
    expected = to_subscription(SIGMA.parse(RULE))
    assert [to_subscription(SIGMA.parse(each.text)) for each in found] == [expected] * 2


# Texts meant to do harm.


@pytest.mark.parametrize("opening", ["[", "- ", "? ", "{a: ", '{"a":', "[ \n", "a: [", "- - "])
def test_what_is_nested_too_deeply_is_refused(opening: str) -> None:
    with pytest.raises((NestingTooDeepError, ParseError)):
        SIGMA.parse(opening * 10_000)
    with pytest.raises((NestingTooDeepError, ParseError)):
        list(SIGMA.documents("---\n---\n" + opening * 10_000))


def test_deep_json_is_refused() -> None:
    with pytest.raises(NestingTooDeepError):
        SIGMA.parse('{"a": ' + "[" * 100 + "]" * 100 + "}")


def test_deep_conditions_are_refused() -> None:
    deep = "(" * 1_000 + "filter" + ")" * 1_000
    with pytest.raises(NestingTooDeepError):
        SIGMA.parse(RULE.replace("not filter", deep))
    nots = "not " * 1_000 + "filter"
    assert SIGMA.parse(RULE.replace("not filter", nots)) is not None


def laughs(reference: str) -> str:
    """Aliases of aliases of aliases: a billion of what stands in the first."""
    lines = ["a0: &a0 {x: 1}"]
    for number in range(1, 30):
        others = ", ".join([f"*a{number - 1}"] * 9)
        lines.append(f"a{number}: &a{number} {reference.format(others)}")
    return "\n".join(lines)


@pytest.mark.parametrize("reference", ["[{}]", "{{<<: [{}]}}"])
def test_aliases_that_grow_are_refused(reference: str) -> None:
    detection = laughs(reference).replace("\n", "\n  ")
    text = f"title: x\nlogsource: {{product: x}}\ndetection:\n  {detection}\n  condition: a29\n"
    message = refused(text).message
    assert "expand to too many" in message or "brings in more than 10000 keys" in message


def test_a_mapping_that_brings_in_itself_is_no_rule() -> None:
    refused("title: &t {<<: *t, a: 1}")
    refused("title: &t [*t]\nlogsource: {product: x}\ndetection: *t")


def test_few_aliases_are_read() -> None:
    text = RULE.replace("- Image", "- &image\n      Image").replace(
        "- OriginalFileName: whoami.exe", "- {<<: *image, OriginalFileName: whoami.exe}"
    )
    engine = Engine()
    engine.subscribe(text, id="who", dialect="sigma")
    assert "OriginalFileName" in str(engine.explain("who", {}))


def test_conditions_that_grow_are_refused() -> None:
    many: dict[str, Any] = {f"s{number}": {"a": number} for number in range(500)}
    detection = {**many, "condition": " and ".join(["1 of s*"] * (MAX_TESTS // 500 + 1))}
    document = {"title": "x", "logsource": {"product": "x"}, "detection": detection}
    with pytest.raises(LimitError, match="more than 100,000 tests"):
        SIGMA.parse(json.dumps(document))
