"""``predicast serve``: a broker, until it is told to stop."""

from __future__ import annotations

import enum
import shlex
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from predicast.cli.graphs import GraphOptions, Ontologies, Validate
from predicast.cli.requirements import require_extras
from predicast.cli.terminal import notices, print_note, visible
from predicast.client.addresses import DEFAULT_PORT

if TYPE_CHECKING:
    from predicast.broker import Backend, Broker
    from predicast.broker.access import Access
    from predicast.broker.links import Links
    from predicast.graph import Ontology

DATA: Final = Path("predicast-data")
TOKENS: Final = "tokens.json"
_EVENT: Final = '{"price": 9.5}'
_SUBSCRIPTION: Final = '{"id": "cheap", "where": "price < 10"}'
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class MaxCost(enum.StrEnum):
    """By how many events a subscription may be tested with."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


def serve(  # noqa: PLR0913  # an option is a parameter
    *,
    data: Annotated[
        Path, typer.Option("--data", metavar="FOLDER", help="Where everything is kept.")
    ] = DATA,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="The port; 0 is any that is free.")
    ] = DEFAULT_PORT,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            metavar="URL",
            help="Share everything with other processes: nats://host:4222.",
        ),
    ] = None,
    parent: Annotated[
        list[str] | None,
        typer.Option("--parent", metavar="URL", help="A broker to link to. Several are tried."),
    ] = None,
    parent_token: Annotated[
        str | None,
        typer.Option(
            "--parent-token",
            envvar="PREDICAST_PARENT_TOKEN",
            metavar="TOKEN",
            help="What the parents ask for.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What linked brokers call this one.")
    ] = None,
    ontology: Ontologies = None,
    retention: Annotated[
        str | None,
        typer.Option(
            "--retention", metavar="AGE", help="How long events are kept: 12h, 7d. [default: 7d]"
        ),
    ] = None,
    retention_mb: Annotated[
        int | None,
        typer.Option(
            "--retention-mb",
            min=1,
            help="How many of them, of each tenant, in MiB. [default: 4096]",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            metavar="FILE",
            help="The tokens of predicast token. [default: tokens.json in the data folder]",
            show_default=False,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Let everybody who reaches it do everything."),
    ] = False,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help="A certificate, in PEM.")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option("--tls-key", metavar="FILE", help="Its key, in PEM.")
    ] = None,
    max_subscriptions: Annotated[
        int, typer.Option("--max-subscriptions", min=1, help="Of a tenant.")
    ] = 2_000_000,
    max_cost: Annotated[
        MaxCost,
        typer.Option(
            "--max-cost",
            help="Of a subscription, as predicast lint tells: medium refuses those that are "
            "tested with every event.",
        ),
    ] = MaxCost.HIGH,
    max_rate: Annotated[
        float | None,
        typer.Option("--max-rate", min=0.001, help="Events a second, of a tenant."),
    ] = None,
    max_body_mb: Annotated[
        int, typer.Option("--max-body-mb", min=1, max=1024, help="Of a request, in MiB.")
    ] = 16,
    allow_private_webhooks: Annotated[
        bool,
        typer.Option(
            "--allow-private-webhooks",
            help="Let webhooks call addresses of this machine and its network.",
        ),
    ] = False,
    console: Annotated[
        bool, typer.Option("--console/--no-console", help="Serve the pages at /, if installed.")
    ] = True,
) -> None:
    """Run a broker: publish and subscribe over HTTP and WebSocket.

    On loopback nobody is asked for a password. Anywhere else it does not start without a token,
    which `predicast token add` makes.
    """
    require_extras("a broker", "broker")
    from predicast.broker import Broker
    from predicast.broker.access import Access, Limits, TokenFile, check_exposure
    from predicast.broker.access.exposure import is_loopback
    from predicast.broker.server import make_app
    from predicast.broker.server.running import Listening, check_tls, run_app
    from predicast.broker.webhooks import PushOptions

    kept = TokenFile(tokens or data / TOKENS)
    has_tokens = bool(kept.tokens())
    where = _option("--tokens", tokens) if tokens else _option("--data", data, DATA)
    check_exposure(host, has_tokens=has_tokens, insecure=insecure, where=where)
    listening = Listening(host, port, tls_cert, tls_key)
    check_tls(listening)
    age = None if retention is None else _seconds(retention)
    known = _ontology(ontology)
    # Events, and the secrets of webhooks, are for the eyes of whoever runs the broker.
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    broker = Broker(_backend(backend, data, age, retention_mb, known))
    access = Access(
        broker,
        tokens=kept if has_tokens else None,
        limits=Limits(
            subscriptions=max_subscriptions,
            cost=max_cost.value,
            events_per_second=max_rate,
            body_bytes=max_body_mb << 20,
        ),
        is_local=is_loopback(host),
    )
    links = _links(broker, data, parent, parent_token, name)
    push = PushOptions(allow_private=allow_private_webhooks)
    app = make_app(broker, access, links=links, push=push)
    has_console = console and _mount_console(app, broker, access, links)
    if insecure and not has_tokens and not is_loopback(host):
        print_note("everybody who reaches this broker may do everything (--insecure)")

    def ready(address: str) -> None:
        _tell(address, backend or str(data), has_tokens=has_tokens, has_console=has_console)

    run_app(app, listening, ready)
    notices().print("Stopped.")


def _option(name: str, path: Path, default: Path | None = None) -> str:
    """An option as it is typed; nothing where it need not be."""
    return "" if path == default else f" {name} {shlex.quote(str(path))}"


def _ontology(files: list[str] | None) -> Ontology | None:
    if not files:
        return None
    return GraphOptions.of(files, False, None, Validate.OFF).ontology()


def _backend(
    url: str | None,
    data: Path,
    keep_for: float | None,
    keep_mb: int | None,
    ontology: Ontology | None,
) -> Backend:
    """What was not said of retention is as the backend has it."""
    keep_bytes = None if keep_mb is None else keep_mb << 20
    if url is not None:
        return _shared(url, {"retention_s": keep_for, "retention_bytes": keep_bytes}, ontology)
    from predicast.broker.embedded import EmbeddedBackend, EmbeddedOptions

    given: dict[str, Any] = {"keep_for": keep_for, "keep_bytes": keep_bytes}
    options = EmbeddedOptions(**{name: each for name, each in given.items() if each is not None})
    return EmbeddedBackend(data, options=options, ontology=ontology)


def _shared(url: str, retention: dict[str, Any], ontology: Ontology | None) -> Backend:
    """One that other processes share. What is said here goes before what the address says."""
    from predicast.broker.nats import NatsBackend
    from predicast.broker.nats.options import read_address

    _, stated = read_address(url)
    given = {name: each for name, each in retention.items() if each is not None}
    return NatsBackend(url, options=replace(stated, **given), ontology=ontology)


def _links(
    broker: Broker, data: Path, parents: list[str] | None, token: str | None, name: str | None
) -> Links:
    """Other brokers may link to this one, whether or not it has parents of its own."""
    from predicast.broker.links import Links, LinkSettings, Parent, SqliteLinkStore

    attached = tuple(Parent(url, token) for url in parents or ())
    return Links(broker, SqliteLinkStore(data), [LinkSettings(parents=attached, name=name)])


def _mount_console(app: Any, broker: Broker, access: Access, links: Links) -> bool:
    """The pages, if what they need is installed."""
    if find_spec("nicegui") is None:
        return False
    from predicast.console import Visitor, mount
    from predicast.errors import NotAllowedError

    def visitor_of(token: str) -> Visitor | None:
        try:
            grant = access.grant_of(token)
        except NotAllowedError:
            return None
        return Visitor(grant.tenant_for(None), grant.scopes)

    mount(app, broker, visitor_of=None if access.is_open else visitor_of, tree=links)
    return True


def _seconds(age: str) -> float:
    from predicast.errors import InvalidOptionError

    number, unit = age[:-1], age[-1:]
    if unit not in _UNITS or not number.isdecimal() or not number.isascii() or len(number) > 9:
        raise InvalidOptionError(
            f"--retention is a number and one of s, m, h, d, such as 12h or 7d, not {age!r}",
            option="retention",
        )
    return int(number) * _UNITS[unit]


def _tell(address: str, data: str, *, has_tokens: bool, has_console: bool) -> None:
    """What a newcomer types next."""
    from rich.text import Text

    token = ' -H "Authorization: Bearer $TOKEN"' if has_tokens else ""
    # Whatever leads to every address of a machine is none that can be called.
    here = address.replace("//0.0.0.0:", "//localhost:").replace("//[::]:", "//localhost:")
    lines = [
        ("subscribe", f"curl {here}/subscriptions{token} --json '{_SUBSCRIPTION}'"),
        ("publish", f"curl {here}/events{token} --json '{_EVENT}'"),
        ("receive", f"curl -N {here}/subscriptions/cheap/deliveries{token}"),
        ("look up", f"{here}/docs"),
        *([("look", f"{here}/")] if has_console else []),
    ]
    console = notices()
    console.print(
        Text.assemble("Predicast listens on ", (address, "bold"), f", data in {visible(data)}"),
        soft_wrap=True,
    )
    for what, line in lines:
        console.print(Text.assemble((f"  {what:<10}", "dim"), line), soft_wrap=True)
    console.print("Ctrl-C stops it.")
