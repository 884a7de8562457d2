"""Events as rules expect them: flat, with the names that Sigma gives to what Windows logs.

A record of the Windows event log has a ``System`` part, whose attributes are called by element and
attribute, ``Provider_Name``, and an ``EventData`` part, whose values are called by their own names.
It comes as XML, as what ``evtx_dump`` and other converters make of that, or from Winlogbeat. What
is none of these is taken as it is.

Keywords of rules are looked for in the text of all values, a line each, which is one attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

from predicast.errors import InvalidEventError, shortened

_EVENT: Final = "Event"
_TEXT: Final = "#text"
_ATTRIBUTES: Final = "#attributes"
_SIGN: Final = "@"  # before the names of attributes, as xmltodict writes them
_DATA: Final = "Data"
_NUMBERED: Final = "Data"  # values of EventData without names share one name, as in Winlogbeat
_BEAT_NAMES: Final = {
    "event_id": "EventID",
    "channel": "Channel",
    "computer_name": "Computer",
    "provider_name": "Provider_Name",
    "provider_guid": "Provider_Guid",
    "record_id": "EventRecordID",
    "task": "Task",
    "opcode": "Opcode",
    "level": "Level",
    "version": "Version",
}
MAX_DEPTH: Final = 100  # elements or objects inside one another


def read_event(document: Any, text_name: str) -> dict[str, Any]:
    """The attributes of an event, with the text of all of them under a name."""
    if isinstance(document, str):
        attributes = _of_xml(document)
    elif not isinstance(document, Mapping):
        raise InvalidEventError(
            f"an event is an object with attributes, or XML, not {shortened(document)}"
        )
    elif isinstance(document.get(_EVENT), Mapping):
        attributes = _of_record(document[_EVENT])
    elif isinstance(document.get("winlog"), Mapping):
        attributes = _of_beat(document)
    else:
        attributes = dict(document)
    attributes.setdefault(text_name, "\n".join(_texts(attributes)))
    return attributes


def events_of_xml(text: str) -> Iterator[dict[str, Any]]:
    """The events of a file of XML: one, many side by side, or many in an element around them."""
    root = _parsed(f"<Events>{_without_declaration(text)}</Events>")
    for each in root.iter():
        if _tag(each) == _EVENT:
            yield {_EVENT: _plain_element(each, 0)}


# XML.


def _of_xml(text: str) -> dict[str, Any]:
    root = _parsed(_without_declaration(text))
    if _tag(root) != _EVENT:
        raise InvalidEventError(f"an event of Windows is an element Event, not {_tag(root)}")
    return _of_record(_plain_element(root, 0))


def _without_declaration(text: str) -> str:
    text = text.lstrip("\ufeff \t\r\n")
    return text.partition("?>")[2] if text.startswith("<?xml") else text


def _parsed(text: str) -> ET.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InvalidEventError("an event of Windows has no document type, and this one does")
    try:
        return ET.fromstring(text)
    except ET.ParseError as error:
        raise InvalidEventError(f"the event is no XML: {error}") from None


def _plain_element(element: ET.Element, depth: int) -> dict[str, Any]:
    """An element as converters have it: attributes, text, and elements in it, in lists if many."""
    if depth > MAX_DEPTH:
        raise InvalidEventError(f"elements are more than {MAX_DEPTH} deep")
    plain: dict[str, Any] = {f"{_SIGN}{name}": value for name, value in element.items()}
    for child in element:
        plain.setdefault(_tag(child), []).append(_plain_element(child, depth + 1))
    text = (element.text or "").strip() if len(element) else element.text
    if text:
        plain[_TEXT] = text
    return plain


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]  # without the namespace


# Records, as converters have them.


def _of_record(record: Mapping[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for name, part in record.items():
        for each in part if isinstance(part, list) else [part]:
            if name in {"EventData", "UserData"}:
                attributes.update(_data(each, 0))
            elif isinstance(each, Mapping) and name == "System":
                attributes.update(_system(each))
    return attributes


def _system(system: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, part in system.items():
        for each in part if isinstance(part, list) else [part]:
            if not isinstance(each, Mapping):
                yield name, _as_id(name, each)
                continue
            if each.get(_TEXT) is not None:
                yield name, _as_id(name, each[_TEXT])
            for attribute, value in _attributes(each):
                yield f"{name}_{attribute}", value


def _as_id(name: str, value: Any) -> Any:
    """The id of an event is a number, wherever it was written as text."""
    is_number = name == "EventID" and isinstance(value, str) and value.strip().isdecimal()
    return int(value) if is_number else value


def _attributes(element: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    inner = element.get(_ATTRIBUTES)
    if isinstance(inner, Mapping):
        yield from inner.items()
    for name, value in element.items():
        if name.startswith(_SIGN):
            yield name.removeprefix(_SIGN), value


def _data(part: Any, depth: int) -> dict[str, Any]:
    """Values under their own names, however deep they stand."""
    found: dict[str, Any] = {}
    if depth > MAX_DEPTH or not isinstance(part, Mapping):
        return found
    for name, given in part.items():
        if name.startswith((_SIGN, "#")):
            continue
        for each in given if isinstance(given, list) else [given]:
            value = each
            if isinstance(each, Mapping):
                named = dict(_attributes(each)).get("Name") if name == _DATA else None
                if named is None and not _is_value(each):
                    found.update(_data(each, depth + 1))
                    continue
                value = each.get(_TEXT)
                if named is not None:
                    found[str(named)] = value
                    continue
            _add(found, name, value)
    return found


def _is_value(element: Mapping[str, Any]) -> bool:
    """Whether there is nothing in an element but text."""
    return all(name.startswith((_SIGN, "#")) for name in element)


def _add(found: dict[str, Any], name: str, value: Any) -> None:
    """Values that share a name are lines of one text."""
    if name == _NUMBERED and found.get(name) is not None and value is not None:
        value = f"{found[name]}\n{value}"
    found[name] = value


# Winlogbeat.


def _of_beat(document: Mapping[str, Any]) -> dict[str, Any]:
    beat = document["winlog"]
    attributes = {name: value for name, value in document.items() if name != "winlog"}
    for theirs, ours in _BEAT_NAMES.items():
        if beat.get(theirs) is not None:
            attributes[ours] = _as_id(ours, beat[theirs])
    for part in ("event_data", "user_data"):
        data = beat.get(part)
        if isinstance(data, Mapping):
            attributes.update(data)
    return attributes


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The text of every value, however deep it stands."""
    if depth > MAX_DEPTH or value is None:
        return
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each, depth + 1)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each, depth + 1)
    else:
        yield str(value)
