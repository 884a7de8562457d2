"""``backend_for``: a folder is a backend beside the engine, an address one that processes share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from predicast.broker.backend import Backend
from predicast.broker.clock import Clock

if TYPE_CHECKING:
    from predicast.graph import Ontology


def backend_for(
    where: str | os.PathLike[str],
    *,
    clock: Clock | None = None,
    ontology: Ontology | None = None,
) -> Backend:
    """``nats://host:4222`` (or ``tls://``) for many machines, else the folder of an embedded one.

    It is made, and not yet started.
    """
    if isinstance(where, str) and "://" in where:
        from predicast.broker.nats import NatsBackend

        return NatsBackend(where, clock=clock, ontology=ontology)
    from predicast.broker.embedded import EmbeddedBackend

    return EmbeddedBackend(where, clock=clock, ontology=ontology)
