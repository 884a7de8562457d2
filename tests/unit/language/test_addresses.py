"""``ip_in``: addresses in networks."""

import pytest

from predicast import Engine
from predicast.language import parse_where, to_where
from predicast.language.where import ShapeCache


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ip_in(x, '10.1.2.3/8')", "ip_in(x, '10.0.0.0/8') = TRUE"),
        ("ip_in(x, '::ffff:10.0.0.0/104')", "ip_in(x, '10.0.0.0/8') = TRUE"),
        ("ip_in(x, '2001:DB8::1')", "ip_in(x, '2001:db8::1/128') = TRUE"),
        ("ip_in('10.1.1.1', '10.0.0.0/8')", "TRUE"),
    ],
)
def test_a_network_has_one_spelling(text: str, meant: str) -> None:
    assert to_where(parse_where(text)) == meant
    assert parse_where(meant) == parse_where(text)


def test_texts_with_one_network_share_a_shape() -> None:
    shared = ShapeCache()
    for network in ("10.0.0.0/8", "11.0.0.0/8", "10.0.0.0/8"):
        text = f"ip_in(x, '{network}') AND y = 5"
        assert shared.parse(text) == ShapeCache().parse(text)


@pytest.mark.parametrize(
    ("address", "networks"),
    [
        ("10.1.2.3", ["v4", "ten"]),
        ("11.0.0.1", ["v4"]),
        ("2001:db8::5", ["documents", "v6"]),
        ("2001:DB8:0::5", ["documents", "v6"]),
        ("::1", ["v6", "zeros"]),
        # As its IPv4 address, and as it is written.
        ("::ffff:10.1.2.3", ["zeros", "ten", "v4", "v6"]),
        ("::ffff:0a01:0203", ["zeros", "ten", "v4", "v6"]),
        ("fe80::1%eth0", ["v6"]),
    ],
)
def test_an_address_is_in_networks(address: str, networks: list[str]) -> None:
    engine = Engine()
    engine.subscribe("ip_in(x, '10.0.0.0/8')", id="ten")
    engine.subscribe("ip_in(x, '0.0.0.0/0')", id="v4")
    engine.subscribe("ip_in(x, '2001:db8::/32')", id="documents")
    engine.subscribe("ip_in(x, '::/0')", id="v6")
    engine.subscribe("ip_in(x, '::/32')", id="zeros")
    engine.subscribe("ip_in(x, '::/0') IS UNKNOWN", id="none")
    expected = sorted(networks)
    assert engine.match({"x": address}) == expected
    assert engine.match_batch([{"x": address}]) == [expected]


@pytest.mark.parametrize(
    "value", ["", "10.0.0", "010.0.0.1", " 10.0.0.1", "::g", "1" * 100, 5, None]
)
def test_what_is_no_address_is_unknown(value: object) -> None:
    engine = Engine()
    engine.subscribe("ip_in(x, '0.0.0.0/0')", id="in")
    engine.subscribe("NOT ip_in(x, '0.0.0.0/0')", id="out")
    engine.subscribe("ip_in(x, '0.0.0.0/0') IS UNKNOWN", id="unknown")
    assert engine.match({"x": value}) == ["unknown"]
