"""The loops in NumPy, whole arrays at a time: they answer until the compiled ones are ready."""
