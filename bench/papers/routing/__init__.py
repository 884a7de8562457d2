"""The network of the paper on core-based trees: traffic and tables of the tree, over the slack."""
