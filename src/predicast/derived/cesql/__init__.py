"""CESQL, the expression language of CloudEvents: what its expressions are, and what they give."""
