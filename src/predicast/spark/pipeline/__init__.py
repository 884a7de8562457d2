"""A pipeline that a file describes: source, table, sinks. ``predicast pipeline`` runs it."""
