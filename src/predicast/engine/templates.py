"""Templates: which subscriptions have parameters, and where the values of these are.

::

    x BETWEEN :x1 AND :x2      the operands are the values: nothing else is kept, and all
                               subscriptions of this text and outline share one ``Template``
    s LIKE :p AND x < :x2      p cannot be read from the pattern: all the values are kept

What was loaded from a file stays text until somebody sets parameters: a text is parsed once, and
only if it is needed. Whether it fits what the subscription states is seen then, too.

Cost: O(1) per look-up, and an entry per subscription with parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from predicast.bounded_cache import remembered
from predicast.errors import DamagedSnapshotError, PredicastError, shortened
from predicast.language.class_tests import reading_with
from predicast.model import Event
from predicast.model.outline import OperandType, Outline, Stated

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from predicast.engine.statements import Statements
    from predicast.language.parameters import Parametric
    from predicast.model import Value
    from predicast.model.vocabulary import Vocabulary

_NUMBERS: Final = frozenset({OperandType.INTEGER, OperandType.FLOAT})
_MAX_BYTES: Final = 16 << 20  # of templates that are remembered, with their texts and outlines


class Template(NamedTuple):
    """The text of a parametric subscription, and its values unless its operands are these."""

    parametric: Parametric
    values: dict[str, Value] | None
    numbers: frozenset[str]  # parameters that are numbers and can become any other number

    @classmethod
    def of(cls, parametric: Parametric, outline: Outline, values: Mapping[str, Value]) -> Template:
        """Keep the values only where they cannot be read from the operands."""
        if _is_direct(parametric):
            return _direct(parametric, outline)
        return cls(parametric, dict(values), frozenset())

    def current(self, stated: Stated) -> dict[str, Value]:
        """The values of all parameters in a subscription of this text."""
        if self.values is not None:
            return self.values
        return {
            name: stated.operands[places[0]]
            for name, places in self.parametric.places().items()
            if places
        }


def _is_direct(parametric: Parametric) -> bool:
    return all(map(parametric.places().get, parametric.names))


@remembered(_MAX_BYTES, lambda arguments, _: sum(each.cost for each in arguments))
def _direct(parametric: Parametric, outline: Outline) -> Template:
    """One for all subscriptions with this text and values of these types."""
    numbers = frozenset(
        name
        for name, places in parametric.places().items()
        if places and outline.places[places[0]] in _NUMBERS
    )
    return Template(parametric, None, numbers)


class Templates:
    """Templates by key, of those subscriptions that have parameters."""

    def __init__(self) -> None:
        self._by_key: dict[int, Template] = {}
        self._unread: _Unread | None = None

    @classmethod
    def restored(
        cls,
        codes: tuple[np.ndarray, np.ndarray, pa.Array],
        values: tuple[np.ndarray, pa.Array],
        statements: Statements,
        vocabulary: Vocabulary | None = None,
    ) -> Templates:
        """Those of a file: keys, codes and texts; then keys and values, of those that have any.

        The vocabulary is that of the file, by which its texts were filled.
        """
        templates = cls()
        if len(codes[0]):
            templates._unread = _Unread(codes, values, statements, vocabulary)
        return templates

    def __len__(self) -> int:
        return len(self._by_key) + (0 if self._unread is None else len(self._unread.codes()))

    def get(self, key: int) -> Template | None:
        """The template of a subscription, if it has parameters."""
        found = self._by_key.get(key)
        if found is None and self._unread is not None and key in self._unread.codes():
            found = self._by_key[key] = self._unread.read(key)
            self._unread.forget(key)
        return found

    def text(self, key: int) -> str | None:
        """The text of a subscription with parameters, of which nothing is read for that."""
        found = self._by_key.get(key)
        if found is not None:
            return found.parametric.text
        return None if self._unread is None else self._unread.text(key)

    def set(self, key: int, template: Template | None) -> None:
        """Note the template of a subscription, or that it has no parameters."""
        if self._unread is not None:
            self._unread.forget(key)
        if template is None:
            self._by_key.pop(key, None)
        else:
            self._by_key[key] = template

    def copy(self) -> Templates:
        """The same, untouched by later changes."""
        copy = Templates()
        copy._by_key = self._by_key.copy()
        copy._unread = None if self._unread is None else self._unread.copy()
        return copy

    def written(self) -> Iterator[tuple[int, str, str | None]]:
        """For each key, the text and the values in JSON, if there are any: what a file holds."""
        from predicast.language.json_form import event_to_json

        for key, (parametric, values, _) in self._by_key.items():
            # Values are named like an event's, and JSON has a form for all that an event may have.
            yield key, parametric.text, None if values is None else event_to_json(Event(values))
        if self._unread is not None:
            yield from self._unread.written()


class _Unread:
    """Templates as a file has them."""

    def __init__(
        self,
        codes: tuple[np.ndarray, np.ndarray, pa.Array],
        values: tuple[np.ndarray, pa.Array],
        statements: Statements,
        vocabulary: Vocabulary | None,
    ) -> None:
        self._arrays: tuple[np.ndarray, np.ndarray] | None = codes[:2]
        self._codes: dict[int, int] = {}
        self._texts: list[str] = codes[2].to_pylist()
        self._values: dict[int, str] = dict(
            zip(values[0].tolist(), values[1].to_pylist(), strict=True)
        )
        self._parsed: dict[int, Parametric] = {}
        self._fits: set[tuple[int, Outline]] = set()
        self._statements = statements
        self._vocabulary = vocabulary

    def copy(self) -> _Unread:
        copy = _Unread.__new__(_Unread)
        copy._arrays, copy._codes, copy._texts = self._arrays, self._codes.copy(), self._texts
        copy._values, copy._statements = self._values.copy(), self._statements
        copy._parsed, copy._fits = {}, set()
        copy._vocabulary = self._vocabulary
        return copy

    def codes(self) -> dict[int, int]:
        """Which text each key has; a dictionary as soon as somebody asks."""
        if self._arrays is not None:
            keys, codes = self._arrays
            self._codes = dict(zip(keys.tolist(), codes.tolist(), strict=True))
            self._arrays = None
        return self._codes

    def forget(self, key: int) -> None:
        self.codes().pop(key, None)
        self._values.pop(key, None)

    def written(self) -> Iterator[tuple[int, str, str | None]]:
        for key, code in self.codes().items():
            yield key, self._texts[code], self._values.get(key)

    def text(self, key: int) -> str | None:
        code = self.codes().get(key)
        return None if code is None else self._texts[code]

    def read(self, key: int) -> Template:
        """Parse the text and the values of a subscription, and see that they make what it states.

        Of values that are operands, one subscription per text and outline is looked at.
        """
        code = self.codes()[key]
        outline, written = self._statements.outline(key), self._values.get(key)
        if written is None and (code, outline) in self._fits:
            return _direct(self._parsed[code], outline)
        try:
            stated = self._statements.stated(key)
            with reading_with(self._vocabulary):
                template = self._template(code, outline, written)
                fits = template.parametric.fill(template.current(stated)) == stated
        except (PredicastError, IndexError) as error:  # places that the outline does not have
            raise _damaged(self._texts[code]) from error
        if not fits:
            raise _damaged(self._texts[code])
        self._fits.add((code, outline))
        return template

    def _template(self, code: int, outline: Outline, written: str | None) -> Template:
        from predicast.language.json_form import event_from_json
        from predicast.language.parameters import parametric as parsed

        if code not in self._parsed:
            self._parsed[code] = parsed(self._texts[code])
        parametric = self._parsed[code]
        if _is_direct(parametric) != (written is None):
            raise _damaged(self._texts[code])
        values: Any = {} if written is None else dict(event_from_json(written).items())
        return Template.of(parametric, outline, values)


def _damaged(text: str) -> DamagedSnapshotError:
    return DamagedSnapshotError(f"the snapshot has a text that does not fit: {shortened(text)}")
