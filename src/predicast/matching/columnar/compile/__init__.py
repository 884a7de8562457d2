"""What clauses test, as codes: from objects or columns of operands to one table of arrays."""
