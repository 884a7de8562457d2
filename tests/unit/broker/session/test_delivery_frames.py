"""Frames of deliveries are what deliveries would be encoded as one by one."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.protocol import delivery_frames, frames
from predicast.protocol.delivery_frames import DeliveryFrames
from predicast.protocol.records import BodyForm, Delivery, StoredEvent

FRAMINGS = [frames.JSON, frames.MSGPACK]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
BODIES = {
    BodyForm.JSON: b'{"price": 9.5, "text": "}{"}',
    BodyForm.CLOUDEVENT: b'{"specversion": "1.0"}',
    BodyForm.TURTLE: '<urn:a> <urn:b> "é" .'.encode(),
    BodyForm.JSON_LD: b"{}",
}
EVENTS = st.builds(
    lambda position, at, name, publisher, form: StoredEvent(
        position, at, name, publisher, form, BODIES[form]
    ),
    st.integers(1, 2**60),
    st.floats(0, 1e10),
    NAMES,
    NAMES,
    st.sampled_from(BodyForm),
)
DELIVERIES = st.lists(
    st.builds(
        Delivery, EVENTS, st.lists(NAMES, min_size=1, max_size=3).map(tuple), st.integers(1, 3)
    ),
    min_size=1,
    max_size=8,
)


def written(framing: frames.Framing, deliveries: list[Delivery]) -> frames.BrokerFrame:
    """The frame, with an object for each delivery."""
    batch = [
        frames.WireDelivery(
            event.position,
            event.at,
            event.id,
            event.publisher,
            ids,
            framing.packed(event.body, event.form),
            event.form,
            attempt,
        )
        for event, ids, attempt in deliveries
    ]
    return framing.broker_frame(framing.encode(frames.Deliveries(batch=batch)))


@pytest.mark.parametrize("framing", FRAMINGS)
@given(DELIVERIES)
def test_a_frame_says_the_same(framing: frames.Framing, deliveries: list[Delivery]) -> None:
    shared = DeliveryFrames(framing)
    for _ in range(2):  # the second time from what was kept
        [frame] = shared.encoded(deliveries, 1 << 20)
        assert framing.broker_frame(frame) == written(framing, deliveries)


def event(position: int, body: bytes = b"{}") -> StoredEvent:
    return StoredEvent(position, 1.5, str(position), "p", BodyForm.JSON, body)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_frame_has_no_more_bytes_than_it_may(framing: frames.Framing) -> None:
    deliveries = [Delivery(event(n, b" " * 9 + b"1"), ("s",)) for n in range(5)]
    found = [framing.broker_frame(each) for each in DeliveryFrames(framing).encoded(deliveries, 20)]
    parts = [deliveries[:2], deliveries[2:4], deliveries[4:]]
    assert found == [written(framing, part) for part in parts]


def test_nothing_is_said_of_no_deliveries() -> None:
    assert [*DeliveryFrames(frames.JSON).encoded([], 10)] == []


@pytest.mark.parametrize("framing", FRAMINGS)
def test_another_event_at_the_same_position_is_not_taken_for_the_first(
    framing: frames.Framing,
) -> None:
    shared = DeliveryFrames(framing)
    for body in (b"1", b"2"):
        deliveries = [Delivery(event(7, body), ("s",))]
        [frame] = shared.encoded(deliveries, 1 << 20)
        assert framing.broker_frame(frame) == written(framing, deliveries)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_frames, "_MOST", 1000)
    shared = DeliveryFrames(frames.MSGPACK)
    for position in range(100):
        [_] = shared.encoded([Delivery(event(position), ("s",))], 1 << 20)
        assert sum(len(each.front) for each in shared._fronts.values()) <= 1000
    assert shared._fronts


def test_what_is_kept_of_events_is_not_looked_through_for_garbage() -> None:
    shared = DeliveryFrames(frames.MSGPACK)
    kept = event(7)
    [_] = shared.encoded([Delivery(kept, ("s",))], 1 << 20)
    assert not gc.is_tracked(kept)
    assert not any(map(gc.is_tracked, shared._fronts.values()))
