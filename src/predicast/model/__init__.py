"""The model: values, intervals, events, constraints, clauses, subscriptions."""

from predicast.model.clause import Clause
from predicast.model.constraint import Absent, Constraint
from predicast.model.elements import Elements
from predicast.model.event import Event, Held
from predicast.model.expression import And, Expression, Leaf, Not, Or
from predicast.model.interval import Interval
from predicast.model.normal_form import MAX_CLAUSES, subscription_of
from predicast.model.operators import Operator
from predicast.model.patterns import LikePattern
from predicast.model.subscription import Subscription
from predicast.model.values import Kind, Value

__all__ = [
    "MAX_CLAUSES",
    "Absent",
    "And",
    "Clause",
    "Constraint",
    "Elements",
    "Event",
    "Expression",
    "Held",
    "Interval",
    "Kind",
    "Leaf",
    "LikePattern",
    "Not",
    "Operator",
    "Or",
    "Subscription",
    "Value",
    "subscription_of",
]
