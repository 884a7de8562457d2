"""Where PySpark looks for data sources that need no registration: ``format("predicast")``."""

from predicast.spark.data_source import SubscriptionsSource as DefaultSource

__all__ = ["DefaultSource"]
