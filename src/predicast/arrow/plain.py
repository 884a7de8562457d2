"""Arrow's many layouts of one column brought to plain ones.

===========================  ======================================================================
layout                       becomes
===========================  ======================================================================
extension                    its storage; ``arrow.bool8`` booleans; ``arrow.uuid`` text;
                             ``arrow.opaque`` stays
run-end-encoded              what its runs stand for
dictionary of text           a dictionary of different words, none of them null, ``int32`` indices
dictionary of anything else  what its indices stand for
string view                  large string
timestamp with a time zone   the same instant without one, which may be unknown here
list of any such             large list of plain values
===========================  ======================================================================

The rest stays as it is. In what comes out, null is where ``is_null`` says so and nowhere else, and
no index leads out of a dictionary: Arrow's own ``null_count``, ``drop_null`` and ``is_valid``
disagree about dictionaries with nulls in them, and about runs.

Dictionaries of text stay dictionaries because strings are numbered anyway: see ``coded_text``.
"""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values in a column of some type."""
    if isinstance(kind, pa.OpaqueType):
        return kind
    if isinstance(kind, pa.Bool8Type):
        return pa.bool_()
    if isinstance(kind, pa.UuidType):
        return pa.large_string()
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    return pa.large_string() if kind == pa.string_view() else kind


def plain(array: pa.Array) -> pa.Array:
    """The same values in a plain layout, or a text dictionary without surprises."""
    kind = array.type
    if isinstance(kind, pa.OpaqueType):
        return array
    if isinstance(kind, pa.Bool8Type):
        return array.storage.cast(pa.bool_())
    if isinstance(kind, pa.UuidType):
        raw = array.storage.to_pylist()
        return pa.array([each and str(UUID(bytes=each)) for each in raw], pa.large_string())
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_run_end_encoded(kind):
        # Neither run_end_decode nor take knows every type of values, nor slices of all of them.
        rows = np.arange(array.offset, array.offset + len(array))
        runs = np.searchsorted(array.run_ends.to_numpy(), rows, side="right")
        return _takeable(array.values).take(pa.array(runs))
    if pa.types.is_dictionary(kind):
        values = _takeable(array.dictionary)
        if not is_text(values.type):
            return values.take(array.indices)
        return _text_dictionary(array.indices, values)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return array.view(pa.timestamp(kind.unit))  # a cast would look up the zone
    if is_list(kind) and not _is_takeable(kind.value_type):
        return _plain_list(array)
    return array.cast(pa.large_string()) if kind == pa.string_view() else array


def _is_takeable(kind: pa.DataType) -> bool:
    """Whether Arrow can take some of an array of the type."""
    if pa.types.is_struct(kind):
        return all(_is_takeable(field.type) for field in kind)
    if is_list(kind):
        return _is_takeable(kind.value_type)
    return bool(pa.types.is_dictionary(kind)) or plain_type(kind) == kind


def _plain_list(array: pa.Array) -> pa.Array:
    lengths = pc.list_value_length(array).fill_null(0).to_numpy()
    ends = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    values = _takeable(pc.list_flatten(array))
    return pa.LargeListArray.from_arrays(pa.array(ends), values, mask=array.is_null())


def _takeable(values: pa.Array) -> pa.Array:
    """The same values in a layout of which Arrow can take some."""
    values = plain(values)
    if not pa.types.is_struct(values.type):
        return values
    fields = [_takeable(values.field(place)) for place in range(values.type.num_fields)]
    names = [field.name for field in values.type]
    if not fields:
        return values
    return pa.StructArray.from_arrays(fields, names, mask=values.is_null())


def _text_dictionary(indices: pa.Array, words: pa.Array) -> pa.DictionaryArray:
    encoded = words.dictionary_encode()
    if pa.types.is_dictionary(words.type) or len(encoded.dictionary) < len(words):
        indices = encoded.indices.take(indices)  # some were null, or the same
    # Made anew for the check that every index is within the dictionary.
    return pa.DictionaryArray.from_arrays(indices.cast(pa.int32()), encoded.dictionary)


def is_text(kind: pa.DataType) -> bool:
    """Whether a plain type is one of strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_list(kind: pa.DataType) -> bool:
    """Whether a plain type is one of lists, in any of their layouts."""
    types = pa.types
    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )


def coded_text(array: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """Plain text as positions in an array of different words; -1 is null."""
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = encoded.indices
    if indices.null_count:
        indices = indices.fill_null(-1)
    codes: np.ndarray = indices.to_numpy()
    return codes, encoded.dictionary
