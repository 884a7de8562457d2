"""``Vocabulary``: the names of an ontology, as far as flat events and tests of them need them.

Of an ontology (``predicast.graph``) a flat event uses two hierarchies: of *classes*, whose names
are values of attributes, and of *properties*, whose names are names of attributes. Both are names
with their parents and nothing else, so they can be held, sent and saved without whatever reads RDF.

A class or a property has several *spellings*, those by which JSON events speak of it: the whole
IRI, ``prefix:name`` with a prefix of the ontology, and the local name, ``Laptop``. A local name
that several of them share is a spelling of none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from predicast.errors import InvalidOptionError, UnknownClassError, shortened, suggest

Parents: TypeAlias = Mapping[str, tuple[str, ...]]  # of each name; in cycles all are the same


class HasVocabulary(Protocol):
    """What has names to lend, as an ontology has."""

    def vocabulary(self) -> Vocabulary:
        """Its classes, properties and prefixes."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Classes and properties by IRI, with their parents; read-only."""

    prefixes: Mapping[str, str]
    classes: Parents
    properties: Parents
    _classes: _Spelt = field(init=False, repr=False, compare=False)
    _properties: _Spelt = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_classes", _Spelt(self.classes, self.prefixes))
        object.__setattr__(self, "_properties", _Spelt(self.properties, self.prefixes))

    def vocabulary(self) -> Vocabulary:
        """Itself: it stands wherever an ontology does."""
        return self

    def digest(self) -> str:
        """What tells it from another one that says something else, in this and in other runs."""
        import hashlib  # OpenSSL is slow to load, and few have an ontology

        said = [sorted(each.items()) for each in (self.prefixes, self.classes, self.properties)]
        return hashlib.sha256(repr(said).encode()).hexdigest()

    def class_names(self, name: str) -> frozenset[str]:
        """All spellings of a class and of the classes below it."""
        spelt = self._classes
        iri = spelt.iris.get(name)
        if iri is not None:
            return frozenset(spelt.below(iri))
        if name in spelt.shared:
            listed = ", ".join(f"<{each}>" for each in sorted(spelt.shared[name]))
            message = f"{name!r} may be any of {listed}; write the whole IRI"
            raise UnknownClassError(message, name=name)
        close = suggest(name, [each for each in spelt.iris if ":" not in each])
        hint = f"; did you mean {close!r}?" if close else ""
        raise UnknownClassError(
            f"the ontology has no class {name!r}{hint}", name=name, suggestion=close
        )

    def attribute_names(self, name: str) -> frozenset[str]:
        """The names of all attributes that give a value of this one.

        Those are the spellings of the property and of the properties below it, or the name alone
        if it is none. Of a dotted name, ``contact.phone``, the last part may be a property.
        """
        spelt = self._properties
        if name in spelt.iris:
            return frozenset(spelt.below(spelt.iris[name]))
        head, _, last = name.rpartition(".")
        if head and last in spelt.iris:
            return frozenset(f"{head}.{each}" for each in spelt.below(spelt.iris[last]))
        return frozenset({name})


def checked_vocabulary(ontology: HasVocabulary) -> Vocabulary:
    """The names of what is given as an ontology, or an error if it is none."""
    lend = getattr(ontology, "vocabulary", None)
    if callable(lend) and not isinstance(ontology, type):
        return ontology.vocabulary()
    raise InvalidOptionError(
        f"ontology is an Ontology, as Ontology.parse(...) makes it, not {shortened(ontology)}",
        option="ontology",
    )


class _Spelt:
    """Names in a hierarchy, by their spellings."""

    __slots__ = ("_children", "_spellings", "iris", "shared")

    iris: dict[str, str]  # what each spelling stands for
    shared: dict[str, list[str]]  # the local names that several IRIs have

    def __init__(self, parents: Parents, prefixes: Mapping[str, str]) -> None:
        self._children: dict[str, list[str]] = {}
        for name, above in parents.items():
            for each in above:
                self._children.setdefault(each, []).append(name)
        names = dict.fromkeys([*parents, *self._children])
        by_local: dict[str, list[str]] = {}
        for name in names:
            by_local.setdefault(local_name(name), []).append(name)
        self.shared = {local: many for local, many in by_local.items() if len(many) > 1}
        self._spellings = {name: self._spelt(name, prefixes) for name in names}
        self.iris = {each: name for name, all_ in self._spellings.items() for each in all_}

    def _spelt(self, name: str, prefixes: Mapping[str, str]) -> list[str]:
        short = [
            f"{prefix}:{name.removeprefix(start)}"
            for prefix, start in prefixes.items()
            if name.startswith(start) and name != start
        ]
        local = local_name(name)
        return [name, *short, *([] if local in self.shared else [local])]

    def below(self, iri: str) -> Iterable[str]:
        """The spellings of a name and of all below it."""
        found, pending = {iri}, [iri]
        while pending:
            name = pending.pop()
            yield from self._spellings[name]
            new = [each for each in self._children.get(name, ()) if each not in found]
            found.update(new)
            pending += dict.fromkeys(new)


def local_name(iri: str) -> str:
    """The last part of an IRI, behind its ``#``, ``/`` or ``:``; the whole if that is empty."""
    cut = max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":"))
    return iri[cut + 1 :] or iri
