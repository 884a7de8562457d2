"""The tax of the pipeline: ``ps.match`` beside what it is made of and what it replaces.

``workload.py`` makes events and subscriptions, ``contestants.py`` the jobs, ``run.py`` measures
them in one session, ``results.py`` holds and judges what was measured.
"""
