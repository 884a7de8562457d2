"""How the clauses of a table lie in a segment: blocks, rows, and one image of both."""
