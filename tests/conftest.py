"""Hypothesis profiles: quick by default, ``HYPOTHESIS_PROFILE=long`` for ``make fuzz``.

The quick one draws the same examples every time, so that a tree which passes goes on passing;
``make fuzz`` draws others at each run.

Matchers of the tests' own are registered here, so that a file which runs every registered matcher
runs the same ones alone as in the whole suite. What a terminal or a CI service says about the looks
of output is settled here too, for this process and those that tests start.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import tests.columnar_shapes  # noqa: F401  # registers
from predicast.matching.columnar import loops, warming_up

_SLOW_MACHINES = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,  # how much is filtered out is a matter of luck
]

settings.register_profile(
    "quick",
    derandomize=True,
    max_examples=20,
    stateful_step_count=20,
    deadline=None,
    print_blob=True,
    suppress_health_check=_SLOW_MACHINES,
)
settings.register_profile(
    "long", settings.get_profile("quick"), derandomize=False, max_examples=5_000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

os.environ["COLUMNS"] = "100"
for _name in (
    "FORCE_COLOR",
    "GITHUB_ACTIONS",  # a terminal, as far as typer is concerned
    "NO_COLOR",
    "PY_COLORS",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
):
    os.environ.pop(_name, None)


@pytest.fixture(scope="session", autouse=True)
def compiled_loops() -> None:
    """Tests run on the compiled loops, unless they ask for the plain ones; none waits for them."""
    warming_up.wait()


@pytest.fixture(scope="class")
def plain_loops() -> Iterator[None]:
    """The loops that answer until the compiled ones are ready."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "now", loops.PLAIN)
        yield


@pytest.fixture(scope="module", params=["compiled", "plain"])
def both_loops(request: pytest.FixtureRequest) -> Iterator[None]:
    """First the ones, then the others."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "plain":
            patch.setattr(loops, "now", loops.PLAIN)
        yield
