"""Pages for people, and for nobody else: a program that asks for what is not there hears so.

The console stands at ``/`` and would answer whatever no other route does, with a page in HTML.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

_LOOKING: Final = frozenset({"GET", "HEAD"})


class PagesOnly:
    """The pages of an application, beside routes that are ``others``."""

    def __init__(self, pages: FastAPI, others: Iterable[BaseRoute]) -> None:
        self._pages = pages
        self._taken = {_first(each.path) for each in others if isinstance(each, Route)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_page(scope) and not self._is_person(scope):
            raise HTTPException(HTTPStatus.NOT_FOUND)
        scope["endpoint"] = self._pages  # by which NiceGUI tells that it is mounted
        await self._pages(scope, receive, send)

    def _is_page(self, scope: Scope) -> bool:
        return any(route.matches(scope)[0] is Match.FULL for route in self._pages.routes)

    def _is_person(self, scope: Scope) -> bool:
        """Somebody with a browser, who looks for a page where there could be one."""
        return (
            scope["method"] in _LOOKING
            and _first(scope["path"]) not in self._taken
            and "text/html" in Headers(scope=scope).get("accept", "")
        )


def _first(path: str) -> str:
    return path.split("/")[1] if "/" in path else ""
