"""Patterns on strings: which of many hold for which of many words."""
