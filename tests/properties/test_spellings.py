"""A number is one operand, whichever way it comes in and however it is written."""

from fractions import Fraction

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from predicast.language import attr, parametric, subscription_from_json, to_subscription
from predicast.language.arrow_form import SCHEMA, operands_from_arrow
from predicast.language.where import ShapeCache
from predicast.model import Constraint, Operator, Subscription
from predicast.model.outline import outlined
from predicast.testing import strategies as some


def spellings(number: int | float) -> list[str]:
    """Texts that mean exactly this number, each with another type in mind."""
    found = [repr(number)]
    if Fraction(float(number)) == number:
        found += [f"{float(number)!r}", f"{float(number):.17e}"]
        if float(number).is_integer():
            found += [f"{int(number)}.0", f"{int(number)}e0"]
    return found


@given(some.integers() | some.floats(), st.sampled_from(["=", "<", "!="]))
@example(-(2**63), "=")
@example(-(2.0**63), "=")
@example(-0.0, "=")
def test_an_operand_is_the_same_by_every_way_in(number: int | float, operator: str) -> None:
    right = Subscription.of([[Constraint("x", Operator(operator), number)]])
    found = {
        "fresh": to_subscription(f"x {operator} {number!r}"),
        "json": subscription_from_json(
            f'{{"any":[{{"all":[{{"attribute":"x","operator":"{operator}","value":{number!r}}}]}}]}}'
        ),
        "parameter": parametric(f"x {operator} :n").fill({"n": number}).subscription(),
        "arrow": _from_arrow(operator, number),
    }
    for text in spellings(number):
        cache = ShapeCache()
        cache.parse(f"x {operator} -1.5" if text.startswith("-") else f"x {operator} 1.5")
        found[f"known shape, {text}"] = cache.parse(f"x {operator} {text}")
        found[f"in bulk, {text}"] = cache.outlined(f"x {operator} {text}").subscription()
        assert (cache.hits, cache.misses) == (2, 1)
    if operator == "=":
        found["builder"] = to_subscription(attr("x") == number)
    for way, subscription in found.items():
        # 1 and 1.0 are equal; an outline and a spelling tell them apart.
        assert outlined(subscription) == outlined(right), way
        assert repr(subscription) == repr(right), way


def _from_arrow(operator: str, number: int | float) -> Subscription:
    column = "int_value" if isinstance(number, int) else "float_value"
    row = {"id": "s", "clause": 0, "attribute": "x", "operator": operator, column: number}
    ((_, operands),) = operands_from_arrow(pa.Table.from_pylist([row], SCHEMA)).groups
    return operands.subscription(0)
