"""Who may do what: tokens in a file, scopes, limits, and where a broker may be started."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.access import SCOPES, Grant, Limits, TokenBucket, TokenFile, check_exposure
from predicast.broker.access.exposure import check_caller
from predicast.errors import (
    DuplicateIdError,
    InputFileError,
    InvalidOptionError,
    LimitReachedError,
    NotAllowedError,
    UnknownIdError,
)


def test_a_token_is_found_again_and_is_not_in_its_file(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    token = file.add("ann", "acme", ["publish"], 1.0)
    assert file.find(token) == Grant("ann", "acme", frozenset({"publish"}))
    content = file.path.read_text(encoding="utf-8")
    assert token not in content
    assert token.rpartition("_")[2] not in content
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_what_is_shown_of_tokens_has_no_hash(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    file.add("ann", "acme", ["publish"], 1.0)
    [kept] = file.tokens()
    assert kept.digest not in repr(kept)


def test_a_change_to_the_file_counts_at_once(tmp_path: Path) -> None:
    running, command = TokenFile(tmp_path / "tokens.json"), TokenFile(tmp_path / "tokens.json")
    assert running.tokens() == []
    token = command.add("ann", "*", ["admin"], 1.0)
    found = running.find(token)
    assert found is not None
    assert found.is_operator
    command.remove("ann")
    assert running.find(token) is None


def test_nothing_but_the_token_is_the_token(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    token = file.add("ann", "acme", ["publish"], 1.0)
    other = TokenFile(tmp_path / "others.json").add("ann", "acme", ["publish"], 1.0)
    swapped = "_".join(token.split("_")[:2]) + "_" + other.split("_", 2)[2]
    for wrong in ("", token[:-1], token + "a", other, swapped, token.upper(), "\ud800"):
        assert file.find(wrong) is None


@given(st.text(max_size=80))
def test_no_text_is_a_token(text: str) -> None:
    assert TokenFile(Path("nowhere") / "tokens.json").find(text) is None


@pytest.mark.parametrize(
    ("name", "tenant", "scopes", "said"),
    [
        ("", "acme", ["publish"], "named by"),
        ("a b", "acme", ["publish"], "named by"),
        ("ann", "Acme!", ["publish"], "lower-case"),
        ("ann", "acme", ["write"], "'write'"),
        ("ann", "acme", [], "one or more"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, name: str, tenant: str, scopes: list[str], said: str
) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    with pytest.raises(InvalidOptionError, match=said):
        file.add(name, tenant, scopes, 1.0)
    assert not file.path.exists()


def test_a_name_is_given_once(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    file.add("ann", "acme", ["publish"], 1.0)
    with pytest.raises(DuplicateIdError, match="'ann'"):
        file.add("ann", "other", ["publish"], 1.0)
    with pytest.raises(UnknownIdError, match="is it 'ann'"):
        file.remove("anna")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"tokens": [{}]}', b"\xff", b"{" * 5000])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokens.json"
    path.write_bytes(content)
    with pytest.raises(InputFileError, match="not a file of tokens"):
        TokenFile(path).tokens()


# Scopes and tenants.


def test_an_administrator_may_what_others_may() -> None:
    Grant("root", "acme", frozenset({"admin"})).require("publish")
    with pytest.raises(NotAllowedError, match="'admin'") as refused:
        Grant("ann", "acme", frozenset({"publish", "subscribe"})).require("admin")
    assert refused.value.scope == "admin"


def test_a_token_is_for_its_own_tenant() -> None:
    ann = Grant("ann", "acme", SCOPES)
    assert ann.tenant_for(None) == ann.tenant_for("acme") == "acme"
    with pytest.raises(NotAllowedError) as refused:
        ann.tenant_for("rival")
    assert "rival" not in refused.value.message
    assert Grant("root", None, SCOPES).tenant_for("rival") == "rival"
    assert Grant("root", None, SCOPES).tenant_for(None) == "default"


# Limits.


def test_a_bucket_fills_over_time() -> None:
    bucket = TokenBucket(rate=10, burst=5)
    bucket.spend(5, now=0.0)
    with pytest.raises(LimitReachedError) as refused:
        bucket.spend(1, now=0.0)
    assert refused.value.wait_s == pytest.approx(0.1)
    bucket.spend(1, now=0.2)


def test_a_batch_larger_than_the_burst_is_paid_off() -> None:
    bucket = TokenBucket(rate=10, burst=5)
    bucket.spend(25, now=0.0)
    with pytest.raises(LimitReachedError):
        bucket.spend(1, now=1.9)
    bucket.spend(1, now=2.2)


@given(
    st.lists(
        st.tuples(st.floats(0, 10, allow_nan=False), st.integers(1, 20)), min_size=1, max_size=30
    )
)
def test_no_more_than_the_rate_and_a_burst_and_a_batch_come(steps: list[tuple[float, int]]) -> None:
    bucket, now, taken = TokenBucket(rate=10, burst=5), 0.0, 0
    for pause, count in steps:
        now += pause
        try:
            bucket.spend(count, now)
        except LimitReachedError:
            continue
        taken += count
        assert taken <= 5 + 10 * now + count + 1e-6


def test_a_limit_that_refuses_everything_is_refused() -> None:
    with pytest.raises(InvalidOptionError, match="depth"):
        Limits(depth=0)


# Where it may listen, and whom it answers without a token.


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "broker.example", "localhost.evil"])
def test_no_start_without_tokens_where_others_reach_it(host: str) -> None:
    with pytest.raises(InvalidOptionError, match="predicast token add") as refused:
        check_exposure(host, has_tokens=False, insecure=False)
    assert "--insecure" in refused.value.message
    check_exposure(host, has_tokens=True, insecure=False)
    check_exposure(host, has_tokens=False, insecure=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_no_token(host: str) -> None:
    check_exposure(host, has_tokens=False, insecure=False)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8642"},
        {"host": ""},
        {"host": "[::1"},
        {},
        {"host": "localhost:8642", "origin": "http://evil.example"},
        {"host": "localhost:8642", "origin": "null"},
        {"host": "localhost:8642", "origin": "http://localhost:9999"},
    ],
)
def test_an_open_broker_answers_no_page_from_elsewhere(headers: dict[str, str]) -> None:
    with pytest.raises(NotAllowedError):
        check_caller(headers, is_local=True)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8642"},
        {"host": "127.0.0.1"},
        {"host": "[::1]:8642"},
        {"host": "localhost:8642", "origin": "http://localhost:8642"},
    ],
)
def test_an_open_broker_answers_its_own_machine(headers: dict[str, str]) -> None:
    check_caller(headers, is_local=True)
