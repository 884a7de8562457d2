"""``python -m bench differential``: the production matcher against brute force, at length.

=====================  =========================================================================
module                 what is in it
=====================  =========================================================================
``families``           the workloads by name, and how the rounds of a run differ
``sources``            a round's subscriptions and events: from the generators of
                       ``bench.matchers``, or from ``anything``, which draws whatever there is;
                       ``nearby`` makes events that only just match, or only just do not
``constraint_tables``  drawn subscriptions as a table, ``event_batches`` drawn events as columns
``steps``              what is done to an engine; a list of steps is a history
``asking``             every way of asking an engine, and complete answers compared
``walk``               one round: random steps, random questions, two engines
``shrinking``          a history that ends in a difference, made small
``run``, ``results``   all rounds; what is printed and written
=====================  =========================================================================

A decision is one event and one subscription, answered by both. The seed, the family and the number
of the round decide everything but the pace of merges in the background.
"""
