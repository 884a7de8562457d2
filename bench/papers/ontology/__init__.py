"""Paper 5's experiment: patterns over graphs, by ``joins``, ``ops`` and two engines of SPARQL."""
