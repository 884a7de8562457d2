"""The addresses of the pages, and who may see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse
from nicegui import ui

from predicast.broker import Broker
from predicast.console.frame import DARK, end_with_token, framed, nothing_yet
from predicast.console.place import Page, Place, Tree
from predicast.console.rates import Rates
from predicast.console.visitors import Visitor


def add_pages(
    pages: Sequence[Page],
    broker: Broker,
    visitor_of: Callable[[Request], Visitor | None],
    *,
    can_sign_out: bool,
    tree: Tree | None,
) -> None:
    """Register every page; an address that had one before has the new one."""
    rates: dict[str, Rates] = {}

    def add(page: Page) -> None:
        @ui.page(page.path)
        async def shown(request: Request) -> Any:
            visitor = visitor_of(request)
            if visitor is None:
                return RedirectResponse("/sign-in", status_code=303)
            let_in = visitor

            def asks() -> Visitor | None:
                """The same visitor, unless their token is gone or has become another."""
                now = visitor_of(request)
                return now if now == let_in else None

            asked = {**request.query_params, **request.path_params}
            history = rates.setdefault(visitor.tenant, Rates())
            address = str(request.base_url).rstrip("/")
            place = Place(
                broker, asks, history, asked, can_sign_out, tree, _is_dark(request), address
            )
            with framed(place, pages, page):
                if can_sign_out:
                    end_with_token(place)
                if page.scope is None or visitor.may(page.scope):
                    await page.build(place)
                else:
                    nothing_yet(
                        f"This page needs a token with the scope {page.scope}.",
                        link=("Sign in with another one", "/sign-out"),
                    )

    for page in pages:
        add(page)


def _is_dark(request: Request) -> bool | None:
    return {"true": True, "false": False}.get(request.cookies.get(DARK, ""))
