"""Benchmarks: the language's speed, the papers' experiments run again, the matchers side by side.

``python -m bench language``, ``papers`` and ``matchers`` print and plot what they measure; none of
it is a test of speed, and none of it ships in the wheel. ``measuring`` is what they all share.
"""
