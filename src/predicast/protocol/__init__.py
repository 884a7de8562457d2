"""What brokers and their clients say to each other, without a network."""

from predicast.protocol.records import (
    DEFAULT_SETTINGS,
    GRAPH,
    Adjust,
    BodyForm,
    DeadLetter,
    Definition,
    Delivery,
    NewEvent,
    Put,
    Receipt,
    RegistryOperation,
    Remove,
    Settings,
    StoredEvent,
    Webhook,
    WhenFull,
)

__all__ = [
    "DEFAULT_SETTINGS",
    "GRAPH",
    "Adjust",
    "BodyForm",
    "DeadLetter",
    "Definition",
    "Delivery",
    "NewEvent",
    "Put",
    "Receipt",
    "RegistryOperation",
    "Remove",
    "Settings",
    "StoredEvent",
    "Webhook",
    "WhenFull",
]
