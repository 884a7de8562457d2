"""YAML of Sigma rules: read within bounds, and where in the text something stands.

libyaml reads what is nested by calling itself, without a limit: a few thousand brackets end the
process. So nesting is counted first, cheaply, and exactly if that leaves a doubt. Aliases share
what they stand for, and are refused where that grows too much, by what pySigma has for selections;
merging, with ``<<``, copies, and is counted before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec
import yaml
from sigma.exceptions import SigmaError
from sigma.rule.base import check_alias_expansion

from predicast.errors import NestingTooDeepError, ParseError
from predicast.language.where.position import error_at

MAX_DEPTH: Final = 50  # lists and mappings inside one another
_MAX_MERGED: Final = 10_000  # keys that << brings into the mappings of a text
_OPENING: Final = re.compile(r"[\[{]")
_INDENT: Final = re.compile(r"^[ \t?:-]+", re.MULTILINE)
_SEPARATOR: Final = re.compile(r"^---", re.MULTILINE)
_MERGE: Final = "tag:yaml.org,2002:merge"
# What PyYAML raises, be it on purpose: "!!int ''" is an IndexError.
_REFUSALS: Final = (
    yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError,
    RecursionError,
)  # fmt: skip
_NOT_YAML: Final = "the text is no YAML"

Path = Sequence[str | int]  # keys and positions, from the document down


class _Loader(yaml.CSafeLoader):
    """Refuses a key that is there twice, and too much of ``<<``."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._merged = 0
        self._seen: set[int] = set()  # mappings that were looked at, which live as long as this

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Bring in what ``<<`` asks for; of each mapping that is done once, before it is made."""
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        keys: set[tuple[str, str]] = set()
        for key, value in node.value:
            if key.tag == _MERGE:
                self._count(value)
            elif isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in keys:
                    raise _refused(key, f"the key {key.value!r} is there twice")
                keys.add((key.tag, key.value))
        super().flatten_mapping(node)

    def _count(self, brought: yaml.Node) -> None:
        for each in brought.value if isinstance(brought, yaml.SequenceNode) else [brought]:
            if isinstance(each, yaml.MappingNode):
                self.flatten_mapping(each)
                self._merged += len(each.value)
            if self._merged > _MAX_MERGED:
                raise _refused(each, f"<< brings in more than {_MAX_MERGED} keys")


def _refused(node: yaml.Node, why: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, why, node.start_mark)


def read_documents(text: str) -> list[Any]:
    """The documents of a text that is YAML, or one that is JSON; empty ones are left out."""
    if text.lstrip().startswith("{"):
        try:
            document = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            pass  # a mapping of YAML may begin so as well
        else:
            return [_shallow(document)]
    check_depth(text)
    try:
        found = list(yaml.load_all(text, Loader=_Loader))  # a safe loader
    except yaml.MarkedYAMLError as error:
        raise _at_mark(text, error) from None
    except _REFUSALS as error:
        raise error_at(ParseError, text, 0, f"{_NOT_YAML}: {_first_line(error)}") from None
    if "&" in text:  # what aliases share is looked at again wherever they stand
        try:
            check_alias_expansion(found)
        except SigmaError as error:
            raise error_at(ParseError, text, text.index("&"), str(error)) from None
    return [document for document in found if document is not None]


def split_documents(text: str) -> list[tuple[int, str]]:
    """The texts of documents that stand in one, each with the line that it begins on, from 1."""
    if _SEPARATOR.search(text, 1) is None:
        return [(1, text)]
    check_depth(text)
    try:
        starts = [
            _offset(text, event.start_mark)
            for event in yaml.parse(text, Loader=yaml.CSafeLoader)
            if isinstance(event, yaml.DocumentStartEvent)
        ]
    except yaml.MarkedYAMLError as error:
        raise _at_mark(text, error) from None
    except yaml.YAMLError as error:
        raise error_at(ParseError, text, 0, f"{_NOT_YAML}: {_first_line(error)}") from None
    if len(starts) < 2:
        return [(1, text)]
    starts[0] = 0  # with what stands before the first
    documents = [text[begin:end] for begin, end in pairwise([*starts, len(text)])]
    return [
        (text.count("\n", 0, begin) + 1, each)
        for begin, each in zip(starts, documents, strict=True)
        if each.strip("- \t\r\n.")
    ]


def _shallow(document: Any) -> Any:
    """The document, unless it is nested too deeply."""
    level, depth = [document], 0
    while level:
        if depth > MAX_DEPTH:
            raise _too_deep(depth)
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(each.values())
            elif isinstance(each, list):
                inner.extend(each)
        level, depth = inner, depth + 1
    return document


def check_depth(text: str) -> None:
    """Refuse what is nested too deeply to be read."""
    deepest = max(map(len, _INDENT.findall(text)), default=0)
    if deepest + len(_OPENING.findall(text)) <= MAX_DEPTH:
        return
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):  # flat: nothing calls itself
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    raise _too_deep(depth)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.MarkedYAMLError as error:
        raise _at_mark(text, error) from None
    except yaml.YAMLError as error:
        raise error_at(ParseError, text, 0, f"{_NOT_YAML}: {_first_line(error)}") from None


def _too_deep(depth: int) -> NestingTooDeepError:
    return NestingTooDeepError(
        f"lists and mappings are more than {MAX_DEPTH} deep", limit=MAX_DEPTH, actual=depth
    )


def place_of(text: str, path: Path) -> int:
    """The character from which on something stands, or the nearest thing around it.

    Of what a key leads to that is the key, since that is what people look for.
    """
    try:
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:  # JSON that is no YAML
        return 0
    place = 0 if node is None else _offset(text, node.start_mark)
    for step in path:
        key, node = _child(node, step)
        if node is None:
            break
        place = _offset(text, (key or node).start_mark)
    return place


def value_of(text: str, path: Path) -> tuple[int, bool]:
    """Where a value begins, and whether it stands there character by character, on one line."""
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    for step in path:
        _, node = _child(node, step)
    if not isinstance(node, yaml.ScalarNode):
        return place_of(text, path), False
    begin, end = _offset(text, node.start_mark), _offset(text, node.end_mark)
    quote = 1 if node.style in {"'", '"'} else 0
    return begin + quote, text[begin + quote : end - quote] == node.value


def _child(node: Any, step: str | int) -> tuple[Any, Any]:
    """The key, if it has one, and the value that a step leads to."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key, value
    return None, None


def _at_mark(text: str, error: yaml.MarkedYAMLError) -> ParseError:
    mark = error.problem_mark or error.context_mark
    offset = 0 if mark is None else _offset(text, mark)
    problem = error.problem or error.context
    return error_at(ParseError, text, offset, f"{_NOT_YAML}: {problem}")


def _offset(text: str, mark: Any) -> int:
    """libyaml counts characters, but not a byte order mark before them."""
    return int(mark.index) + text.startswith("\ufeff")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
