"""Who may see the console, and for how long."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.server import make_app
from predicast.console import mount
from predicast.console.place import Place
from predicast.console.rates import Rates
from predicast.console.visitors import ADMIN, PUBLISH, SUBSCRIBE, SignedIn, Visitor
from predicast.errors import NotAllowedError
from tests.unit.broker.server.serving import served


@dataclass
class Hand:
    """A clock that is set by hand."""

    now: float = 0.0

    def wall(self) -> float:
        return self.now

    def steady(self) -> float:
        return self.now


def test_a_scope_that_is_missing_is_named() -> None:
    visitor = Visitor(scopes=frozenset({PUBLISH}))
    visitor.require(PUBLISH)
    with pytest.raises(NotAllowedError, match="subscribe") as caught:
        visitor.require(SUBSCRIBE)
    assert caught.value.scope == SUBSCRIBE


def test_an_administrator_may_do_everything() -> None:
    assert Visitor(scopes=frozenset({ADMIN})).may(SUBSCRIBE)


def test_visitors_are_known_until_they_leave_or_it_is_too_long_ago() -> None:
    clock = Hand()
    signed_in = SignedIn(clock)
    one, other = (signed_in.add(token) for token in ("token", "token"))
    assert one != other
    assert signed_in.token(one) == "token"
    signed_in.remove(one)
    assert signed_in.token(one) is None
    clock.now = 13 * 3600
    assert signed_in.token(other) is None
    assert signed_in.token(None) is None
    assert signed_in.token("guessed") is None


def test_the_oldest_give_way() -> None:
    signed_in = SignedIn(Hand())
    first = last = signed_in.add("token")
    for _ in range(10_000):
        last = signed_in.add("token")
    assert signed_in.token(first) is None
    assert signed_in.token(last) is not None


def test_a_token_that_was_removed_opens_no_page(tmp_path: Path) -> None:
    tokens = {"secret": Visitor("acme")}
    app = FastAPI()
    mount(app, Broker(EmbeddedBackend(tmp_path)), visitor_of=tokens.get)

    async def visit() -> None:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://console") as client,
        ):
            assert (await client.get("/sign-in")).status_code == 200
            refused = await client.post("/sign-in", data={"token": "guessed"})
            assert (refused.status_code, "does not know" in refused.text) == (403, True)
            long = await client.post("/sign-in", content=b"token=" + b"x" * 10_000)
            assert long.status_code == 403
            assert (await client.get("/")).headers["location"] == "/sign-in"
            cookie = (await client.post("/sign-in", data={"token": "secret"})).headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert "secret" not in cookie
            tokens.clear()
            assert (await client.get("/")).headers["location"] == "/sign-in"

    asyncio.run(visit())


def test_what_a_page_does_ends_with_its_token(tmp_path: Path) -> None:
    tokens: dict[str, Visitor] = {"secret": Visitor("acme")}
    broker = Broker(EmbeddedBackend(tmp_path))
    place = Place(broker, lambda: tokens.get("secret"), Rates(), {}, can_sign_out=True)
    assert place.tenant.name == "acme"
    tokens.clear()
    for use in (lambda: place.visitor, lambda: place.tenant, lambda: place.held):
        with pytest.raises(NotAllowedError, match="sign in"):
            use()


PERSON = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def test_programs_hear_of_what_is_not_there_and_people_see_a_page(tmp_path: Path) -> None:
    broker = Broker(EmbeddedBackend(tmp_path))
    app = make_app(broker)
    mount(app, broker)

    async def ask() -> None:
        async with served(app) as client:
            for method, path, headers, status in (
                ("GET", "/nothing", {}, 404),
                ("GET", "/nothing", {"Accept": "application/json"}, 404),
                ("POST", "/nothing", PERSON, 404),
                ("GET", "/events/1/nothing", PERSON, 404),
                ("GET", "/events/1", PERSON, 404),
                ("DELETE", "/events", {}, 405),
                ("GET", "/subscriptions:apply", PERSON, 405),
            ):
                answer = await client.request(method, path, headers=headers)
                assert answer.status_code == status, path
                assert answer.headers["content-type"] == "application/problem+json", path
                assert answer.json()["error"] == "HttpError"
                assert ("allow" in answer.headers) is (status == 405)
            page = await client.get("/nothing", headers=PERSON)
            assert (page.status_code, page.headers["content-type"][:9]) == (404, "text/html")
            page = await client.get("/", headers=PERSON)
            assert (page.status_code, page.headers["content-type"][:9]) == (200, "text/html")
            assert (await client.get("/")).status_code == 200

    asyncio.run(ask())
