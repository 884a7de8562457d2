"""The garbage collector is told to look seldom, and left as it was."""

import gc

from predicast.broker.server.garbage import leave_out_what_is_there, seldom_collected


def test_it_looks_seldom_and_then_as_before() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with seldom_collected():
        assert gc.get_threshold() > before
        leave_out_what_is_there()
        assert gc.get_freeze_count() > frozen
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == frozen


def test_circles_that_die_later_are_found() -> None:
    class Circle:
        def __init__(self) -> None:
            self.itself = self

    with seldom_collected():
        leave_out_what_is_there()
        for _ in range(10):
            Circle()
        assert gc.collect() >= 10
