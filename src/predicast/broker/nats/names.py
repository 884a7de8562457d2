"""What streams, buckets and subjects are called, so that any NATS client finds them.

With the prefix ``predicast``, those of a tenant ``acme`` are:

======================================  ==========================================================
``predicast.acme.events``               the events that were taken, in the stream
                                        ``predicast_acme_events``
``predicast.acme.publish.3.probe-7``    where any client publishes: partition 3, publisher
                                        ``probe-7``, in the stream ``predicast_acme_publish``
``predicast.acme.deliveries.alice-1``   deliveries of a subscription whose sink is ``nats:``, in the
                                        stream ``predicast_acme_deliveries``
``predicast_acme_subscriptions``        the bucket of what is wanted
``predicast_acme_progress``             the bucket of how far each durable subscription is
``predicast_processes``                 the bucket of the processes that live
======================================  ==========================================================

Ids and publishers have any characters, and tokens of subjects few: what is not a letter, a digit,
``-`` or ``_`` is written as ``=`` and the two hexadecimal digits of each byte of its UTF-8.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from predicast.errors import InvalidOptionError, shortened

_PREFIX: Final = re.compile(r"[A-Za-z0-9-]{1,32}", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPE: Final = re.compile(r"=([0-9A-F]{2})")
# A subject is part of a line of the protocol, of which a server takes 4096 bytes.
_LONGEST_TOKEN: Final = 512

_SAFE: Final = "!#$&'()*+/:;<=>?@[]^`{|}\"\\"  # beside letters and digits, in headers
_SAFE_TEXT: Final = re.compile(r"[A-Za-z0-9_.~/-]*", re.ASCII)


def checked_prefix(prefix: str) -> str:
    """The prefix, if names can begin with it."""
    if _PREFIX.fullmatch(prefix) is None:
        raise InvalidOptionError(
            f"a prefix is up to 32 letters, digits and '-', not {shortened(prefix)}",
            option="prefix",
        )
    return prefix


def token(name: str) -> str:
    """The name as a part of a subject, or of a key."""
    if _PLAIN.fullmatch(name) and len(name) <= _LONGEST_TOKEN:
        return name
    data = name.encode("utf-8", "surrogatepass")
    written = "".join(chr(byte) if _PLAIN.fullmatch(chr(byte)) else f"={byte:02X}" for byte in data)
    if not name or len(written) > _LONGEST_TOKEN:
        # No escape is lower-case, so that this is nobody's name.
        return f"=sha256-{hashlib.sha256(data).hexdigest()}"
    return written


def name_of(given: str) -> str:
    """What the token stands for; one that is too long stands for itself."""
    data = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), given)
    try:
        return data.encode("latin-1").decode("utf-8", "surrogatepass")
    except UnicodeError:
        return given


def header_text(text: str) -> str:
    """The text as a header can carry it, without spaces and commas."""
    if _SAFE_TEXT.fullmatch(text):
        return text
    return quote(text, safe=_SAFE, errors="surrogatepass")


def text_of_header(written: str) -> str:
    """The text again."""
    return unquote(written, errors="surrogatepass") if "%" in written else written


class TenantNames(NamedTuple):
    """The names of one tenant's streams and subjects."""

    prefix: str
    tenant: str

    def _stream(self, what: str) -> str:
        return f"{self.prefix}_{self.tenant}_{what}"

    def _subject(self, what: str) -> str:
        return f"{self.prefix}.{self.tenant}.{what}"

    @property
    def events(self) -> str:
        """The stream of events."""
        return self._stream("events")

    @property
    def event_subject(self) -> str:
        """Where events stand in it."""
        return self._subject("events")

    @property
    def inbox(self) -> str:
        """The stream of what other clients publish."""
        return self._stream("publish")

    @property
    def inbox_subject(self) -> str:
        """Where they publish; partition and publisher follow."""
        return self._subject("publish")

    @property
    def deliveries(self) -> str:
        """The stream of what other clients receive."""
        return self._stream("deliveries")

    def delivery_subject(self, id: str, *, is_pattern: bool = False) -> str:
        """Where they receive what a subscription matches."""
        return f"{self._subject('deliveries')}.{id if is_pattern else token(id)}"

    @property
    def match_subject(self) -> str:
        """Where the processes that hold a share of the subscriptions are asked; a share follows."""
        return self._subject("match")

    @property
    def subscriptions(self) -> Bucket:
        """What is wanted."""
        return Bucket(self._stream("subscriptions"))

    @property
    def progress(self) -> Bucket:
        """How far each durable subscription is."""
        return Bucket(self._stream("progress"))


class Bucket(NamedTuple):
    """A key-value bucket: a stream with a subject per key."""

    name: str

    @property
    def stream(self) -> str:
        """What keeps it."""
        return f"KV_{self.name}"

    @property
    def subjects(self) -> str:
        """All of its keys."""
        return f"$KV.{self.name}.>"

    def subject(self, key: str) -> str:
        """Where the key stands."""
        return f"$KV.{self.name}.{key}"

    def key(self, subject: str) -> str:
        """The key that stands there."""
        return subject.removeprefix(f"$KV.{self.name}.")
