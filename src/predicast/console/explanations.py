"""Explanations as rows: each test, whether it held, and the value that it saw."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from predicast.engine import Explanation

_CLASSES: Final = {True: "good", False: "bad", None: "quiet"}
_WORDS: Final = {True: "held", False: "failed", None: "unknown"}


def show_explanation(explanation: object) -> None:
    """An explanation of a flat event as rows, of a graph as its text."""
    if not isinstance(explanation, Explanation):
        ui.label(str(explanation)).classes("mono whitespace-pre-wrap")
        return
    with ui.element("div").classes("w-full"):
        for depth, each in explanation.outcome.lines():
            with ui.row().classes("no-wrap gap-2 items-baseline").style(f"padding-left:{depth}rem"):
                mark = ui.label(each.mark).classes(_CLASSES[each.held])
                mark.props(f'aria-label="{_WORDS[each.held]}"')
                with ui.row().classes("gap-x-2 gap-y-0 items-baseline"):
                    ui.label(each.brief).classes("mono wrap-anywhere")
                    if each.saw is not None:
                        ui.label(f"saw {each.saw}").classes("quiet mono wrap-anywhere")
                    if each.reason:
                        ui.label(f"({each.reason})").classes("quiet text-sm")
