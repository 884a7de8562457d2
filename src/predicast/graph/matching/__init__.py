"""What finds the graph patterns that an event matches; a folder per algorithm."""
