"""Tokens in a file: their names, tenants, scopes, and hashes of them, never they themselves.

A token is 256 random bits, so one round of SHA-256 is as good as many: nobody can try them all. It
begins with an id that is no secret, by which it is found; what is compared, in a time that does not
depend on what is given, is the hash of the whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from predicast.broker.access.grants import SCOPES, Grant
from predicast.broker.broker import check_tenant_name
from predicast.errors import (
    DuplicateIdError,
    InputFileError,
    InvalidOptionError,
    UnknownIdError,
    shortened,
    suggest,
)

ANY_TENANT: Final = "*"
_PREFIX: Final = "predicast"
_TOKEN: Final = re.compile(rf"{_PREFIX}_([0-9a-f]{{8}})_([\w-]{{43}})", re.ASCII)
_NAME: Final = re.compile(r"[\w.@-]{1,64}", re.ASCII)
_NO_DIGEST: Final = "0" * 64


class KeptToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept of a token."""

    id: str
    name: str
    tenant: str
    scopes: list[str]
    created: float
    digest: str

    def grant(self) -> Grant:
        """What its holder may do."""
        tenant = None if self.tenant == ANY_TENANT else self.tenant
        return Grant(self.name, tenant, frozenset(self.scopes))

    def __repr__(self) -> str:
        """Without the hash, which is nobody's business."""
        return f"KeptToken(name={self.name!r}, tenant={self.tenant!r}, scopes={self.scopes!r})"


class _Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tokens: list[KeptToken]


class TokenFile:
    """The tokens of a broker. A change to the file counts from the next request on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_id: dict[str, KeptToken] = {}
        self._stamp: tuple[int, ...] | None = None

    def tokens(self) -> list[KeptToken]:
        """All that there are, by name."""
        self._refresh()
        return sorted(self._by_id.values(), key=lambda each: each.name)

    def find(self, token: str) -> Grant | None:
        """What the token allows; nothing if there is no such token."""
        self._refresh()
        match = _TOKEN.fullmatch(token)
        kept = None if match is None else self._by_id.get(match[1])
        digest = _NO_DIGEST if kept is None else kept.digest
        if not hmac.compare_digest(_digest(token), digest) or kept is None:
            return None
        return kept.grant()

    def add(self, name: str, tenant: str, scopes: Iterable[str], now: float) -> str:
        """Make a token, which is told this once only."""
        self._check(name, tenant, chosen := sorted(set(scopes)))
        id = secrets.token_hex(4)
        while id in self._by_id:
            id = secrets.token_hex(4)
        token = f"{_PREFIX}_{id}_{secrets.token_urlsafe(32)}"
        made = KeptToken(id, name, tenant, chosen, now, _digest(token))
        self._write([*self.tokens(), made])
        return token

    def remove(self, name: str) -> None:
        """End a token."""
        tokens = self.tokens()
        left = [each for each in tokens if each.name != name]
        if len(left) == len(tokens):
            close = suggest(name, [each.name for each in tokens])
            hint = f"; is it {close!r}?" if close else ""
            raise UnknownIdError(f"there is no token {name!r}{hint}", id=name, suggestion=close)
        self._write(left)

    def _check(self, name: str, tenant: str, scopes: list[str]) -> None:
        if _NAME.fullmatch(name) is None:
            raise InvalidOptionError(
                f"a token is named by up to 64 letters, digits and . @ - _, not {shortened(name)}",
                option="name",
            )
        if any(each.name == name for each in self.tokens()):
            raise DuplicateIdError(f"there is a token {name!r} already", id=name)
        if tenant != ANY_TENANT:
            check_tenant_name(tenant)
        unknown = [each for each in scopes if each not in SCOPES]
        if unknown or not scopes:
            raise InvalidOptionError(
                f"a token has one or more of the scopes {', '.join(sorted(SCOPES))}"
                + (f", not {shortened(unknown[0])}" if unknown else ""),
                option="scope",
            )

    def _refresh(self) -> None:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._by_id, self._stamp = {}, None
            return
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._by_id = {each.id: each for each in self._read()}
            self._stamp = stamp

    def _read(self) -> list[KeptToken]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_Content).tokens
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputFileError(
                f"{self.path} is not a file of tokens, as predicast token add makes it: {error}",
                path=str(self.path),
            ) from None

    def _write(self, tokens: list[KeptToken]) -> None:
        """All or nothing, for the eyes of its owner only."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        content = msgspec.json.format(msgspec.json.encode(_Content(tokens)), indent=1)
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:  # noqa: PTH123  # a descriptor has no path
                file.write(content + b"\n")
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                draft.unlink()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
