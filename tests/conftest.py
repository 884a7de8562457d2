"""Hypothesis profiles: quick by default, ``HYPOTHESIS_PROFILE=long`` for ``make fuzz``.

Matchers of the tests' own are registered here, so that a file which runs every registered matcher
runs the same ones alone as in the whole suite. What a terminal or a CI service says about the looks
of output is settled here too, for this process and those that tests start.
"""

import os

from hypothesis import HealthCheck, settings

import tests.columnar_shapes  # noqa: F401  # registers

_SLOW_MACHINES = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "quick",
    max_examples=100,
    stateful_step_count=20,
    deadline=None,
    print_blob=True,
    suppress_health_check=_SLOW_MACHINES,
)
settings.register_profile("long", settings.get_profile("quick"), max_examples=5_000)
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
