"""Any text at all is read as a graph pattern, or refused with a typed error."""

from hypothesis import given
from hypothesis import strategies as st

from predicast.errors import PredicastError
from predicast.graph import EventGraph, Ontology, parse_pattern
from predicast.graph.brute_force import find

ONTOLOGY = Ontology.parse("@prefix : <urn:x:> . :C a <http://www.w3.org/2002/07/owl#Class> .")
EVENT = EventGraph.parse("@prefix : <urn:x:> . _:H a :C ; :p 5, 'a', _:v . _:v :q _:H .")

WORDS = st.sampled_from(
    [
        *("ASK", "SELECT", "WHERE", "{", "}", "(", ")", "[", "]", ".", ",", ";", "FILTER", "UNION"),
        *("_:H", "?x", "?y", ":p", ":q", "a", ":C", "<urn:predicast:home>", "5", "'a'", "'a'@en"),
        *("=", "!=", "<", ">", "&&", "||", "!", "/", "^", "IN", "NOT", "REGEX", "STR", "BOUND"),
        *("OPTIONAL", "PREFIX", "e:", "<urn:e:>", "^^", "xsd:integer", "*", "true", "\\", '"', "#"),
    ]
)
SOUP = st.lists(WORDS, max_size=30).map(" ".join)
CONDITIONS = st.lists(WORDS, max_size=12).map(" ".join)


def read(text: str) -> None:
    try:
        pattern = parse_pattern(text, ONTOLOGY)
    except PredicastError:
        return
    assert find(pattern, EVENT, ONTOLOGY, budget=10_000).matched in {True, False, None}


@given(st.text(max_size=200) | SOUP)
def test_any_text(text: str) -> None:
    read(text)


@given(CONDITIONS)
def test_any_condition(text: str) -> None:
    read(f"ASK {{ _:H :p ?x . ?x :q ?y FILTER({text}) }}")


@given(SOUP)
def test_any_group(text: str) -> None:
    read(f"ASK {{ _:H :p ?x . {text} }}")


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("latin-1")))
def test_any_event(text: str) -> None:
    for format in (None, "turtle", "n-triples", "rdf-xml", "json-ld", "json"):
        try:
            EventGraph.parse(text, ONTOLOGY, format=format)
        except PredicastError:
            continue
