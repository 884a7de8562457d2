"""Events that Sigma rules are written for: what Windows logs, in every form it comes in."""

from __future__ import annotations

from typing import Any

import pytest

from predicast.errors import InvalidEventError
from predicast.language.sigma import SigmaDialect

SIGMA = SigmaDialect()
SPACE = "http://schemas.microsoft.com/win/2004/08/events/event"
XML = rf"""<Event xmlns="{SPACE}">
  <System>
    <Provider Name="Microsoft-Windows-Sysmon" Guid="{{5770}}"/>
    <EventID Qualifiers="0">1</EventID>
    <TimeCreated SystemTime="2026-01-01T00:00:00Z"/>
    <Execution ProcessID="788" ThreadID="792"/>
    <Channel>Sysmon</Channel>
    <Computer>pc-1</Computer>
  </System>
  <EventData>
    <Data Name="Image">C:\cmd.exe</Data>
    <Data Name="User">a &amp; b</Data>
    <Data Name="Empty"></Data>
  </EventData>
</Event>"""
FLAT = {
    "Provider_Name": "Microsoft-Windows-Sysmon",
    "Provider_Guid": "{5770}",
    "EventID": 1,
    "EventID_Qualifiers": "0",
    "TimeCreated_SystemTime": "2026-01-01T00:00:00Z",
    "Execution_ProcessID": "788",
    "Execution_ThreadID": "792",
    "Channel": "Sysmon",
    "Computer": "pc-1",
    "Image": "C:\\cmd.exe",
    "User": "a & b",
}


def read(document: Any) -> dict[str, Any]:
    found = dict(SIGMA.read_event(document))
    found.pop("_text")
    return {name: value for name, value in found.items() if value is not None}


def test_xml() -> None:
    assert read(XML) == read(f'\ufeff<?xml version="1.0"?>\n{XML}') == FLAT


def test_a_file_of_xml() -> None:
    for content in (XML, f"{XML}\n{XML}", f"<Events>{XML}{XML}</Events>"):
        found = list(SIGMA.event_documents(content))
        assert [read(each) for each in found] == [FLAT] * content.count("<System>")


def test_what_evtx_dump_writes() -> None:
    document = {
        "Event": {
            "#attributes": {"xmlns": SPACE},
            "System": {
                "Provider": {"#attributes": {"Name": "Microsoft-Windows-Sysmon", "Guid": "{5770}"}},
                "EventID": {"#attributes": {"Qualifiers": "0"}, "#text": 1},
                "TimeCreated": {"#attributes": {"SystemTime": "2026-01-01T00:00:00Z"}},
                "Execution": {"#attributes": {"ProcessID": "788", "ThreadID": "792"}},
                "Channel": "Sysmon",
                "Computer": "pc-1",
            },
            "EventData": {"Image": "C:\\cmd.exe", "User": "a & b", "Empty": None},
        }
    }
    assert read(document) == FLAT


def test_what_xmltodict_makes() -> None:
    document = {
        "Event": {
            "@xmlns": SPACE,
            "System": {"Provider": {"@Name": "Sysmon"}, "EventID": "4688", "Computer": "pc-1"},
            "EventData": {
                "Data": [{"@Name": "Image", "#text": "C:\\cmd.exe"}, {"@Name": "Empty"}],
            },
        }
    }
    assert read(document) == {
        "Provider_Name": "Sysmon",
        "EventID": 4688,
        "Computer": "pc-1",
        "Image": "C:\\cmd.exe",
    }


def test_data_without_names_are_lines() -> None:
    record = "<Event><EventData><Data>one</Data><Data>two</Data></EventData></Event>"
    assert read(record) == {"Data": "one\ntwo"}


def test_user_data_are_called_by_their_own_names() -> None:
    record = (
        "<Event><System><EventID>1102</EventID></System><UserData><LogFileCleared xmlns='x'>"
        "<SubjectUserName>ann</SubjectUserName></LogFileCleared></UserData></Event>"
    )
    assert read(record) == {"EventID": 1102, "SubjectUserName": "ann"}


def test_winlogbeat() -> None:
    document = {
        "@timestamp": "2026-01-01T00:00:00Z",
        "message": "Process Create",
        "winlog": {
            "event_id": "1",
            "channel": "Sysmon",
            "computer_name": "pc-1",
            "provider_name": "Microsoft-Windows-Sysmon",
            "event_data": {"Image": "C:\\cmd.exe"},
        },
    }
    assert read(document) == {
        "@timestamp": "2026-01-01T00:00:00Z",
        "message": "Process Create",
        "EventID": 1,
        "Channel": "Sysmon",
        "Computer": "pc-1",
        "Provider_Name": "Microsoft-Windows-Sysmon",
        "Image": "C:\\cmd.exe",
    }


def test_others_are_taken_as_they_are_with_the_text_of_all() -> None:
    event = {"a": {"b": ["x", 1, None]}, "c": 2.5, "d": True}
    assert SIGMA.read_event(event) == {**event, "_text": "x\n1\n2.5\nTrue"}
    assert SIGMA.read_event({"a": 1, "_text": "the line"}) == {"a": 1, "_text": "the line"}
    assert SigmaDialect(keywords="raw").read_event({"a": 1}) == {"a": 1, "raw": "1"}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (5, "an event is an object with attributes, or XML"),
        ("hello", "no XML"),
        ("<Event>", "no XML"),
        ("<Other/>", "an element Event, not Other"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><Event>&a;</Event>", "no document type"),
        ("<Event>" + "<a>" * 500 + "</a>" * 500 + "</Event>", "deep"),
    ],
    ids=["number", "words", "open", "other", "document type", "deep"],
)
def test_what_is_no_event_is_refused(document: Any, why: str) -> None:
    with pytest.raises(InvalidEventError, match=why):
        SIGMA.read_event(document)
