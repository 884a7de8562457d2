"""Sigma rules as subscriptions, read by pySigma (``predicast[sigma]``)."""

from predicast.language.sigma.dialect import SigmaDialect

__all__ = ["SigmaDialect"]
