"""The pipeline beside what it is made of and what it replaces: frames, micro-batches, rules.

``workload.py`` makes events and subscriptions, ``contestants.py`` the jobs, ``run.py`` measures
them in one session, ``growth.py`` with up to a million subscriptions. ``micro_batches.py`` and
``sigma.py`` measure streams, which ``file_stream.py`` feeds. ``results.py`` holds and judges what
was measured.
"""
