"""The subscription table: a durable, versioned store of subscriptions on Delta Lake.

Importing this package imports neither PySpark nor ``deltalake``.
"""

from predicast.spark.subscription_table.log import Commit
from predicast.spark.subscription_table.rows import InvalidRow
from predicast.spark.subscription_table.table import Committed, Counts, SubscriptionTable
from predicast.spark.subscription_table.view import TableView

__all__ = ["Commit", "Committed", "Counts", "InvalidRow", "SubscriptionTable", "TableView"]
