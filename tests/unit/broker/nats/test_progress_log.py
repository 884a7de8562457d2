"""The ring of a process's log, by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.nats.progress_log import ProgressLog

IDS = st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=4)
FATES = st.sampled_from(["kept", "kept", "kept", "not confirmed", "lost"])


@given(rounds=st.lists(st.tuples(IDS, FATES), max_size=60), slots=st.integers(1, 5))
def test_what_was_confirmed_stands_in_the_log_until_something_later_does(
    rounds: list[tuple[set[str], str]], slots: int
) -> None:
    log = ProgressLog(slots)
    messages: dict[int, dict[str, int]] = {}  # what stands in each slot: versions by id
    versions = dict.fromkeys("abcdefgh", 0)
    confirmed: dict[str, int] = {}
    for changed, fate in rounds:
        for id in changed:
            versions[id] += 1
        number, again = log.begin(lambda _: True)
        said = {id: versions[id] for id in [*again, *changed]}
        log.written(number, said.keys())
        if fate != "lost":
            messages[log.slot(number)] = said
        if fate == "kept":
            log.confirmed(number, said.keys())
            confirmed |= said
        for id, version in confirmed.items():
            standing = [each[id] for each in messages.values() if id in each]
            assert max(standing) >= version


def test_what_another_process_delivers_now_is_not_said_again() -> None:
    log = ProgressLog(2)
    for ids in (["a", "b"], ["c"]):
        number, again = log.begin(lambda _: True)
        assert again == []
        log.written(number, ids)
        log.confirmed(number, ids)
    number, again = log.begin(lambda name: name != "a")
    assert again == ["b"]
