"""``python -m bench matchers``: our production matcher and its rivals, side by side in one run.

=====================  =========================================================================
module                 what is in it
=====================  =========================================================================
``workload``           subscriptions and events as columns, the form that every rival's is made of
``ceem`` … ``regions`` the seeded generators; ``catalogue`` lists them by name with their sizes
``rival``              what takes part; ``engine_rival``, ``yardstick`` (``simd_scan.c``),
                       ``duckdb_rival``, ``numpy_rival``
``runner``             everyone at every point, taking turns; ``churn``, ``loading`` and ``single``
                       measure what has no rivals; ``run`` does all of it
``alerts``             the workload of ``python -m bench plane``: ``plane`` walks all its sizes,
                       ``plane_plots`` draws them
``results``            what is written to JSON; ``goals`` judges it, ``plots`` draws it,
                       ``report`` writes it up
=====================  =========================================================================
"""
