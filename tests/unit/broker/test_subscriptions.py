"""What a tenant wants, as engines: two sorts of subscriptions, one window."""

import pytest

from predicast.broker.subscriptions import Matched, Subscriptions
from predicast.errors import DuplicateIdError, ParseError, UnknownIdError
from predicast.protocol import (
    GRAPH,
    Adjust,
    Definition,
    NewEvent,
    Put,
    RegistryOperation,
    Remove,
    Settings,
)

EPHEMERAL = Settings(durable=False)
CHEAP = NewEvent(b'{"price": 5}', {"price": 5}, "1", "shop")
GRAPH_EVENT = """
    @prefix : <http://shop.example/> .
    <urn:predicast:home> :target [ a :Laptop ] .
"""
PATTERN = "PREFIX : <http://shop.example/> ASK { <urn:predicast:home> :target ?x . ?x a :Laptop }"


def held(*definitions: Definition) -> Subscriptions:
    subscriptions = Subscriptions()
    subscriptions.apply([Put(each) for each in definitions])
    return subscriptions


def test_each_sort_is_matched_apart() -> None:
    subscriptions = held(
        Definition("kept", "price < 10"),
        Definition("passing", "price < 10", settings=EPHEMERAL),
        Definition("other", "price > 10"),
    )
    assert subscriptions.match([CHEAP]) == [Matched(["kept"], ["passing"])]


def test_graphs_and_flat_events_do_not_meet() -> None:
    subscriptions = held(
        Definition("flat", "price < 10"), Definition("graph", PATTERN, dialect=GRAPH)
    )
    graph = NewEvent(GRAPH_EVENT.encode(), GRAPH_EVENT, "2", "shop")
    assert subscriptions.match([CHEAP, graph]) == [Matched(["flat"], []), Matched(["graph"], [])]


def test_a_graph_that_is_none_spoils_no_other() -> None:
    subscriptions = held(Definition("graph", PATTERN, dialect=GRAPH))
    graphs = [NewEvent(b"", text, "2", "shop") for text in ("<<<", GRAPH_EVENT)]
    assert subscriptions.match(graphs) == [Matched([], []), Matched(["graph"], [])]


def test_what_one_subscription_cannot_compare_is_no_matter_to_the_others() -> None:
    subscriptions = held(Definition("price", "price < 10"), Definition("size", "size = 1"))
    event = NewEvent(b"", {"price": float("nan"), "size": 1}, "3", "shop")
    assert subscriptions.match([event]) == [Matched(["size"], [])]


def test_parameters_change_in_place() -> None:
    subscriptions = held(Definition("a", "price < :most", parameters={"most": 3}))
    assert subscriptions.match([CHEAP]) == [Matched([], [])]
    assert subscriptions.apply([Adjust("a", {"most": 8})]).in_place == 1
    assert subscriptions.match([CHEAP]) == [Matched(["a"], [])]


def test_a_subscription_may_become_ephemeral() -> None:
    subscriptions = held(Definition("a", "price < 10"))
    subscriptions.apply([Put(Definition("a", "price < 6", settings=EPHEMERAL), replace=True)])
    assert subscriptions.match([CHEAP]) == [Matched([], ["a"])]
    assert not subscriptions.is_durable("a")
    assert len(subscriptions) == 1


def test_a_window_sees_what_it_has_done() -> None:
    subscriptions = held(Definition("a", "price < 10"))
    ephemeral = Definition("a", "price < 10", settings=EPHEMERAL)
    subscriptions.apply([Remove("a"), Put(ephemeral), Remove("a"), Put(ephemeral)])
    assert subscriptions.match([CHEAP]) == [Matched([], ["a"])]


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (Put(Definition("d", "price <", settings=EPHEMERAL)), ParseError),
        (Put(Definition("passing", "price < 1")), DuplicateIdError),
        (Remove("nobody"), UnknownIdError),
        (Adjust("nobody", {"p": 1}), UnknownIdError),
    ],
    ids=["text", "taken", "remove", "adjust"],
)
def test_a_window_that_is_refused_has_changed_no_engine(
    last: Put | Adjust | Remove, error: type[Exception]
) -> None:
    subscriptions = held(
        Definition("a", "price < :most", parameters={"most": 8}),
        Definition("passing", "price < 10", settings=EPHEMERAL),
    )
    window: list[RegistryOperation] = [
        Put(Definition("c", "price < 100")),
        Put(Definition("brief", "price < 100")),
        Remove("brief"),
        Adjust("a", {"most": 1}),
        last,
    ]
    with pytest.raises(error):
        subscriptions.apply(window)
    assert subscriptions.match([CHEAP]) == [Matched(["a"], ["passing"])]
    assert len(subscriptions) == 2


def test_why() -> None:
    subscriptions = held(Definition("a", "price < 10"))
    assert subscriptions.explain("a", CHEAP).matched
    with pytest.raises(UnknownIdError, match="'b'"):
        subscriptions.explain("b", CHEAP)
