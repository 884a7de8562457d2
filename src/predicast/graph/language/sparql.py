"""SPARQL as a subscription: ASK or SELECT over one event.

::

    query = { PREFIX name: <IRI> | BASE <IRI> }
            ( ASK | SELECT [DISTINCT | REDUCED] ( "*" | variable { variable } ) ) [WHERE] group

Variables are mapped freely, as SPARQL has it, over what follows from the ontology. ``_:H`` is the
home vertex, as ``<urn:predicast:home>`` is; any other blank node is a variable that nobody can ask
for. The ontology's prefixes need not be declared. Bindings are told once each, so DISTINCT changes
nothing. What SPARQL has beyond this is refused by name: nothing is left out silently.

Cost: linear in the text, and in the number of alternatives that UNION makes.
"""

from __future__ import annotations

from typing import Final

from predicast.errors import InvalidPatternError
from predicast.graph.language.groups import GroupReader
from predicast.graph.patterns import Alternative, GraphPattern
from predicast.graph.terms import Variable
from predicast.language.where.position import error_at

_FORMS: Final = {
    **dict.fromkeys(("CONSTRUCT", "DESCRIBE"), "ASK and SELECT say what is wanted"),
    **dict.fromkeys(("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "WITH"), "ASK { ... }"),
}
_MODIFIERS: Final = {
    "FROM": "an event is one graph",
    "GROUP": "bindings are told as they are",
    "HAVING": "bindings are told as they are",
    "ORDER": "bindings have an order of their own",
    "LIMIT": "take as many bindings as you need",
    "OFFSET": "take as many bindings as you need",
    "VALUES": "write ?x IN (...) in a FILTER",
}


class SparqlReader(GroupReader):
    """Reads one query."""

    def query(self) -> GraphPattern:
        self._prologue()
        return self._query()

    def _query(self) -> GraphPattern:
        token = self._token
        word = token.text.upper()
        if self._take_word("ASK"):
            selected: list[Variable] | None = None
            alternatives = self._where()
        elif self._take_word("SELECT"):
            wanted = self._selected()
            alternatives = self._where()
            selected = _all_named(alternatives) if wanted is None else wanted
        elif token.kind == "word" and word in _FORMS:
            self._unsupported(word, _FORMS[word])
        else:
            self._fail(
                f"expected ASK or SELECT, not {self._shown()}",
                hint="write ASK { <urn:predicast:home> ... }",
            )
        return self._made(alternatives, selected, injective=False)

    def _selected(self) -> list[Variable] | None:
        """The variables behind SELECT; ``None`` for all of them."""
        if not self._take_word("DISTINCT"):
            self._take_word("REDUCED")
        if self._take("*"):
            return None
        found: list[Variable] = []
        while self._token.kind == "variable":
            found.append(Variable(self._advance().text[1:]))
        if self._at("("):
            self._unsupported("an expression behind SELECT", "select variables")
        if not found:
            self._fail(f"expected variables or * behind SELECT, not {self._shown()}")
        return list(dict.fromkeys(found))

    def _where(self) -> list[Alternative]:
        self._refuse_modifiers()
        self._take_word("WHERE")
        alternatives = self._group()
        self._refuse_modifiers()
        if self._token.kind != "end":
            self._fail(f"expected the end, not {self._shown()}")
        return alternatives

    def _refuse_modifiers(self) -> None:
        word = self._token.text.upper()
        if self._token.kind == "word" and word in _MODIFIERS:
            self._unsupported(word, _MODIFIERS[word])

    def _made(
        self,
        alternatives: list[Alternative],
        selected: list[Variable] | None,
        *,
        injective: bool,
    ) -> GraphPattern:
        chosen = None if selected is None else tuple(selected)
        try:
            return GraphPattern(tuple(dict.fromkeys(alternatives)), injective, chosen, self._text)
        except InvalidPatternError as error:
            start = 0 if error.variable is None else self._first_mention(error.variable)
            raise error_at(
                InvalidPatternError, self._text, start, error.message, variable=error.variable
            ) from None

    def _first_mention(self, variable: str) -> int:
        spellings = {f"?{variable}", f"${variable}", variable}
        return next((each.start for each in self._tokens if each.text in spellings), 0)


def _all_named(alternatives: list[Alternative]) -> list[Variable]:
    """The variables of all alternatives that have names, in the order of their mention."""
    found = [name for each in alternatives for name in each.variables() if not name.is_hidden]
    return list(dict.fromkeys(found))
