"""The auction of the paper: its ontology, its event and its subscription."""

from predicast.graph import EventGraph, Ontology

SHOP = "http://shop.example/"
PREFIXES = """\
@prefix : <http://shop.example/> .
@prefix units: <http://units.example/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
ONTOLOGY_TEXT = f"""{PREFIXES}
:Desktop rdfs:subClassOf :Computer . :Laptop rdfs:subClassOf :Computer .
:Computer rdfs:subClassOf :Product . :Disk rdfs:subClassOf :Product .
:cellPhoneNumber rdfs:subPropertyOf :telephoneNumber .
:seller rdfs:domain :Selling ; rdfs:range :Customer .
:target rdfs:domain :Selling ; rdfs:range :Product .
:price rdfs:domain :Selling ; rdfs:range :MoneyValue .
:currency rdfs:domain :MoneyValue ; rdfs:range owl:Thing .
rdf:value rdfs:range xsd:decimal .
:manufacture rdfs:domain :Product ; rdfs:range :Company .
:telephoneNumber rdfs:domain :Customer ; rdfs:range xsd:string .
:name rdfs:domain :Customer ; rdfs:range xsd:string .
units:dollar a units:Currency . units:euro a units:Currency .
"""
SUBSCRIPTION = """
(_:H, ?1, (Selling, target, Computer))
(_:H, ?2, (Selling, price, MoneyValue))
(?2, units:dollar, (MoneyValue, currency, Thing))
(?2, ?3, (MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)
"""
ONTOLOGY = Ontology.parse(ONTOLOGY_TEXT)


def selling(price: str = "350", product: str = ":Laptop") -> EventGraph:
    """Somebody sells something at a price in dollars."""
    return EventGraph.parse(
        f"""{PREFIXES}
        _:H a :Selling ; :seller _:who ; :target _:what ; :price _:money .
        _:who a :Customer ; :name "Jinling Wang" ; :cellPhoneNumber "123456789" .
        _:what a {product} ; :manufacture _:ibm .
        _:ibm a :Company .
        _:money a :MoneyValue ; :currency units:dollar ; rdf:value {price} .
        """,
        ONTOLOGY,
        validate="strict",
    )
