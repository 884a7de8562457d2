"""The compiled loops, free functions over arrays."""
