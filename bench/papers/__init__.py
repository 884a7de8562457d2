"""``python -m bench papers``: the experiments of five papers, run again.

=====================  =========================================================================
module                 what is in it
=====================  =========================================================================
``workloads``          the experiments: seeded subscriptions and events
``runner``             every matcher through every experiment; ``changing`` where they change
``results``            what is written to JSON
``quantities``         what is drawn and judged of it; ``trends`` of a line of them
``claims``             what the papers say, judged
``ontology``           the paper whose events are graphs, with matchers and rivals of its own
``region_joins``       all pairs of two sets of regions, by size: goes with ``filter-index``
``plots``              a figure per experiment; ``documents`` writes all of it up
=====================  =========================================================================
"""
