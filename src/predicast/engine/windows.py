"""A window of operations, worked out before anything changes.

Operations are taken one by one, each checked against what the engine holds and what the window has
done to it so far; only then is the *net effect* carried out, at most one operation per id::

    subscribe a, change a          -> subscribe a, with what the change says
    change b, unsubscribe b        -> unsubscribe b
    unsubscribe c, subscribe c     -> change c (it arrives anew, and may have another owner)
    subscribe d, unsubscribe d     -> nothing

So a refused operation leaves nothing to undo. Changes of parameters are kept apart by template and
names until the end, when those of a kind are made column by column: a thousand moving regions
are one array of new values per parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from predicast.engine.ids import Ids, check_id, duplicate, unknown
from predicast.engine.operations import Change, Operation, Subscribe, Unsubscribe
from predicast.engine.statements import Statements
from predicast.engine.templates import Template, Templates
from predicast.errors import EngineError, ParameterError, PredicastError
from predicast.language.class_tests import reading_with
from predicast.language.reading import WHERE, ReadText, as_held, stated_by, stated_by_object
from predicast.language.where.cache import outlined_where
from predicast.model import Subscription
from predicast.model.operand_columns import OperandColumns, column_of
from predicast.model.outline import OPERAND_TYPES, OperandType, Stated
from predicast.model.values import INT_MAX, INT_MIN

if TYPE_CHECKING:
    from predicast.language import Readable
    from predicast.language.parameters import Parametric
    from predicast.model import Value
    from predicast.model.vocabulary import Vocabulary


_new: Final = tuple.__new__


@dataclass(slots=True)
class State:
    """What a window has made of one id; a new one's key is given out when the window is over."""

    key: int | None  # of the subscription before the window, if there was one
    present: bool = True
    stated: Any = None  # in the terms of the store; None: as it was
    text: str | None = None  # that says so, if there is one and it has no parameters
    dialect: str | None = None  # of the text, if it is not the engine's own
    template: Template | None = None
    keeps_template: bool = False  # as it was: most never look, and a file's is text until then
    owner: str | None = None
    keeps_owner: bool = False
    arrives_anew: bool = False


class Move(NamedTuple):
    """New values for parameters of a subscription that is otherwise as it was."""

    key: int
    template: Template
    parameters: dict[str, Value]


class Said(NamedTuple):
    """What an expression states, and what it was given as."""

    # Made by _new for each change: as Said(...) does, without a call of Python's own.

    stated: Any  # in the terms of the store that it is for
    template: Template | None = None
    text: str | None = None  # if there is one and it has no parameters
    dialect: str | None = None  # of the text, if it is not the engine's own


def said_by(
    id: str | None,
    expression: Readable,
    parameters: Mapping[str, Value] | None,
    dialect: str | None = None,
) -> Said:
    """Read the expression of the subscription with this id, or with one of our making."""
    try:
        if dialect is not None and dialect != WHERE:
            return _said_in(dialect, expression, parameters)
        if parameters is None:  # what most are, without a look at what else they may be
            if type(expression) is str:
                return _new(Said, (outlined_where(expression), None, expression, None))
            if type(expression) is Subscription:  # it names no classes
                return _new(Said, (stated_by_object(expression), None, None, None))
        expression = as_held(expression)
        stated, parametric = stated_by(expression, parameters)
    except PredicastError as error:
        if id is not None:
            error.add_note(f"in the subscription {id!r}")
        raise
    if parametric is not None:
        return Said(stated, Template.of(parametric, stated.outline, parameters or {}))
    if isinstance(expression, ReadText):
        return Said(stated, None, expression.text, expression.dialect)
    return _new(Said, (stated, None, expression if isinstance(expression, str) else None, None))


def _said_in(dialect: str, text: Any, parameters: Mapping[str, Value] | None) -> Said:
    from predicast.language.dialect_registry import stated_in

    return Said(stated_in(dialect, text, parameters), None, text, dialect)


def check_only_parameters(parameters: object, dialect: str | None) -> None:
    """Refuse a change without an expression unless it sets parameters."""
    if dialect is not None:
        raise EngineError(f"a change to the dialect {dialect!r} has an expression of it")
    if (
        parameters is not None
        and type(parameters) is not dict
        and not isinstance(parameters, Mapping)
    ):
        shown = type(parameters).__name__
        raise ParameterError(f'parameters are given as {{"name": value}}, not as {shown}')
    if not parameters:
        raise EngineError("a Change has an expression, parameters, or both; this one has none")


class Reads(Protocol):
    """What makes sense of an expression: the language of one kind of engine."""

    def __call__(
        self,
        id: str | None,
        expression: Any,
        parameters: Mapping[str, Value] | None,
        dialect: str | None,
        /,
    ) -> Said: ...


def read(operation: Operation, reads: Reads) -> Said | None:
    """Read the expression of an operation, if it has one."""
    if isinstance(operation, Subscribe):
        return reads(operation.id, operation.expression, operation.parameters, operation.dialect)
    if isinstance(operation, Change):
        parameters, dialect = operation.parameters, operation.dialect
        if operation.expression is not None:
            return reads(operation.id, operation.expression, parameters, dialect)
        check_only_parameters(parameters, dialect)
        return None
    if isinstance(operation, Unsubscribe):
        return None
    raise EngineError(f"a window holds Subscribe, Change and Unsubscribe, not {operation!r}")


class Window:
    """The net effect of operations on what an engine holds."""

    def __init__(
        self,
        ids: Ids,
        statements: Statements,
        templates: Templates,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._ids = ids
        self._statements = statements
        self._templates = templates
        self._vocabulary = vocabulary
        self.states: dict[str, State] = {}  # ids that were touched, but for
        self.moves: dict[str, Move] = {}  # those of which only parameters were
        self.arrived = 0  # Subscribe operations, also of what is gone by the end

    def take(self, operation: Operation, said: Said | None) -> None:
        """Take one more operation and what its expression says, or refuse it."""
        if isinstance(operation, Subscribe):
            assert said is not None
            self.subscribe(operation.id, said, operation.owner, operation.replace)
        elif isinstance(operation, Unsubscribe):
            self.unsubscribe(operation.id)
        else:
            self.change(operation.id, said, operation.parameters)

    def subscribe(self, id: str, said: Said, owner: str | None, replace: bool) -> None:
        """Add a subscription; if there is one, it is replaced or all of this is refused."""
        check_id("id", id)
        if owner is not None:
            check_id("owner", owner)
        state, key = self._state(id), None
        if state is not None:
            if state.present:
                if not replace:
                    raise duplicate(id)
                state.owner, state.keeps_owner = owner, False
                self._restate(id, state, said)
                return
            key = state.key
            self.states.pop(id, None)  # those that arrive stand in the order of arrival
        stated, template, text, dialect = said
        self.states[id] = State(
            key, True, stated, text, dialect, template, False, owner, False, True
        )
        self.arrived += 1

    def change(self, id: str, said: Said | None, parameters: Mapping[str, Value] | None) -> None:
        """Have a subscription say something else, or only with other parameters."""
        if said is None and self._move(id, parameters or {}):
            return
        state = self._present(id)
        if said is not None:
            self._restate(id, state, said)
            return
        assert parameters is not None
        self._set_parameters(id, state, parameters)
        self.states[id] = state

    def unsubscribe(self, id: str) -> None:
        """Remove a subscription."""
        state = self._present(id)
        if state.key is None:  # it came in this window
            del self.states[id]
        else:
            self.states[id] = State(state.key, present=False)

    def _present(self, id: object) -> State:
        # What is no string may not even have a hash.
        state = self._state(id) if isinstance(id, str) else None
        if state is None or not state.present:
            raise unknown(id, self._ids)
        return state

    def _restate(self, id: str, state: State, said: Said) -> None:
        state.stated, state.template, state.text, state.dialect = said
        state.keeps_template = False
        self.states[id] = state

    def _move(self, id: object, parameters: Mapping[str, Value]) -> bool:
        """Take new values of parameters, if they are numbers and nothing else was touched."""
        if not isinstance(id, str) or id in self.states:
            return False
        move = self.moves.get(id)
        if move is None:
            key = self._ids.key(id)
            template = None if key is None else self._templates.get(key)
            if template is None:
                return False
            assert key is not None
            move = Move(key, template, dict(parameters))
        else:
            move = move._replace(parameters={**move.parameters, **parameters})
        if not _are_plain_numbers(move.template, parameters):
            return False
        self.moves[id] = move
        return True

    def _state(self, id: str) -> State | None:
        state = self.states.get(id)
        if state is None:
            key = self._ids.key(id)
            if key is None:
                return None
            state = State(key, True, None, None, None, None, True, None, True)
            move = self.moves.pop(id, None)
            if move is not None:
                values = move.template.current(self._statements.stated(key))
                state.stated = self._filled(move.template, {**values, **move.parameters})
                self.states[id] = state  # it counts even if what comes next is refused
        return state

    def _set_parameters(self, id: str, state: State, parameters: Mapping[str, Value]) -> None:
        template = state.template
        if state.keeps_template:
            assert state.key is not None
            template = self._templates.get(state.key)
        if template is None:
            raise EngineError(f"the subscription {id!r} has no parameters; change its expression")
        before = state.stated or self._statements.stated(state.key)  # type: ignore[arg-type]
        values = {**template.current(before), **parameters}
        state.stated, state.text = self._filled(template, values), None  # of where: no dialect
        state.template = Template.of(template.parametric, state.stated.outline, values)
        state.keeps_template = False

    def _filled(self, template: Template, values: Mapping[str, Value]) -> Stated:
        """What a text says with these values, and by the ontology if it names classes."""
        with reading_with(self._vocabulary):
            return template.parametric.fill(values)

    # The net effect.

    def moved(self) -> Iterator[tuple[np.ndarray, OperandColumns]]:
        """Changes of parameters only: keys and what they state now, many at a time.

        Those whose new values are of other types than the old become ``states``.
        """
        groups: dict[tuple[Parametric, tuple[str, ...]], list[str]] = {}
        for id, move in self.moves.items():
            kind = move.template.parametric, tuple(move.parameters)
            groups.setdefault(kind, []).append(id)
        for (parametric, names), ids in groups.items():
            keys = np.array([self.moves[id].key for id in ids], np.int64)
            for positions, operands in self._statements.operands(keys):
                here = [ids[place] for place in positions.tolist()]
                moves = [self.moves[id] for id in here]
                new = _with_parameters(parametric, names, moves, operands)
                if new is not None:
                    yield keys[positions], new
                    continue
                for id in here:
                    self._state(id)


def _are_plain_numbers(template: Template, parameters: Mapping[str, Value]) -> bool:
    """Whether all are finite numbers for parameters that are numbers: then nothing can be wrong.

    A number for what may be one but is a string now is looked at closely: ``x BETWEEN 'a' AND 5``.
    """
    if not parameters.keys() <= template.numbers:
        return False
    for value in parameters.values():
        if type(value) is not float and type(value) is not int:
            return False
        if not INT_MIN <= value <= INT_MAX:  # nor is what is not finite
            return False
    return True


def _with_parameters(
    parametric: Parametric, names: tuple[str, ...], moves: list[Move], operands: OperandColumns
) -> OperandColumns | None:
    """What subscriptions state with new values, if those are of the types of the old ones."""
    columns = list(operands.columns)
    places = parametric.places()
    for name in names:
        values: list[Any] = [move.parameters[name] for move in moves]
        types = set(map(type, values))
        for place in places[name] or ():
            type_: OperandType = operands.outline.places[place]
            if len(types) > 1 or OPERAND_TYPES.get(next(iter(types))) is not type_:
                return None
            if type_ is OperandType.FLOAT and not _are_fractions(values):
                return None
            columns[place] = column_of(type_, values)
    return OperandColumns(operands.outline, columns, len(operands))


def _are_fractions(values: list[float]) -> bool:
    """Whether no float is an integer, which would be held as one."""
    array = np.array(values)
    return bool((np.isfinite(array) & (array != np.trunc(array))).all())
