"""How commands reach a broker: the options that say which, and the connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from predicast.cli.options import complete_dialect
from predicast.cli.subscriptions.options import named_texts

if TYPE_CHECKING:
    from predicast.client import SyncClient

REFUSED: Final = 2

Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        "-s",
        metavar="URL",
        envvar="PREDICAST_SERVER",
        help="The broker's address. [default: that of the context, or http://localhost:8642]",
        show_default=False,
    ),
]
Token: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        envvar="PREDICAST_TOKEN",
        help="What the broker knows us by. [default: the context's]",
        show_default=False,
        show_envvar=True,
    ),
]
DialectName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--dialect",
        metavar="NAME",
        help="The language of the expression.",
        autocompletion=complete_dialect,
    ),
]
ContextName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="NAME",
        envvar="PREDICAST_CONTEXT",
        help="A broker by its name; see `predicast context`.",
        show_default=False,
    ),
]


def address(server: str | None, token: str | None, context: str | None) -> tuple[str, str | None]:
    """The URL and the token that the options, or else the contexts, say."""
    from predicast.cli.remote.contexts import contexts_path, load_contexts
    from predicast.client.addresses import DEFAULT_URL

    if server is not None and context is None:
        return server, token
    held = load_contexts(contexts_path())
    name = context or held.current
    if name is None:
        return server or DEFAULT_URL, token
    chosen = held.named(name)
    return server or chosen.url, token or chosen.token


@contextmanager
def reached(
    server: str | None, token: str | None, context: str | None, *, publisher: str | None = None
) -> Iterator[SyncClient]:
    """A client of the broker, while the block runs."""
    require_client()
    from predicast.client import connect_sync

    url, known_by = address(server, token, context)
    with connect_sync(url, token=known_by, publisher=publisher) as client:
        yield client


def require_client() -> None:
    """Say what is to be installed, if it is not."""
    from predicast.cli.requirements import require_extras

    require_extras("a broker's client", "client")


def wire_parameters(given: Iterable[str] | None) -> dict[str, Any] | None:
    """What ``--parameter`` says, as it is sent: JSON, or else text as it stands."""
    import msgspec

    if not given:
        return None
    values: dict[str, Any] = {}
    for name, value in named_texts(given):
        try:
            values[name] = msgspec.json.decode(value)
        except msgspec.MsgspecError:
            values[name] = value
    return values
