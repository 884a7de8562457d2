"""Network addresses in strings: whether one lies in a network.

A mapped address, ``::ffff:10.0.0.1``, is an IPv4 address in the guise of IPv6, as servers that
listen on both see their IPv4 clients. So it lies in the IPv4 networks that ``10.0.0.1`` lies in,
and in the IPv6 networks that hold it as it is written. A network of nothing but such addresses,
``::ffff:10.0.0.0/104``, is the IPv4 network that it stands for.
"""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Any, Final

from predicast.bounded_cache import remembered

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_LONGEST: Final = 80  # characters: an IPv6 address, and the name of a network interface behind it
# Many networks ask about the address of one event, and many events about one network.
_MAX_BYTES: Final = 4 << 20
_BYTES: Final = 1_000  # of one

Network = IPv4Network | IPv6Network


def is_in(address: Any, network: Any) -> bool | None:
    """Whether the address is in the network, ``None`` if it is no address."""
    if type(address) is not str or type(network) is not str or len(address) > _LONGEST:
        return None
    found, within = _address(address), _network(network)
    if found is None or within is None:
        return None
    if isinstance(within, IPv4Network) and isinstance(found, IPv6Address):
        mapped = found.ipv4_mapped
        return mapped is not None and mapped in within
    return found in within


def digits(address: Any) -> str | None:
    """The address as hexadecimal digits behind 4 or 6, ``None`` if it is none.

    Those of one family sort as their numbers do, so that a network is a range of them, and many
    networks are asked about at once. A mapped address is the IPv4 address that it stands for.
    """
    if type(address) is not str or len(address) > _LONGEST:
        return None
    found = _address(address)
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is None:
            return f"6{int(found):032x}"
        found = found.ipv4_mapped
    return None if found is None else f"4{int(found):08x}"


def network_ends(text: str) -> tuple[str, str] | None:
    """The digits of the first and of the last address of a network."""
    network = _network(text) if len(text) <= _LONGEST else None
    if network is None:
        return None
    family, width = (4, 8) if isinstance(network, IPv4Network) else (6, 32)
    first, last = int(network.network_address), int(network.broadcast_address)
    return f"{family}{first:0{width}x}", f"{family}{last:0{width}x}"


def holds_mapped(text: str) -> bool:
    """Whether mapped addresses lie in a network as they are written, which digits do not say."""
    network = _network(text)
    return isinstance(network, IPv6Network) and _MAPPED.subnet_of(network)


def canonical_network(text: str) -> str | None:
    """The one spelling of a network, ``None`` if it is none; bits of a host in it are left out."""
    network = _network(text) if len(text) <= _LONGEST else None
    return None if network is None else str(network)


@remembered(_MAX_BYTES, lambda _, __: _BYTES)
def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


@remembered(_MAX_BYTES, lambda _, __: _BYTES)
def _network(text: str) -> Network | None:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return None
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        base = network.network_address.ipv4_mapped
        assert base is not None
        return IPv4Network((base, network.prefixlen - _MAPPED.prefixlen))
    return network
