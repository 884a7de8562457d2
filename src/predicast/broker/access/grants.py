"""``Grant``: what the holder of a token may do, and for which tenant."""

from __future__ import annotations

from typing import NamedTuple

from predicast.broker.broker import DEFAULT_TENANT
from predicast.broker.session.terms import ADMIN, LINK, PUBLISH, SCOPES, SUBSCRIBE, Permissions
from predicast.errors import NotAllowedError

__all__ = ["ADMIN", "LINK", "PUBLISH", "SCOPES", "SUBSCRIBE", "Grant"]


class Grant(NamedTuple):
    """The scopes of a token and its tenant; one without a tenant may act for any of them."""

    name: str
    tenant: str | None
    scopes: frozenset[str]

    def require(self, scope: str) -> None:
        """Refuse what the scopes do not cover."""
        Permissions(self.scopes).require(scope)

    @property
    def is_operator(self) -> bool:
        """Whether it is for whoever runs the broker, and may see all tenants."""
        return self.tenant is None and ADMIN in self.scopes

    def tenant_for(self, wanted: str | None) -> str:
        """The tenant that is acted for; only who may act for any can say which."""
        if self.tenant is None:
            return wanted or DEFAULT_TENANT
        if wanted not in {None, self.tenant}:
            # The same words whether or not there is such a tenant: nothing is learned of others.
            raise NotAllowedError("this token is for another tenant than the one that was named")
        return self.tenant
