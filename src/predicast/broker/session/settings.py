"""Settings as clients see them: without the secrets of webhooks, which stay where they are."""

from __future__ import annotations

import msgspec

from predicast.protocol.records import Definition, Settings, Webhook


def told(definition: Definition) -> Definition:
    """The definition as clients see it."""
    sink = definition.settings.sink
    if sink is None:
        return definition
    settings = msgspec.structs.replace(definition.settings, sink=Webhook(sink.url))
    return msgspec.structs.replace(definition, settings=settings)


def keeping(before: Settings, after: Settings) -> Settings:
    """New settings, with the secret and headers of the old where a client cannot have known them.

    They stay with the address that they were given for: at another one they would be told.
    """
    old, new = before.sink, after.sink
    if old is None or new is None or new != Webhook(old.url):
        return after
    return msgspec.structs.replace(after, sink=old)
