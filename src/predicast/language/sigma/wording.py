"""What a rule says, in its own words: selections by name, and lines as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sigma.modifiers import modifier_mapping
from sigma.rule.detection import SigmaDetectionItem
from sigma.types import SigmaBool, SigmaNull, SigmaString, SigmaType

from predicast.language.sigma.selections import (
    Condition,
    Item,
    Selection,
    expression_of_tests,
    tests_of_item,
    tests_of_items,
)
from predicast.language.sigma.values import Test
from predicast.language.wording import Phrase, Wording
from predicast.model import Leaf
from predicast.model.expression import Node, mapped

_MODIFIERS: Final = {kind: name for name, kind in reversed(modifier_mapping.items())}


def wording_of_condition(condition: Condition, keywords: str) -> Wording:
    """The tree of a condition, with that of each selection below its name."""

    def named(selection: Selection) -> Phrase:
        return _phrase(
            selection.name,
            tests_of_items(selection.items),
            part=mapped(selection.items, lambda item: _line(item, keywords)),
        )

    return mapped(condition, named)


def wording_of_source(name: str, word: str, attribute: str, test: Test) -> Wording:
    """A part of a log source."""
    return Leaf(_phrase(f"logsource, {name}: {word}", Leaf(test), attributes=(attribute,)))


def _line(item: Item, keywords: str) -> Phrase:
    written = item.written
    values = [_shown(each) for each in _as_written(written)]
    key = "|".join([written.field or "", *map(_MODIFIERS.__getitem__, written.modifiers)])
    shown = values[0] if len(values) == 1 else f"[{', '.join(values)}]"
    choices: Sequence[Phrase] = ()
    if len(values) > 1 and len(values) == len(written.value) and not written.negated:
        choices = [
            _phrase(text, tests_of_item(written, [value], keywords))
            for text, value in zip(values, written.value, strict=True)
        ]
    return _phrase(
        f"{key}: {shown}" if key else f"keywords: {shown}",
        item.tests,
        attributes=(written.field or keywords,),
        choices=tuple(choices),
    )


def _as_written(item: SigmaDetectionItem) -> Sequence[SigmaType]:
    """The values before modifiers, unless a pipeline has made others of them."""
    before = item.original_value
    if before is None or len(before) != len(item.value):
        return item.value or [SigmaNull()]
    return before or [SigmaNull()]


def _shown(value: SigmaType) -> str:
    match value:
        case SigmaNull():
            return "null"
        case SigmaBool(truth):
            return str(truth).lower()
        case SigmaString():
            text = value.original or str(value)
            return "'" + text.replace("'", "''") + "'"
        case _:
            return str(value)


def _phrase(text: str, tests: Node[Test], **parts: Any) -> Phrase:
    return Phrase(
        text,
        expression_of_tests(tests, wanted=True),
        expression_of_tests(tests, wanted=False),
        **parts,
    )
