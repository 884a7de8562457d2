"""The wording of a subscription: the tree that somebody wrote, with the text of each test.

Matchers know clauses. Whoever asks why a subscription matched knows what was written: the text, its
ANDs, ORs and NOTs, and tests such as ``name ILIKE ANY ('%a', '%b')`` that are several constraints.
A text is parsed again for that (``where/wording_reader.py``). Of what was given otherwise, as
objects or rows, the clauses are the wording: that is what an engine keeps of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from predicast.language.where import to_where
from predicast.model import And, Clause, Constraint, Expression, Leaf, Not, Or, Subscription, Value
from predicast.model.expression import Node, leaves_of, mapped


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of what was written that is true, false or unknown as a whole.

    ``true`` is satisfied where it is true and ``false`` where it is false: what is written as one
    test may be several constraints, and of some tests, such as ``x IS TRUE``, falsehood is not what
    NOT makes of the constraints of truth. Where the piece is about what stands in parentheses, as
    in ``(...) IS NOT TRUE``, that is ``part``, and ``affirms`` says whether it is true where that
    is, and not where it is false. A dialect has a ``part`` where it gives a condition a name of its
    own. ``parameters`` are those in the text, with their values.

    A dialect may speak of an attribute where what is tested is computed from it: ``attributes`` are
    those that it names, if they are not those of the constraints, and where the event lacks one of
    them, the attribute in the same place of ``stand_ins`` has the value that it saw. And where one
    test lists several values, ``choices`` are what each of them asks for.
    """

    text: str
    true: Expression
    false: Expression
    part: Wording | None = None
    parameters: tuple[tuple[str, Value], ...] = ()
    affirms: bool = True
    attributes: tuple[str, ...] = ()
    choices: tuple[Phrase, ...] = ()
    stand_ins: tuple[str, ...] = ()

    def constraints(self) -> Iterator[Constraint]:
        """What must hold for it to be true, in the order of the text."""
        return leaves_of(self.true)


Wording: TypeAlias = Node[Phrase]


def wording_of_text(text: str, parameters: Mapping[str, Value] | None = None) -> Wording:
    """The wording of ``where`` text, with the values of its parameters if it has any."""
    from predicast.language.where.wording_reader import read_wording  # sqlglot is slow to import

    return read_wording(text, parameters)


def wording_of(subscription: Subscription) -> Wording:
    """The wording of clauses: alternatives, each of which says several things."""
    clauses = [_clause(clause) for clause in subscription.clauses]
    return clauses[0] if len(clauses) == 1 else Or(tuple(clauses))


def _clause(clause: Clause) -> Wording:
    parts: list[Wording] = [Leaf(_phrase(constraint)) for constraint in clause]
    if clause.rest is not None:
        rest = mapped(clause.rest, _phrase)
        parts += rest.parts if isinstance(rest, And) else [rest]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _phrase(constraint: Constraint) -> Phrase:
    return Phrase(to_where(constraint), Leaf(constraint), Leaf(constraint.negated()))


def expression_of_wording(wording: Wording, *, wanted: bool = True) -> Expression:
    """What must hold for the wording to be true or, if that is wanted, false."""
    match wording:
        case Leaf(phrase):
            return phrase.true if wanted else phrase.false
        case Not(part):
            return expression_of_wording(part, wanted=not wanted)
        case And(parts) | Or(parts):
            made = tuple(expression_of_wording(part, wanted=wanted) for part in parts)
            return And(made) if isinstance(wording, And) is wanted else Or(made)


def attributes_of_wording(wording: Wording) -> Iterator[str]:
    """The attributes that decide what is true of it, and what is false, and those it speaks of."""
    for phrase in leaves_of(wording):
        yield from (*phrase.attributes, *phrase.stand_ins)
        for condition in (phrase.true, phrase.false):
            yield from (constraint.attribute for constraint in leaves_of(condition))
        if phrase.part is not None:
            yield from attributes_of_wording(phrase.part)
