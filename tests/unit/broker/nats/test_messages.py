"""What is written to NATS is read again as it was; what is none of ours is refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.nats.connection import StreamMessage, servers_of
from predicast.broker.nats.event_messages import event_message, event_of
from predicast.broker.nats.names import header_text, name_of, text_of_header, token
from predicast.broker.nats.progress import progress_of
from predicast.broker.nats.registry_entries import Entry, entry_of
from predicast.broker.subscriptions import Matched
from predicast.errors import DamagedStoreError, InvalidOptionError
from predicast.protocol.records import BodyForm, NewEvent, StoredEvent

NAMES = st.text(max_size=30)


@given(NAMES.filter(bool))
def test_a_token_stands_for_its_name(name: str) -> None:
    written = token(name)
    assert name_of(written) == name
    assert not set(written) & set(" .*>\t\r\n")


def test_names_that_are_too_long_have_tokens_of_their_own() -> None:
    long, longer = "a" * 5000, "a" * 5001
    assert token(long) != token(longer)
    assert len(token(long)) < 100


@given(NAMES)
def test_headers_carry_any_text(text: str) -> None:
    written = header_text(text)
    assert text_of_header(written) == text
    assert written == written.strip()
    assert written.isascii()
    assert not set(written) & set(" \r\n")


@given(
    st.binary(max_size=40),
    NAMES,
    NAMES,
    st.sampled_from(BodyForm),
    st.lists(NAMES),
    st.lists(NAMES),
)
def test_an_event_is_read_as_it_was_written(
    body: bytes, id: str, publisher: str, form: BodyForm, durable: list[str], ephemeral: list[str]
) -> None:
    durable, ephemeral = [each or "x" for each in durable], [each or "x" for each in ephemeral]
    event = NewEvent(body, {}, id, publisher, form)
    message = event_message("s", event, 12.5, Matched(durable, ephemeral))
    found = event_of(StreamMessage(7, *message[:1], message.headers, message.data))
    assert found.event == StoredEvent(7, 12.5, id, publisher, form, body)
    assert (found.durable, found.ephemeral) == (durable, ephemeral)


HEADERS = st.dictionaries(
    st.sampled_from(["Nats-Msg-Id", "Content-Type", "Predicast-At", "Predicast-Durable"]), NAMES
)


@given(HEADERS, st.binary(max_size=40))
def test_a_message_that_is_no_event_is_refused(headers: dict[str, str], data: bytes) -> None:
    with pytest.raises(DamagedStoreError):
        event_of(StreamMessage(1, "s", {**headers, "Content-Type": "image/png"}, data))
    with contextlib.suppress(DamagedStoreError):
        event_of(StreamMessage(1, "s", headers, data))


@given(
    st.sampled_from(["window.x", "part.x.0", "id.x", "folded", "refused"]), st.binary(max_size=80)
)
def test_an_entry_that_is_none_is_refused(key: str, data: bytes) -> None:
    try:
        found: Entry | None = entry_of(key, data)
    except DamagedStoreError:
        return
    assert found is not None


@given(st.binary(max_size=80))
def test_progress_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedStoreError):
        progress_of(data[:3], "key")
    with contextlib.suppress(DamagedStoreError):
        progress_of(data, "key")


def test_what_is_none_of_ours_is_passed_over() -> None:
    assert entry_of("somebody.else", b"anything") is None


def test_servers_of_a_cluster_are_told_apart() -> None:
    assert servers_of("tls://a:1,b:2,nats://c:3") == ["tls://a:1", "tls://b:2", "nats://c:3"]
    for wrong in ("http://a", "nats://", "a:4222"):
        with pytest.raises(InvalidOptionError):
            servers_of(wrong)
