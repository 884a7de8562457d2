"""The IRIs that mean something to us: those of RDF, RDFS, OWL and XML Schema, and our own."""

from __future__ import annotations

from typing import Final

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
PREDICAST: Final = "urn:predicast:"

HOME: Final = f"{PREDICAST}home"  # the vertex that stands for the event as a whole
HOME_LABEL: Final = "H"  # of the blank node that the paper has in its place

TYPE: Final = f"{RDF}type"
LANG_STRING: Final = f"{RDF}langString"

SUB_CLASS: Final = f"{RDFS}subClassOf"
SUB_PROPERTY: Final = f"{RDFS}subPropertyOf"
DOMAIN: Final = f"{RDFS}domain"
RANGE: Final = f"{RDFS}range"
RESOURCE: Final = f"{RDFS}Resource"
LITERAL: Final = f"{RDFS}Literal"
DATATYPE: Final = f"{RDFS}Datatype"

THING: Final = f"{OWL}Thing"
EQUIVALENT_CLASS: Final = f"{OWL}equivalentClass"
EQUIVALENT_PROPERTY: Final = f"{OWL}equivalentProperty"

STRING: Final = f"{XSD}string"
BOOLEAN: Final = f"{XSD}boolean"
INTEGER: Final = f"{XSD}integer"
DECIMAL: Final = f"{XSD}decimal"
FLOAT: Final = f"{XSD}float"
DOUBLE: Final = f"{XSD}double"
DATE: Final = f"{XSD}date"
DATE_TIME: Final = f"{XSD}dateTime"

# An explicit meta-statement in an ontology: a resource with these three properties.
SUBJECT_CLASS: Final = f"{PREDICAST}subjectClass"
META_PROPERTY: Final = f"{PREDICAST}property"
OBJECT_CLASS: Final = f"{PREDICAST}objectClass"
