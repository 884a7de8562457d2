"""``python -m bench papers``: the experiments of four papers, run again.

=====================  =========================================================================
module                 what is in it
=====================  =========================================================================
``workloads``          the experiments: seeded subscriptions and events
``runner``             every matcher through every experiment; ``changing`` where they change
``results``            what is written to JSON
``quantities``         what is drawn and judged of it; ``trends`` of a line of them
``claims``             what the papers say, judged
``ontology``           the paper whose events are graphs, with matchers and rivals of its own
``plots``              a figure per experiment; ``documents`` writes all of it up
=====================  =========================================================================
"""
