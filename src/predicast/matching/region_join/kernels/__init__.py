"""The compiled loops of region joins."""
