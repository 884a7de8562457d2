"""The ``where`` dialect: conditions as in a Spark SQL ``WHERE``."""

from predicast.language.where.cache import ShapeCache, parse_where
from predicast.language.where.printer import to_where

__all__ = ["ShapeCache", "parse_where", "to_where"]
