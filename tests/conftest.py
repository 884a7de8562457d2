"""Hypothesis profiles: quick by default, ``HYPOTHESIS_PROFILE=long`` for ``make fuzz``.

Matchers of the tests' own are registered here, so that a file which runs every registered matcher
runs the same ones alone as in the whole suite.
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
