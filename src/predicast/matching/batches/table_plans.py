"""Where the attributes that are looked at stand in tables of a schema.

Batches have the same schema again and again, of dozens of columns: finding the leaves anew would
take as long as reading a few hundred rows of them. So the latest plan is remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from predicast.arrow import TEXTS
from predicast.matching.batches.leaf_columns import LeafColumn, find_leaves

TextColumns: TypeAlias = list[dict[str, int]]  # names and columns, those of one layout together


class TablePlan(NamedTuple):
    """The columns of attributes, and those among them whose texts may be read together."""

    leaves: Mapping[str, LeafColumn]
    texts: TextColumns


class _Remembered(NamedTuple):
    schema: pa.Schema
    attributes: frozenset[str]
    plan: TablePlan


_latest: list[_Remembered] = []  # one, or none yet


def table_plan(schema: pa.Schema, attributes: Collection[str]) -> TablePlan:
    """The plan for some attributes; of the same set as before it is the one of before."""
    for known in _latest[:1]:
        if known.attributes is attributes and known.schema.equals(schema):
            return known.plan
    leaves = find_leaves(schema, attributes)
    plan = TablePlan(leaves, text_columns(schema, leaves))
    if isinstance(attributes, frozenset):  # another collection may change
        _latest[:] = [_Remembered(schema, attributes, plan)]
    return plan


def text_columns(schema: pa.Schema, leaves: Mapping[str, LeafColumn]) -> TextColumns:
    """The columns of text that may be read together, if there are several of a layout."""
    layouts: dict[int, dict[str, int]] = {layout: {} for layout in TEXTS}
    for name, leaf in leaves.items():
        layout = schema.field(leaf.column).type.id
        if layout in layouts and not leaf.path:
            layouts[layout][name] = leaf.column
    return [columns for columns in layouts.values() if len(columns) > 1]
