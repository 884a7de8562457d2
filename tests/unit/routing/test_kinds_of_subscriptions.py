"""Subscriptions of every kind route: what cannot be covered is told as it is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from predicast.engine import Change, Subscribe
from predicast.errors import ParseError
from predicast.model.values import microseconds
from predicast.routing import Hello, PeerKind, Router, RouterOptions, Send
from predicast.routing.codec import decode, encode
from tests import wish_list  # noqa: F401  # registers
from tests.routing_network import QUICK, Network

WIDE = " AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(12))  # kept as it was written


def deliver(text: str, *events: dict[str, object], slack: float = 0.0) -> list[int]:
    """Which events, by position, reach a subscription two brokers away."""
    network = Network()
    network.broker("core", slack=slack)
    network.broker("one", "core", level=1, slack=slack)
    network.broker("two", "core", level=1, slack=slack)
    network.host("near", "one")
    network.host("far", "two")
    network.announce("far", [Subscribe("s", text)])
    network.run(1.0)
    network.publish("near", events)
    network.run(1.0)
    first = (1 << 20) + 1
    return [sequence - first for _, sequence in network.received("far")]


@pytest.mark.parametrize("slack", [0.0, 1.0, float("inf")])
@pytest.mark.parametrize(
    ("text", "hit", "miss"),
    [
        ("name LIKE 'a%z' OR name RLIKE '^q[0-9]+$'", {"name": "q17"}, {"name": "q"}),
        ("price * qty > 100", {"price": 11, "qty": 10}, {"price": 10, "qty": 10}),
        ("lower(city) IN ('rome', 'oslo')", {"city": "ROME"}, {"city": "Bonn"}),
        ("NOT (x BETWEEN 2 AND 5)", {"x": 7}, {"x": 3}),
        ("x IS NULL", {"y": 1}, {"x": 1}),
        (WIDE, {f"a{n}": 1 for n in range(12)}, {f"a{n}": 1 for n in range(11)}),
        ("exists(tags, t -> t = 'b')", {"tags": ["a", "b"]}, {"tags": ["a"]}),
    ],
)
def test_what_matches_arrives_and_nothing_else(
    text: str, hit: dict[str, object], miss: dict[str, object], slack: float
) -> None:
    assert deliver(text, hit, miss, hit, slack=slack) == [0, 2]


def test_parameters_are_set_anew_at_the_broker() -> None:
    network = Network()
    network.broker("core")
    network.host("one", "core")
    network.host("two", "core")
    network.announce("one", [Subscribe("s", "x < :most", None, {"most": 3})])
    network.run(1.0)
    network.publish("two", [{"x": 5}])
    network.run(1.0)
    network.announce("one", [Change("s", parameters={"most": 9})])
    network.run(1.0)
    network.publish("two", [{"x": 5}])
    network.run(1.0)
    assert [sequence & 0xFF for _, sequence in network.received("one")] == [2]


def test_now_is_when_an_event_was_published_at_every_broker() -> None:
    network = Network()
    network.broker("core")
    network.broker("leaf", "core", level=1)
    network.host("one", "core")
    network.host("two", "leaf")
    network.announce("one", [Subscribe("s", "due < now()")])
    network.run(1.0)
    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
    event = {"due": noon}
    for at in (microseconds(noon) - 1, microseconds(noon) + 1):
        network.post("two", network.hosts["two"].publish([event], network.now, at))
    network.run(1.0)
    assert [sequence & 0xFF for _, sequence in network.received("one")] == [2]


def test_graph_patterns_are_passed_on_as_they_were_written() -> None:
    graph = pytest.importorskip("predicast.graph")
    from predicast.routing import Announce, Events, Hello, PeerKind, Published

    turtle = "@prefix : <http://x.example/> . @prefix rdfs: "
    turtle += "<http://www.w3.org/2000/01/rdf-schema#> . :Laptop rdfs:subClassOf :Computer . "
    turtle += ":target rdfs:domain :Selling ; rdfs:range :Computer ."
    ontology = graph.Ontology.parse(turtle)
    router = Router(
        RouterOptions(name="core", **{**QUICK, "matcher": "columnar"}),
        engine=graph.GraphEngine(ontology),
    )
    router.start(0.0)
    epoch = 1
    for name in ("one", "two"):
        router.receive(Hello(name, PeerKind.HOST, 1, durable=True), name, 0.0)
        ours = router._neighbours.by_name[name].outgoing.epoch
        router.receive(Hello(name, PeerKind.HOST, 1, ours, durable=True, answer=True), name, 0.0)
    router.receive(Hello("leaf", PeerKind.BROKER, 1, level=1), "leaf", 0.0)
    text = "PREFIX : <http://x.example/> ASK { <urn:predicast:home> :target ?x . ?x a :Computer }"
    router.receive(Announce(epoch, 1, (Subscribe("s", text),)), "one", 0.0)
    assert router.wanted("one") == [text]
    event = graph.EventGraph.parse(
        "@prefix : <http://x.example/> . <urn:predicast:home> a :Selling ; :target :l . "
        ":l a :Laptop ."
    )
    answers = router.receive(Events(epoch, 1, (Published("two", 1, event),)), "two", 0.0)
    delivered = [send for send in answers if isinstance(send.message, Events)]
    assert [send.interface for send in delivered] == ["one"]


class GraphNetwork(Network):
    """Brokers with engines of graphs, and messages that travel as bytes."""

    def __init__(self, ontology: Any) -> None:
        super().__init__()
        self._ontology = ontology

    def graph_broker(self, name: str, *candidates: str, level: int = 0) -> None:
        from predicast.graph import GraphEngine

        options = RouterOptions(name=name, level=level, candidates=candidates, **QUICK)
        self.routers[name] = Router(options, engine=GraphEngine(self._ontology))
        self.post(name, self.routers[name].start(self.now))

    def post(self, sender: str, sends: Iterable[Send]) -> None:
        super().post(sender, [Send(to, decode(encode(message))) for to, message in sends])


def test_graphs_travel_as_their_texts() -> None:
    graph = pytest.importorskip("predicast.graph")
    prefix = "@prefix : <http://x.example/> . "
    network = GraphNetwork(
        graph.Ontology.parse(
            prefix + "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
            ":Laptop rdfs:subClassOf :Computer . :target rdfs:domain :Selling ."
        )
    )
    network.graph_broker("core")
    network.graph_broker("leaf", "core", level=1)
    network.host("above", "core")
    network.host("below", "leaf")
    text = "PREFIX : <http://x.example/> ASK { <urn:predicast:home> :target ?x . ?x a :Computer }"
    network.announce("above", [Subscribe("s", text)])
    network.run(1.0)
    laptop = prefix + "<urn:predicast:home> a :Selling ; :target :l . :l a :Laptop ."
    chair = prefix + "<urn:predicast:home> a :Selling ; :target :c . :c a :Chair ."
    network.post("below", network.hosts["below"].publish([chair, laptop], network.now))
    network.run(1.0)
    (found,) = network.delivered["above"]
    assert found.published.event == laptop
    network.post("below", network.hosts["below"].publish(["no graph {"], network.now))
    network.post("below", network.hosts["below"].publish([laptop], network.now))
    network.run(1.0)
    assert len(network.delivered["above"]) == 2
    assert [each.error for each in network.hosts["below"].refusals()] == ["InvalidRdfError"]


def test_a_text_is_no_event_where_none_is_read_as_a_graph() -> None:
    network = Network()
    core = network.broker("core")
    host = network.host("one", "core")
    # It has not said yet what it wants, so that events wait for it.
    core.receive(Hello("stranger", PeerKind.BROKER, 1, whole_at=5, level=1), "stranger", 0.0)
    network.publish("one", [{"x": 1}])
    network.run(0.5)
    assert core.statistics()["waiting"] == 1
    network.post("one", host.publish(["text"], network.now))
    network.run(2.0)
    assert core.statistics()["waiting"] == 1
    assert [each.error for each in host.refusals()] == ["MalformedMessageError"]
    assert host.is_acknowledged


def test_hosts_read_what_is_in_a_dialect() -> None:
    network = Network()
    network.broker("core")
    network.host("one", "core")
    network.host("two", "core")
    network.announce("one", [Subscribe("s", "x is 1", dialect="wishes")])
    network.announce("one", [Subscribe("t", "x < :most", None, {"most": 3}, dialect="where")])
    network.announce("one", [Change("s", "x over 5", dialect="wishes")])
    network.run(1.0)
    network.publish("two", [{"x": 1}, {"x": 7}])
    network.run(1.0)
    first = (1 << 20) + 1
    assert [sequence - first for _, sequence in network.received("one")] == [0, 1]
    with pytest.raises(ParseError, match="a wish is as in"):
        network.announce("one", [Subscribe("u", "nonsense", dialect="wishes")])
