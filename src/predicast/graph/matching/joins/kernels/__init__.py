"""The search, compiled: see ``search.py``."""
