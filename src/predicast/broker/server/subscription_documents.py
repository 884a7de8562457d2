"""Subscriptions as the CloudEvents Subscriptions API has them, to definitions and back.

Where the API has no word for something (an owner, parameters, how deliveries are kept), ours stands
beside its own. ``where`` is short for a single filter of that name. What must not be read again,
the secret of a webhook and what stands in its headers, is never told.
"""

from __future__ import annotations

import secrets
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from predicast.broker.server.filters import CLOUDEVENTS, expression_of, filters_of
from predicast.broker.sinks import is_webhook
from predicast.errors import ProtocolError
from predicast.language.parameter_values import parameter_values
from predicast.language.reading import WHERE
from predicast.protocol.records import (
    DEFAULT_SETTINGS,
    AckWait,
    Definition,
    MaxAttempts,
    MaxPending,
    Settings,
    Webhook,
    WhenFull,
)

_HTTP, _NATS = "HTTP", "NATS"  # protocols, as the API calls them


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a subscription is served."""

    durable: bool | UnsetType = UNSET
    paused: bool | UnsetType = UNSET
    max_pending: MaxPending | UnsetType = UNSET
    when_full: WhenFull | UnsetType = UNSET
    ack_wait: AckWait | UnsetType = UNSET
    max_attempts: MaxAttempts | UnsetType = UNSET


class ProtocolSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """How a webhook is called: more headers, and the secret that requests are signed with."""

    headers: dict[str, str] = {}
    secret: str | None = None

    def __repr__(self) -> str:
        """Without what must not be seen in a log."""
        return "ProtocolSettings(…)"


class Status(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the broker says of a subscription; it is passed over in what a client sends."""

    created: float = 0.0
    revision: int = 0
    is_signed: bool = False
    headers: list[str] = []  # their names


class SubscriptionDocument(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """A subscription."""

    id: str | None = None
    owner: str | None = None
    source: str | None = None
    types: list[str] = []
    filters: list[dict[str, Any]] | None = None
    where: str | None = None
    parameters: dict[str, Any] | None = None
    sink: str | None = None
    protocol: str | None = None
    protocolsettings: ProtocolSettings | None = None
    config: Config | None = None
    status: Status | None = None


class SubscriptionChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be changed of a subscription; ``null`` takes away an owner, parameters, a sink."""

    id: str | UnsetType = UNSET
    owner: str | UnsetType | None = UNSET
    source: str | UnsetType = UNSET
    types: list[str] | UnsetType = UNSET
    filters: list[dict[str, Any]] | UnsetType = UNSET
    where: str | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType | None = UNSET
    sink: str | UnsetType | None = UNSET
    protocol: str | UnsetType = UNSET
    protocolsettings: ProtocolSettings | UnsetType | None = UNSET
    config: Config | UnsetType = UNSET
    status: Status | UnsetType = UNSET


class Subscriptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Subscriptions by id; ``next`` is where to go on after them."""

    subscriptions: list[SubscriptionDocument]
    next: str | None = None


class WindowStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An operation: one of the three."""

    put: SubscriptionDocument | None = None
    replace: bool = False
    adjust: str | None = None
    parameters: dict[str, Any] | None = None
    remove: str | None = None


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Operations that are all carried out, or none of them."""

    operations: list[WindowStep]


class WindowReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a window came to."""

    given: int
    collapsed: int
    shared: int
    in_place: int
    restructured: int


def to_definition(
    document: SubscriptionDocument, *, id: str | None = None, before: Definition | None = None
) -> Definition:
    """What a document asks for; ``before`` is what it takes the place of."""
    if id is not None and document.id not in {None, id}:
        raise ProtocolError("the id in the body is another one than that of the path", field="$.id")
    dialect, expression = _stated(document)
    named = id or document.id or secrets.token_hex(8)
    parameters = document.parameters
    if parameters is not None:
        parameter_values(parameters)  # what is none is refused here, and kept as it was written
    return Definition(
        named,
        expression,
        dialect,
        parameters,
        document.owner,
        _settings(document, DEFAULT_SETTINGS, None if before is None else before.settings.sink),
    )


def changed_fields(change: SubscriptionChange, before: Definition) -> dict[str, Any]:
    """The fields of a definition that a change names, and what they become."""
    given = {
        name: value
        for name, value in msgspec.structs.asdict(change).items()
        if value is not UNSET and name != "status"
    }
    if given.pop("id", before.id) != before.id:
        raise ProtocolError("the id of a subscription does not change", field="$.id")
    document = SubscriptionDocument(**given)
    fields: dict[str, Any] = {}
    if given.keys() & {"filters", "where", "types", "source"}:
        fields["dialect"], fields["expression"] = _stated(document)
    if "parameters" in given:
        parameter_values(document.parameters or {})
        fields["parameters"] = document.parameters
    if "owner" in given:
        fields["owner"] = document.owner
    if given.keys() & {"sink", "protocol", "protocolsettings", "config"}:
        base = before.settings
        if "sink" in given and document.sink is None:
            base = msgspec.structs.replace(base, sink=None)
        fields["settings"] = _settings(document, base, before.settings.sink)
    return fields


def to_document(definition: Definition) -> SubscriptionDocument:
    """A definition as it is told."""
    settings = definition.settings
    sink = settings.sink
    return SubscriptionDocument(
        id=definition.id,
        owner=definition.owner,
        filters=filters_of(definition.dialect, definition.expression),
        parameters=definition.parameters,
        sink=None if sink is None else sink.url,
        protocol=None if sink is None else _protocol(sink.url),
        config=Config(**{name: getattr(settings, name) for name in Config.__struct_fields__}),
        status=Status(
            created=definition.created,
            revision=definition.revision,
            is_signed=sink is not None and sink.secret is not None,
            headers=[] if sink is None else sorted(sink.headers),
        ),
    )


def _stated(document: SubscriptionDocument) -> tuple[str, str]:
    if document.where is not None:
        if document.filters is not None or document.types or document.source is not None:
            raise ProtocolError(
                "where stands alone: say what filters, types and source would in it, too",
                field="$.where",
            )
        return WHERE, document.where
    filters = list(document.filters or [])
    if document.types:
        filters.append({"any": [{"exact": {"type": each}} for each in document.types]})
    if document.source is not None:
        filters.append({"exact": {"source": document.source}})
    return expression_of(filters) if filters else (CLOUDEVENTS, "[]")


def _settings(document: SubscriptionDocument, base: Settings, held: Webhook | None) -> Settings:
    """What a document says on top of some settings; ``held`` is the webhook until now."""
    given = {} if document.config is None else msgspec.structs.asdict(document.config)
    said = {name: value for name, value in given.items() if value is not UNSET}
    return msgspec.structs.replace(base, **said, sink=_webhook(document, base.sink, held))


def _protocol(url: str) -> str:
    return _HTTP if is_webhook(url) else _NATS


def _webhook(
    document: SubscriptionDocument, base: Webhook | None, held: Webhook | None
) -> Webhook | None:
    """Where it is pushed to. A secret goes to where it was given for, and nowhere else."""
    url = document.sink or (None if base is None else base.url)
    if url is None:
        for name in ("protocol", "protocolsettings"):
            if getattr(document, name) is not None:
                raise ProtocolError(f"{name} is about a sink, and there is none", field=f"$.{name}")
        return None
    if document.protocol is not None and document.protocol.upper() != _protocol(url):
        raise ProtocolError(
            f"this sink is reached by the protocol {_protocol(url)}", field="$.protocol"
        )
    if document.protocolsettings is not None:
        given = document.protocolsettings
        return Webhook(url, given.secret, given.headers)
    return held if held is not None and held.url == url else Webhook(url)
