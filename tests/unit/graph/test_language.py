"""Graph patterns as text: what is read, what it means, and what is refused, where and why."""

from typing import Any

import pytest

from predicast import attr
from predicast.errors import (
    GraphTooLargeError,
    InvalidConstraintError,
    InvalidPatternError,
    NestingTooDeepError,
    ParseError,
    PredicastError,
    TextTooLongError,
    UnknownFunctionError,
    UnsupportedSyntaxError,
)
from predicast.graph import (
    HOME_VERTEX,
    ClassPattern,
    EventGraph,
    Filter,
    GraphPattern,
    Iri,
    Literal,
    MetaStatement,
    Ontology,
    StatementPattern,
    Variable,
    parse_pattern,
    statement_pattern,
)
from predicast.graph.brute_force import find
from predicast.graph.names import INTEGER, OWL, XSD
from tests.unit.graph.shop import ONTOLOGY, SHOP, SUBSCRIPTION, selling

X = Ontology.parse("@prefix : <urn:x:> . <urn:x:C> a <http://www.w3.org/2002/07/owl#Class> .")
HOME = "<urn:predicast:home>"


def said(text: str) -> list[str]:
    return [str(each).replace("urn:x:", "") for each in parse_pattern(text, X).alternatives]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ASK { _:H :p ?x }", f"{HOME} <p> ?x"),
        (f"ASK WHERE {{ {HOME} :p ?x . }}", f"{HOME} <p> ?x"),
        ("ask { _:H :p $x ; :q 5 , 'a'@EN ; }",
         f'{HOME} <p> ?x . {HOME} <q> "5"^^<{INTEGER}> . {HOME} <q> "a"@en'),
        ("ASK { _:H a :C ; a :D }", f"{HOME} a <C> . {HOME} a <D>"),
        ("ASK { _:H :p/:q ?x }", f"{HOME} <p> _:1. . _:1. <q> ?x"),
        ("ASK { ?x ^:p _:H }", f"{HOME} <p> ?x"),
        ("ASK { _:H :p/a :C }", f"{HOME} <p> _:1. . _:1. a <C>"),
        ("ASK { _:H :p [ a :C ; :q _:b ] }", f"_:1. <q> _:b . {HOME} <p> _:1. . _:1. a <C>"),
        ("ASK { [ ^:p _:H ] }", f"{HOME} <p> _:1."),
        ("PREFIX e: <urn:e:> BASE <http://b/a> ASK { _:H e:p <c> }", f"{HOME} <urn:e:p> <http://b/c>"),
        ('ASK { _:H :p """a"b\\u00e9""" }', f'{HOME} <p> "a\\"bé"'),
        ("ASK { _:H :a\\,b ?x # a comment\n }", f"{HOME} <a,b> ?x"),
        ("ASK { _:H :p ?x FILTER(?x < 5) . _:H :q ?x }",
         f"{HOME} <p> ?x . {HOME} <q> ?x . FILTER(?x < 5)"),
        ("ASK { { _:H :p ?x } _:H :q ?x }", f"{HOME} <q> ?x . {HOME} <p> ?x"),
    ],
)  # fmt: skip
def test_statements(text: str, expected: str) -> None:
    assert said(text) == [expected]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("5 > ?x", "?x < 5"),
        ("!(?x < 5)", "?x >= 5"),
        ("!(?x < 5 && ?x != 3)", "(?x >= 5 || ?x = 3)"),
        ("?x = 5.0", "?x = 5"),
        ("?x != 5", "(language(?x) absent || ?x != 5)"),
        ("?x = :a", "iri(?x) = 'a'"),
        ("?x != :a", "(iri(?x) absent || iri(?x) != 'a')"),
        ("?x IN (1, 2.5)", "?x in (1, 2.5)"),
        ("?x NOT IN (1, 2)", "(language(?x) absent || ?x not in (1, 2))"),
        ("?x IN (1, 'a')", "(?x = 1 || ?x = 'a')"),
        ("?x IN ()", None),
        ("?x NOT IN ()", ""),
        ("?x = 'a'@en", "language(?x) = 'en' . text(?x) = 'a'"),
        ("?x = 'a'^^:own", "term(?x) = '\"a\"^^<own>'"),
        ("STR(?x) = 'a'", "str(?x) = 'a'"),
        ("LANG(?x) IN ('EN', 'de')", "language(?x) in ('de', 'en')"),
        ("LANGMATCHES(LANG(?x), 'en')", "(language(?x) = 'en' || language(?x) prefix 'en-')"),
        ("LANGMATCHES(LANG(?x), '*')", "language(?x) != ''"),
        ("DATATYPE(?x) = xsd:integer", f"datatype(?x) = '{INTEGER}'"),
        ("REGEX(?x, 'a+', 'si')", "text(?x) matches '(?is)a+'"),
        ("regex(STR(?x), 'a')", "str(?x) matches 'a'"),
        ("STRSTARTS(?x, 'a') && STRENDS(?x, 'b')", "text(?x) prefix 'a' . text(?x) suffix 'b'"),
        ("!CONTAINS(?x, 'a')", "text(?x) not contains 'a'"),
        ("?x", "(?x = True || ?x != 0 || ?x != '')"),
        ("!?x", "(?x = False || ?x = 0 || ?x = '')"),
        ("((?x)) > 5", "?x > 5"),
        ("isIRI(?x) || isBlank(?x)", "(iri(?x) exists || (iri(?x) absent && language(?x) absent))"),
        ("sameTerm(?x, 5)", f"term(?x) = '\"5\"^^<{INTEGER}>'"),
        ("BOUND(?x)", ""),
        ("!BOUND(?x)", None),
        ("true", ""),
        ("false || ?x > 5", "?x > 5"),
        ("?x > ?x", "?x > ?x"),
    ],
)
def test_conditions(condition: str, expected: str | None) -> None:
    found = said(f"ASK {{ _:H :p ?x FILTER({condition}) }}")
    if expected is None:
        assert found == []
    else:
        filters = "".join(f" . FILTER({each})" for each in expected.split(" . ") if each)
        assert found == [f"{HOME} <p> ?x{filters}"]


LITERALS = """@prefix : <urn:x:> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
_:H :number 5 ; :string "ab" ; :french "ab"@fr ; :yes true ; :iri :a ; :own "q"^^:own ; :nan "x"^^xsd:int ;
    :blank [ :x 1 ] ; :time "2026-01-01T00:00:00Z"^^xsd:dateTime ; :day "2026-01-01"^^xsd:date .
"""  # noqa: E501
ALL = {"number", "string", "french", "yes", "iri", "own", "nan", "blank", "time", "day"}


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("?x = 5", {"number"}),
        ("?x != 5", {"iri", "blank"}),
        ("?x != 6", {"number", "iri", "blank"}),
        ("!(?x < 5)", {"number"}),
        ("?x != 'ab'", {"iri", "blank"}),
        ("?x = 'ab'@FR", {"french"}),
        ("?x != 'b'@fr", {"french", "iri", "blank"}),
        ("?x = 'q'^^:own", {"own"}),
        ("?x != 'p'^^:own", {"iri", "blank"}),
        ("?x = :a", {"iri"}),
        ("?x != :a", ALL - {"iri"}),
        ("REGEX(?x, '^a')", {"string", "french"}),
        ("!REGEX(?x, '^b')", {"string", "french"}),
        ("STRSTARTS(STR(?x), 'urn:')", {"iri"}),
        ("LANG(?x) = 'fr'", {"french"}),
        ("isNumeric(?x)", {"number"}),
        ("!isNumeric(?x)", ALL - {"number"}),
        ("isLiteral(?x) && !isNumeric(?x)", ALL - {"number", "iri", "blank"}),
        ("?x", {"number", "string", "yes"}),
        ("!?x", set()),
        ("?x >= '2026-01-01T00:00:00+00:00'^^xsd:dateTime", {"time", "day"}),
        ("?x = true", {"yes"}),
        ("?x = 5 || ?x = 'ab'", {"number", "string"}),
        ("!(?x = 5 || ?x = 'ab')", {"iri", "blank"}),
        ("?x = ?x", ALL),
        ("DATATYPE(?x) = xsd:int", {"nan"}),
    ],
)  # fmt: skip
def test_what_conditions_are_true_of(condition: str, names: set[str]) -> None:
    event = EventGraph.parse(LITERALS, X)
    found = {
        name.removeprefix("urn:x:")
        for name in event.property_names
        if find(
            parse_pattern(f"ASK {{ _:H <{name}> ?x FILTER({condition}) }}", X), event, X
        ).matched
        and name != "urn:x:x"
    }
    assert found == names


def test_a_union_is_two_alternatives_and_filters_see_what_theirs_bind() -> None:
    text = "SELECT * { { _:H :p ?x } UNION { _:H :q ?y } _:H :r ?z FILTER(?x > 1 || !BOUND(?x)) }"
    pattern = parse_pattern(text, X)
    assert said(text) == [
        f"{HOME} <r> ?z . {HOME} <p> ?x . FILTER(?x > 1)",
        f"{HOME} <r> ?z . {HOME} <q> ?y",
    ]
    assert pattern.selected == (Variable("z"), Variable("x"), Variable("y"))
    event = EventGraph.parse("@prefix : <urn:x:> . _:H :p 1, 2 ; :q 3 ; :r 4 .", X)
    rows = [[each and str(each)[1] for each in row] for row in find(pattern, event, X).bindings]
    assert rows == [["4", "2", None], ["4", None, "3"]]


def test_a_test_of_what_is_not_bound_is_unknown_also_if_negated() -> None:
    text = "ASK {{ {{ _:H :p ?x }} UNION {{ _:H :q ?y }} FILTER({}) }}"
    for condition in ("?x > 1", "!(?x > 1)", "?x != 1"):
        assert len(said(text.format(condition))) == 1


def test_a_union_of_unions_has_a_limit() -> None:
    forks = [f"{{ _:H :a {number} }} UNION {{ _:H :b {number} }}" for number in range(7)]
    assert len(said(f"ASK {{ {' '.join(forks[:6])} }}")) == 64
    with pytest.raises(GraphTooLargeError) as caught:
        said(f"ASK {{ {' '.join(forks)} }}")
    assert (caught.value.limit, caught.value.actual) == (64, 128)


def test_equal_patterns_are_equal() -> None:
    one, other = (parse_pattern(text, X) for text in ("ASK{_:H :p ?x}", "ASK { _:H :p ?x . }"))
    assert one == other
    assert hash(one) == hash(other)
    assert one.text != other.text


def test_the_papers_form() -> None:
    (alternative,) = parse_pattern(SUBSCRIPTION, ONTOLOGY).alternatives
    dollar, value = Iri("http://units.example/dollar"), Variable("3")
    built = GraphPattern.of(
        statement_pattern(
            HOME_VERTEX,
            Variable("1"),
            MetaStatement(SHOP + "Selling", SHOP + "target", SHOP + "Computer"),
        ),
        statement_pattern(
            HOME_VERTEX,
            Variable("2"),
            MetaStatement(SHOP + "Selling", SHOP + "price", SHOP + "MoneyValue"),
        ),
        statement_pattern(
            Variable("2"),
            dollar,
            MetaStatement(SHOP + "MoneyValue", SHOP + "currency", OWL + "Thing"),
        ),
        statement_pattern(
            Variable("2"),
            value,
            MetaStatement(
                SHOP + "MoneyValue",
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#value",
                XSD + "decimal",
            ),
            Filter.of(attr("?3") < 400),
        ),
    )
    assert built.injective
    # Names of attributes are for messages only; what is asked is the same.
    assert str(built.alternatives[0]) == str(alternative)
    assert find(built, selling(), ONTOLOGY).matched


@pytest.mark.parametrize(
    ("text", "error", "column", "why"),
    [
        ("ASK { ?x :p ?y }", InvalidPatternError, 1, "nothing is asked of the home vertex"),
        ("ASK { _:H :p ?x . ?y :p ?z }", InvalidPatternError, 19, r"\?y is not connected"),
        ("ASK { _:H :p ?x FILTER(?y > 5) }", InvalidPatternError, 27, r"asks for \?y"),
        ("SELECT ?y { _:H :p ?x }", InvalidPatternError, 8, r"\?y is selected and never bound"),
        ("ASK { _:H a ?c }", InvalidPatternError, 13, "named by an IRI"),
        ("ASK { _:H ?p ?x }", UnsupportedSyntaxError, 11, r"\?p as a property"),
        ("ASK { _:H :p+ ?x }", UnsupportedSyntaxError, 13, r"path operator \+"),
        ("ASK { _:H (:p|:q) ?x }", UnsupportedSyntaxError, 11, "path operator"),
        ("ASK { _:H :p (1 2) }", UnsupportedSyntaxError, 14, "a list"),
        ("ASK { _:H :p ?x OPTIONAL { ?x :q ?y } }", UnsupportedSyntaxError, 17, "OPTIONAL"),
        ("ASK { GRAPH ?g { _:H :p ?x } }", UnsupportedSyntaxError, 7, "GRAPH"),
        ("ASK { _:H :p ?x MINUS { ?x :q ?y } }", UnsupportedSyntaxError, 17, "MINUS"),
        ("ASK { _:H :p ?x . BIND(1 AS ?y) }", UnsupportedSyntaxError, 19, "BIND"),
        ("ASK { _:H :p ?x FILTER EXISTS { ?x :q ?y } }", UnsupportedSyntaxError, 24, "EXISTS"),
        ("ASK { _:H :p ?x FILTER(?x + 1 > 2) }", UnsupportedSyntaxError, 27, "arithmetic"),
        ("ASK { _:H :p ?x FILTER(NOW() > ?x) }", UnsupportedSyntaxError, 24, "NOW"),
        ("ASK { _:H :p ?x FILTER(xsd:int(?x) > 2) }", UnsupportedSyntaxError, 24, "a call"),
        ("SELECT (COUNT(?x) AS ?n) { _:H :p ?x }", UnsupportedSyntaxError, 8, "an expression"),
        ("SELECT ?x { _:H :p ?x } GROUP BY ?x", UnsupportedSyntaxError, 25, "GROUP"),
        ("SELECT ?x FROM :g { _:H :p ?x }", UnsupportedSyntaxError, 11, "FROM"),
        ("CONSTRUCT { } WHERE { }", UnsupportedSyntaxError, 1, "CONSTRUCT"),
        ("ASK { _:H :p ?x FILTER(STRLENGTH(?x) > 2) }", UnknownFunctionError, 24, "no function"),
        ("ASK { _:H :p ?x FILTER(1 < 2) }", ParseError, 26, "two values"),
        ("ASK { _:H :p ?x FILTER(?x < true) }", ParseError, 27, "boolean"),
        ("ASK { _:H :p ?x FILTER(?x < 'a'@en) }", ParseError, 29, "no place in an order"),
        ("ASK { _:H :p ?x FILTER(?x < 'a'^^xsd:int) }", ParseError, 29, "is no int"),
        ("ASK { _:H :p ?x FILTER REGEX(?x, '(a') }", ParseError, 24, "missing"),
        ("ASK { _:H :p ?x FILTER REGEX(?x, 'a', 'q') }", ParseError, 39, "no flag 'q'"),
        ("ASK { _:H :p ?x FILTER REGEX(?x) }", ParseError, 24, "takes 2 or 3 arguments"),
        ("ASK { _:H :p ?x FILTER(STR(?x)) }", ParseError, 24, "compare it"),
        ("ASK { _:H :p ?x FILTER((?x > 1) = 2) }", ParseError, 33, "a condition is not compared"),
        ("ASK { _:H :p 'a }", ParseError, 14, "never closed"),
        ("ASK { _:H :p 'a\\q' }", ParseError, 16, "no escape"),
        ("ASK { _:H :p '\\uD800' }", ParseError, 15, "no character"),
        ("ASK { _:H e:p ?x }", ParseError, 11, "prefix e: is not declared"),
        ("ASK { _:H <p> ?x }", ParseError, 11, "no BASE"),
        ("ASK { _:H :p ?x", ParseError, 16, "closing brace"),
        ("ASK { { _:H :p ?x }", ParseError, 5, "never closed"),
        ("ASK { _:H :p }", ParseError, 14, "expected an object"),
        ("ASK { 5 :p ?x }", ParseError, 7, "stated of a literal"),
        ("ASK { _:H ^:p 5 }", ParseError, 15, "stated of a literal"),
        ("ASK { _:H :p ?x } ?y", ParseError, 19, "expected the end"),
        ("ASK { _:H :p ?x § }", ParseError, 17, "cannot stand here"),
        ("", ParseError, 1, "expected ASK or SELECT"),
        ("SELECT { _:H :p ?x }", ParseError, 8, "expected variables"),
        ("PREFIX x ASK {}", ParseError, 8, "expected a prefix"),
        ("(_:H, ?1, (C, :p))", ParseError, 17, "comma behind the property"),
        ("(?1, ?2, (:C, :p, :C))", InvalidPatternError, 1, "nothing is asked of the home"),
        ("(_:H, ?1, (:C, :p, :C)) (?2, ?1, (:C, :p, :C))", InvalidPatternError, 26, "reached"),
        ("(_:H, ?1, (:C, :p, :C), ?2 > 1)", InvalidPatternError, 28, r"asks for \?2"),
        ("(5, ?1, (:C, :p, :C))", ParseError, 2, "stated of a literal"),
    ],
)  # fmt: skip
def test_refused(text: str, error: type[ParseError], column: int, why: str) -> None:
    with pytest.raises(error, match=why) as caught:
        parse_pattern(text, X)
    assert type(caught.value) is error
    assert (caught.value.line, caught.value.column) == (1, column)


def test_names_without_a_prefix_are_the_ontologys() -> None:
    with pytest.raises(InvalidPatternError, match="no class Sellin") as caught:
        parse_pattern("(_:H, ?1, (Sellin, target, Computer))", Ontology(ONTOLOGY.triples))
    assert caught.value.hint == "did you mean Selling?"


def test_limits() -> None:
    with pytest.raises(TextTooLongError):
        parse_pattern("ASK { _:H :p ?x }" + " " * 70_000, X)
    with pytest.raises(NestingTooDeepError):
        parse_pattern("ASK " + "{" * 100 + "}" * 100, X)
    for opening in ("(", "!", "!(", "STR("):
        with pytest.raises(NestingTooDeepError):
            parse_pattern("ASK { _:H :p ?x FILTER(" + opening * 10_000, X)
    with pytest.raises(NestingTooDeepError):
        parse_pattern("ASK { _:H :p " + "[ :p " * 100, X)
    with pytest.raises(GraphTooLargeError):
        parse_pattern("ASK {" + "".join(f"_:H :p{n} ?x . " for n in range(300)) + "}", X)


@pytest.mark.parametrize(
    "text",
    ["a.", "1", "'a", "{", ":a.", "-", "?", "<", "!", "(_:H,", "a-", "_:a.", '""'],
)
@pytest.mark.parametrize("before", ["ASK { _:H :p ", "ASK { _:H :p ?x FILTER("])
def test_long_nonsense_is_refused(before: str, text: str) -> None:
    with pytest.raises(PredicastError):
        parse_pattern(before + text * (20_000 // len(text)), X)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: StatementPattern(Literal("a"), "urn:p", Variable("x")), "stated of a literal"),
        (lambda: StatementPattern("x", "urn:p", Variable("x")), "not 'x'"),  # type: ignore[arg-type]
        (lambda: StatementPattern(HOME_VERTEX, "", Variable("x")), "has a property"),
        (lambda: GraphPattern.of(ClassPattern(Variable("x"), "urn:C")), "home vertex"),
    ],
)
def test_objects_that_are_no_patterns(made: Any, why: str) -> None:
    with pytest.raises(InvalidPatternError, match=why):
        made()


def test_filters_nest_as_deep_as_expressions() -> None:
    deep = attr("?x") < 5
    for _ in range(500):
        deep = ~deep
    with pytest.raises(NestingTooDeepError):
        Filter.of(deep)


def test_filters_are_about_variables() -> None:
    with pytest.raises(InvalidConstraintError, match="a variable such as"):
        Filter.of(attr("price") < 5)
