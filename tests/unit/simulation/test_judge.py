"""The judge: what must have been delivered, what may have been, and what is neither."""

from __future__ import annotations

from predicast.language import parse_where
from predicast.model import Event, Subscription
from predicast.routing.simulation.checkers import Judge, Verdict
from predicast.routing.simulation.ledger import Ledger

PUBLISHER, SUBSCRIBER, OTHER = 0, 1, 2


def below(price: int) -> Subscription:
    return parse_where(f"price < {price}")


class Story:
    """A ledger that is written step by step."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.judge = Judge(self.ledger)

    def states(
        self, states: Subscription | None, sent: float, known: float | None, id: str = "s"
    ) -> None:
        version = self.ledger.stated(SUBSCRIBER, id, states, sent)
        if known is not None:
            self.ledger.acknowledged([version], known)

    def publishes(self, price: int, at: float, *, accepted: bool = True) -> int:
        sequence = self.ledger.publishes(PUBLISHER, Event({"price": price}), at)
        if accepted:
            self.ledger.accepted(PUBLISHER, sequence, at + 0.1)
        return sequence

    def delivered(self, sequence: int, at: float = 9.0, to: int = SUBSCRIBER) -> None:
        self.ledger.delivered(to, PUBLISHER, sequence, ["s"], at)

    def verdict(self) -> Verdict:
        return self.judge.judge(once=True, in_order=True)


def told() -> Story:
    story = Story()
    story.states(below(10), sent=1.0, known=2.0)
    return story


def test_what_matches_and_arrives_is_well() -> None:
    story = told()
    story.delivered(story.publishes(5, 3.0))
    story.publishes(50, 4.0)
    assert story.verdict() == Verdict(1, 1, 0, 0, 0, 0, ())


def test_what_matches_and_does_not_arrive_is_lost() -> None:
    story = told()
    story.publishes(5, 3.0)
    found = story.verdict()
    assert (found.expected, found.lost) == (1, 1)
    assert found.violations == ("lost: event 1 of client 0 for 's'",)


def test_an_event_that_was_never_accepted_may_be_lost() -> None:
    story = told()
    story.publishes(5, 3.0, accepted=False)
    assert story.verdict().expected == 0


def test_before_the_client_knows_that_it_holds_nothing_is_owed() -> None:
    story = Story()
    story.states(below(10), sent=1.0, known=4.0)
    story.publishes(5, 3.0)
    story.delivered(story.publishes(6, 3.5))
    found = story.verdict()
    assert (found.expected, found.delivered, found.violations) == (0, 1, ())


def test_what_does_not_match_is_spurious() -> None:
    story = told()
    story.delivered(story.publishes(50, 3.0))
    found = story.verdict()
    assert found.spurious == 1
    assert found.violations == ("spurious: event 1 of client 0 for 's'",)


def test_while_a_change_is_on_its_way_either_version_may_decide() -> None:
    story = told()
    story.states(below(3), sent=5.0, known=6.0)
    story.delivered(story.publishes(5, 4.9))  # the old one matches
    story.publishes(5, 5.5)  # perhaps the new one decided
    story.delivered(story.publishes(2, 5.6))  # both match
    story.publishes(5, 6.5)
    found = story.verdict()
    assert (found.expected, found.delivered, found.violations) == (1, 2, ())


def test_once_a_change_holds_the_old_version_does_not_count() -> None:
    story = told()
    story.states(below(3), sent=5.0, known=6.0)
    story.delivered(story.publishes(5, 6.5))
    assert story.verdict().spurious == 1


def test_after_unsubscribing_nothing_may_come() -> None:
    story = told()
    story.states(None, sent=5.0, known=6.0)
    story.delivered(story.publishes(5, 5.5))
    assert story.verdict().violations == ()
    story.delivered(story.publishes(5, 6.5))
    assert story.verdict().spurious == 1


def test_a_repeat_counts_for_the_client_also_in_a_later_round() -> None:
    story = told()
    sequence = story.publishes(5, 3.0)
    story.delivered(sequence)
    assert story.verdict().violations == ()
    story.delivered(sequence, at=12.0)
    found = story.verdict()
    assert (found.duplicated, found.spurious) == (1, 0)
    assert found.violations == ("repeated: event 1 of client 0 to client 1 at 12.000",)
    assert Judge(story.ledger).judge(once=False, in_order=True).violations == ()


def test_one_event_for_two_subscriptions_is_no_repeat() -> None:
    story = told()
    story.states(below(20), sent=1.0, known=2.0, id="t")
    sequence = story.publishes(5, 3.0)
    story.ledger.delivered(SUBSCRIBER, PUBLISHER, sequence, ["s", "t"], 9.0)
    found = story.verdict()
    assert (found.expected, found.delivered, found.duplicated) == (2, 2, 0)


def test_events_of_one_publisher_come_in_order() -> None:
    story = told()
    first, second = story.publishes(5, 3.0), story.publishes(6, 4.0)
    story.delivered(second)
    story.delivered(first)
    found = story.verdict()
    assert found.disordered == 1
    assert found.violations == (
        "out of order: event 1 of client 0 to client 1 at 9.000, after event 2",
    )


def test_an_event_for_somebody_else_is_spurious() -> None:
    story = told()
    story.delivered(story.publishes(5, 3.0), to=OTHER)
    assert story.verdict().spurious == 1


def test_nobody_gets_back_what_they_published() -> None:
    story = told()
    sequence = story.ledger.publishes(SUBSCRIBER, Event({"price": 5}), 3.0)
    story.ledger.accepted(SUBSCRIBER, sequence, 3.1)
    assert story.verdict().expected == 0
    story.ledger.delivered(SUBSCRIBER, SUBSCRIBER, sequence, ["s"], 9.0)
    assert story.verdict().spurious == 1


def test_what_nobody_published_is_spurious() -> None:
    story = told()
    story.delivered(7)
    found = story.verdict()
    assert found.spurious == 1
    assert found.violations == ("client 1 got event 7 of client 0",)


def test_an_event_for_what_nobody_asked_for_is_spurious() -> None:
    story = told()
    story.ledger.delivered(SUBSCRIBER, PUBLISHER, story.publishes(5, 3.0), ["s", "x"], 9.0)
    found = story.verdict()
    assert found.spurious == 1
    assert "a subscription that nobody has" in found.violations[0]
