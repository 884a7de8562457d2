"""One event's way, as steps."""

from predicast.console.timelines import timeline
from predicast.protocol import BodyForm, DeadLetter, StoredEvent

EVENT = StoredEvent(7, 1_700_000_000.25, "e", "shop", BodyForm.JSON, b"{}")


def test_nobody_wanted_it() -> None:
    steps = timeline(EVENT, {})
    assert [each.title for each in steps] == ["Published", "Kept", "Matched"]
    assert steps[0].text == "by shop at 2023-11-14 22:13:20.250 UTC"
    assert all(each.is_done for each in steps)


def test_what_is_left_to_do_is_not_done() -> None:
    steps = {each.title: each for each in timeline(EVENT, {"a": "waiting", "b": "acknowledged"})}
    assert steps["Delivered"].text == "1 of 2"
    assert not steps["Delivered"].is_done
    assert not steps["Acknowledged"].is_done


def test_failures_are_told_apart() -> None:
    letter = DeadLetter(EVENT, "hook", 3, "503", 1_700_000_009.0)
    steps = timeline(EVENT, {"hook": "dead", "desk": "dropped", "a": "acknowledged"}, [letter])
    failed = [each for each in steps if each.is_failure]
    assert [each.title for each in failed] == ["Given up", "Dropped"]
    assert "after 3 attempts" in failed[0].text
    assert failed[0].text.endswith(": 503")
    delivered = next(each for each in steps if each.title == "Delivered")
    assert (delivered.text, delivered.is_done) == ("2 of 3", True)
