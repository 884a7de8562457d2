"""Text to graph patterns: SPARQL, and the statement patterns of the paper."""
