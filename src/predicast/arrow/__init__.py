"""The Arrow edge: whatever comes in as a table, brought to a few plain forms, checked.

What goes on from here is always a plain array with a plain validity: no dictionary that hides
nulls, no view, no run, no extension, and nothing that a kernel would have to doubt.
"""

from predicast.arrow.plain import coded_text, is_list, is_text, plain, plain_type
from predicast.arrow.tables import TableLike, as_table
from predicast.arrow.texts_together import (
    MOST_ROWS_TOGETHER,
    TextsTogether,
    texts_together,
)
from predicast.arrow.values import (
    INTEGERS,
    TEXTS,
    Numbers,
    Read,
    are_unicode,
    booleans,
    floats,
    instants,
    integers,
    integers_in_place,
    is_exact,
    numbers,
    numpy_of,
    text_bytes,
    texts,
    texts_in_place,
    valid_places,
    wrong_texts,
)

__all__ = [
    "INTEGERS",
    "MOST_ROWS_TOGETHER",
    "TEXTS",
    "Numbers",
    "Read",
    "TableLike",
    "TextsTogether",
    "are_unicode",
    "as_table",
    "booleans",
    "coded_text",
    "floats",
    "instants",
    "integers",
    "integers_in_place",
    "is_exact",
    "is_list",
    "is_text",
    "numbers",
    "numpy_of",
    "plain",
    "plain_type",
    "text_bytes",
    "texts",
    "texts_in_place",
    "texts_together",
    "valid_places",
    "wrong_texts",
]
