"""The values of a text's parameters, as tables and files have them.

A table has them as a struct, as a map, or as the text of a JSON object; a file as an object or such
a text. In JSON, timestamps and decimals stand as they do in events (``{"$timestamp": "…"}``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from predicast.errors import ParameterError, shortened
from predicast.language.json_form import decoded, event_from_document
from predicast.model import Value


def parameter_values(given: Any) -> dict[str, Value] | None:
    """The values by name; ``None`` if there are none, as in an empty cell.

    A null among them is no value: in a struct every row has every field.
    """
    if given is None or given == "":
        return None
    found = decoded(given) if isinstance(given, str) else given
    if isinstance(found, list):  # a map
        found = dict(found) if all(isinstance(each, tuple) for each in found) else given
    if not isinstance(found, Mapping):
        raise ParameterError(
            'parameters are an object of names and values, such as {"limit": 10}, '
            f"not {shortened(given)}"
        )
    values: dict[str, Any] = dict(event_from_document(dict(found)).items())
    return values
