"""``mount``: the console on an application that serves a broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from predicast.broker import Broker
from predicast.console.place import Tree
from predicast.console.visitors import SignedIn, Visitor
from predicast.errors import InvalidOptionError

if TYPE_CHECKING:
    from fastapi import FastAPI

VisitorOf = Callable[[str], Visitor | None]
COOKIE: Final = "predicast-visitor"


def mount(
    app: FastAPI,
    broker: Broker,
    *,
    visitor_of: VisitorOf | None = None,
    tree: Tree | None = None,
) -> None:
    """Serve the console at ``/``, after all other routes of the application have been added.

    ``visitor_of`` says who a token belongs to, and gives ``None`` for one that is unknown. Without
    it there are no tokens: whoever reaches the address may do everything with the default tenant.

    ``tree`` knows the neighbours of a broker that is linked to others: its ``Links``.

    A process has one console at a time: mounting another takes the pages from the first.
    """
    try:
        from nicegui import app as pages
        from nicegui import ui
    except ImportError:
        raise InvalidOptionError(
            "the console needs the extra 'console'; predicast doctor says how",
            option="console",
        ) from None
    from starlette.routing import Mount

    from predicast.console.pages import PAGES
    from predicast.console.pages_only import PagesOnly
    from predicast.console.routes import add_pages
    from predicast.console.sign_in import add_sign_in

    signed_in = SignedIn(broker.clock)
    if visitor_of is not None:
        add_sign_in(app, signed_in, visitor_of)

    def visitor(request: Any) -> Visitor | None:
        if visitor_of is None:
            return Visitor()
        token = signed_in.token(request.cookies.get(COOKIE))
        return None if token is None else visitor_of(token)

    add_pages(PAGES, broker, visitor, can_sign_out=visitor_of is not None, tree=tree)
    # Another application of this process may have had the console before, and is gone.
    pages.middleware_stack = None
    pages.user_middleware.clear()
    own = list(app.routes)
    ui.run_with(app, title="Predicast", favicon=_ICON, dark=None, show_welcome_message=False)
    mounted = app.routes[-1]
    assert isinstance(mounted, Mount)
    mounted.app = PagesOnly(pages, own)


_ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="9" cy="16" r="5" '
    'fill="#0d7d72"/><path d="M14 16h8M20 10l6 6-6 6" fill="none" stroke="#d9822b" '
    'stroke-width="3"/></svg>'
)
