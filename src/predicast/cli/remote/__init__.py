"""The commands that speak to a running broker."""
