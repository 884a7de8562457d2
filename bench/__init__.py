"""Benchmarks: how fast the language is, and the papers' experiments run again.

``python -m bench language`` and ``python -m bench papers`` print and plot what they measure; none
of it is a test of speed, and none of it ships in the wheel.
"""
