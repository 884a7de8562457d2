"""Sigma rules: from text to conditions on selections, by pySigma, with places for what is wrong.

pySigma reads the rule, applies modifiers, and, if there is one, a pipeline: fields are then called
as in the events at hand, placeholders become values, conditions are added. What it refuses, it
refuses without saying where; so the parts of the rule are tried again one by one, and the first
that fails is the place.

A rule is about one event. Those about several (correlations), and what is no rule but changes
others (filters, and documents with an ``action``), are refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sigma.exceptions import SigmaError
from sigma.modifiers import modifier_mapping
from sigma.policy import SigmaPolicy
from sigma.policy.regex_engine import RegexEngine, RegexPattern
from sigma.processing.pipeline import ProcessingPipeline
from sigma.rule import SigmaRule
from sigma.rule.detection import SigmaDetectionItem, SigmaDetections

from predicast.errors import ParseError, UnsupportedSyntaxError, suggest
from predicast.language.sigma.conditions import ConditionError, parse_condition
from predicast.language.sigma.selections import (
    Condition,
    ItemError,
    Selection,
    check_size,
    selection_of,
)
from predicast.language.sigma.yaml_text import Path, place_of, read_documents, value_of
from predicast.language.where.position import error_at
from predicast.locks import new_lock
from predicast.model import Or
from predicast.model.expression import mapped
from predicast.model.patterns import PatternError, regex_test

_DETECTION: Final = "detection"
_CONDITION: Final = "condition"
_SOURCES: Final = ("category", "product", "service")
# What pySigma raises, be it on purpose, of a document that is no rule.
_REFUSALS: Final = (
    SigmaError, AttributeError, TypeError, LookupError, ValueError, OverflowError, RecursionError,
)  # fmt: skip
_NOT_RULES: Final = {
    "correlation": (
        "a correlation is about several events, and a subscription about one",
        "subscribe the rules that it names, and count their matches",
    ),
    "filter": (
        "a filter changes other rules, and is none itself",
        "write it into the rules as a selection, with `and not` in their conditions",
    ),
    "action": (
        "documents with an action are parts of rules, and not supported",
        "write each rule out in a document of its own",
    ),
}
_NO_TIMEFRAME: Final = (
    "a timeframe is about several events, and a subscription about one",
    "give the rule without it, and count its matches",
)
# Which part of a rule an error is about, by the name of pySigma's class for it.
_KEYS: Final = {
    f"Sigma{name}Error": key
    for name, key in {
        "Title": "title", "Identifier": "id", "Name": "name", "Taxonomy": "taxonomy",
        "Related": "related", "Status": "status", "Description": "description",
        "License": "license", "References": "references", "Author": "author", "Date": "date",
        "Modified": "modified", "Logsource": "logsource", "Fields": "fields", "Level": "level",
        "FalsePositives": "falsepositives", "Tag": "tags", "Scope": "scope",
    }.items()
}  # fmt: skip


class _Regexes(RegexEngine):
    """Regular expressions as constraints have them: RE2's, which says nothing to standard error."""

    def compile(self, pattern: str, flags: int = 0) -> RegexPattern:
        letters = "".join(letter for flag, letter in _FLAGS.items() if flags & flag)
        # Nobody asks for more here than whether it is one.
        return cast(RegexPattern, regex_test(f"(?{letters}){pattern}" if letters else pattern))

    @property
    def error(self) -> type[Exception]:
        return PatternError


_FLAGS: Final = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}
_POLICY: Final = SigmaPolicy(regex_engine=_Regexes())


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the condition, and the log that it is meant for, as names and words."""

    condition: Condition
    log_source: tuple[tuple[str, str], ...]


_pipelines = new_lock()  # a pipeline takes one rule at a time


def read_rule(text: str, pipeline: ProcessingPipeline | None, keywords: str) -> Rule:
    """The rule that a text is; keywords are looked for in the attribute of that name."""
    document = rule_document(text)
    try:
        rule = SigmaRule.from_dict(document, policy=_POLICY)
        if pipeline is not None:
            with _pipelines:
                pipeline.apply(rule)
    except _REFUSALS as error:
        raise _refused(text, document, error) from error
    condition = _condition(text, document, rule.detection, keywords)
    source = rule.logsource
    named = [(name, getattr(source, name)) for name in _SOURCES]
    return Rule(condition, tuple((name, word) for name, word in named if word))


def rule_document(text: str) -> dict[str, Any]:
    """The one document of a text, which must look like a rule."""
    documents = read_documents(text)
    if not documents:
        raise error_at(ParseError, text, 0, "the text holds no rule")
    if len(documents) > 1:
        raise error_at(
            ParseError,
            text,
            0,
            f"the text holds {len(documents)} documents, and a subscription is one rule",
            hint="a file of several rules is read as several subscriptions",
        )
    [document] = documents
    if not isinstance(document, dict):
        raise error_at(
            ParseError,
            text,
            0,
            f"a rule is a mapping with a title, not a {type(document).__name__}",
        )
    for key, (why, hint) in _NOT_RULES.items():
        if key in document and (key == "action" or _DETECTION not in document):
            raise error_at(UnsupportedSyntaxError, text, place_of(text, [key]), why, hint=hint)
    _refuse_timeframe(text, document.get(_DETECTION))
    return document


def _refuse_timeframe(text: str, detection: Any) -> None:
    if isinstance(detection, dict) and "timeframe" in detection:
        place = place_of(text, [_DETECTION, "timeframe"])
        why, hint = _NO_TIMEFRAME
        raise error_at(UnsupportedSyntaxError, text, place, why, hint=hint)


def _condition(
    text: str, document: Mapping[str, Any], detections: SigmaDetections, keywords: str
) -> Condition:
    _check_text(text, detections)
    made: dict[str, Selection] = {}

    def selection(name: str) -> Selection:
        if name not in made:
            made[name] = selection_of(name, detections.detections[name], keywords)
        return made[name]

    alternatives: list[Condition] = []
    for number, each in enumerate(detections.parsed_condition):
        try:
            names = parse_condition(each.condition, detections.detections)
            alternatives.append(mapped(names, selection))
        except ConditionError as error:
            raise _bad_condition(text, document, number, error) from None
        except ItemError as error:
            path = _item_path(document, error)
            raise error_at(
                ParseError, text, place_of(text, path), f"{_named(path)}: {error.error}"
            ) from error.error
    condition = alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives))
    check_size(condition)
    return condition


def _check_text(text: str, detections: SigmaDetections) -> None:
    """Refuse names and conditions that YAML takes for something else, such as a number."""
    for given in (
        *detections.detections,
        *(each.condition for each in detections.parsed_condition),
    ):
        if not isinstance(given, str):
            raise error_at(
                ParseError,
                text,
                place_of(text, [_DETECTION]),
                f"selections have names and conditions are text, and {given!r} is neither",
                hint="write it in quotes",
            )


# Where it is wrong.


def _refused(text: str, document: Mapping[str, Any], error: Exception) -> ParseError:
    """What pySigma says of a rule, at the part of the rule that it says it of."""
    path = _path(document, error)
    said = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    if not isinstance(error, SigmaError):
        said = f"this is not how a rule is written ({said})"
    place = place_of(text, path)
    where = f"{_named(path)}: " if path else ""
    hint = _modifier_meant(path[-1]) if path else None
    return error_at(ParseError, text, place, f"no Sigma rule: {where}{said}", hint=hint)


def _modifier_meant(key: Any) -> str | None:
    """What a modifier is called that somebody may have meant."""
    _, *modifiers = str(key).split("|")
    for each in modifiers:
        if each not in modifier_mapping:
            close = suggest(each, modifier_mapping)
            return f"did you mean {close}?" if close else f"known: {', '.join(modifier_mapping)}"
    return None


def _path(document: Mapping[str, Any], error: Exception) -> Path:
    found = next(_failing(document.get(_DETECTION)), None)
    if found is not None:
        return [_DETECTION, *found]
    key = _KEYS.get(type(error).__name__, _DETECTION)
    return [key] if key in document else []


def _failing(detection: Any) -> Iterator[Path]:
    """The items of all selections that pySigma refuses."""
    if not isinstance(detection, dict):
        return
    for name, definition in detection.items():
        if name == _CONDITION:
            continue
        for path, key, value in _raw_items(definition, (name,)):
            try:
                SigmaDetectionItem.from_mapping(key, value, policy=_POLICY)
            except _REFUSALS:
                yield path


def _raw_items(definition: Any, path: tuple[Any, ...]) -> Iterator[tuple[Path, Any, Any]]:
    """The items of a selection as they are written: where, the key if there is one, the value."""
    if isinstance(definition, dict):
        for key, value in definition.items():
            yield (*path, key), key, value
    elif isinstance(definition, list) and any(isinstance(each, dict | list) for each in definition):
        for position, each in enumerate(definition):
            yield from _raw_items(each, (*path, position))
    else:
        yield path, None, definition


def _item_path(document: Mapping[str, Any], error: ItemError) -> Path:
    """Where an item stands, as far as the rule is still what was written."""
    path: list[Any] = [_DETECTION, error.selection]
    part = document[_DETECTION].get(error.selection)
    for position in error.path:
        if isinstance(part, dict) and position < len(part):
            step = list(part)[position]
        elif isinstance(part, list) and position < len(part):
            step = position
        else:
            break
        path.append(step)
        part = part[step]
    return path


def _bad_condition(
    text: str, document: Mapping[str, Any], number: int, error: ConditionError
) -> ParseError:
    written = document[_DETECTION].get(_CONDITION)
    path: list[str | int] = [_DETECTION, _CONDITION]
    if isinstance(written, list):
        path.append(number)
    place, is_literal = value_of(text, path)
    offset = place + error.offset if is_literal else place
    return error_at(ParseError, text, offset, f"condition: {error.message}", hint=error.hint)


def _named(path: Path) -> str:
    """Where it is, in words: ``selection, Image|endswith``."""
    return ", ".join(str(step) for step in path if step != _DETECTION) or _DETECTION
