"""Who a linked tenant is to others when it begins, and what that makes of a router's state."""

from __future__ import annotations

import secrets
from dataclasses import replace

from predicast.broker.links.settings import LinkSettings
from predicast.broker.links.store import Identity
from predicast.routing.interface import Role
from predicast.routing.state import RouterState


def new_identity(settings: LinkSettings, epoch: int) -> Identity:
    """Who a tenant is that was never linked before, or has been given another name."""
    name = settings.name or f"broker-{secrets.token_hex(4)}"
    return Identity(name, new_source(name), epoch, settings.level or 0)


def new_source(name: str) -> str:
    """A name for a log that no other has."""
    return f"{name[:200]}@{secrets.token_hex(8)}"


def with_source(state: RouterState, before: str, source: str) -> RouterState:
    """The same state for a tenant whose log has another name."""
    renamed = tuple(
        replace(each, peer=source) if each.peer == before else each for each in state.interfaces
    )
    return replace(state, interfaces=renamed)


def without_parents(state: RouterState) -> RouterState:
    """For a broker that has become the core: nothing waits for those that it was attached to."""
    left = tuple(each for each in state.interfaces if each.role not in {Role.PARENT, Role.FORMER})
    return replace(state, interfaces=left)
