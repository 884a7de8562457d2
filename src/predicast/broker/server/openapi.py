"""The OpenAPI document of the operations, and a page that shows it without any network."""

from __future__ import annotations

from html import escape
from typing import Any, Final

import msgspec

from predicast.__about__ import __version__
from predicast.broker.server.call import Parameter
from predicast.broker.server.documents import Health
from predicast.broker.server.operations import OPERATIONS, Operation
from predicast.broker.server.problems import MEDIA

_PATHS: Final = {
    "id": "The id of a subscription.",
    "position": "The position of an event.",
}
_TENANT: Final = Parameter(
    "Predicast-Tenant", "string", "For which tenant, if the token is for any."
)
# What is asked without a token, and what it answers.
_PROBES: Final = {
    "/healthz": ("health", "Say that the process runs.", {"200": "It does."}),
    "/readyz": (
        "ready",
        "Say whether requests are served.",
        {"200": "They are.", "503": "It starts, stops, or has lost its backend."},
    ),
}
_CLOUDEVENT: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["id", "source", "specversion", "type"],
}
_PROBLEM: Final = {
    "type": "object",
    "description": "What was wrong, where, and what would be right (RFC 9457).",
    "required": ["title", "status", "detail", "error"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string", "description": "The name of the error's class."},
    },
}


def openapi_document() -> dict[str, Any]:
    """The whole document."""
    types = [
        each
        for operation in OPERATIONS
        for given in (operation.takes, operation.gives)
        for each in _types(given)
    ] + [Health]
    schemas, components = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    by_type = {repr(kind): schema for kind, schema in zip(types, schemas, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        entry = paths.setdefault(operation.path, {})
        entry[operation.method.lower()] = _described(operation, by_type)
    for path, (name, about, answers) in _PROBES.items():
        paths[path] = {"get": _probe(name, about, answers, by_type[repr(Health)])}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Predicast",
            "version": __version__,
            "description": "Content-based publish/subscribe: publish events, state what you want.",
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _types(given: Any) -> tuple[Any, ...]:
    """The types of a body in JSON: any one of them."""
    if given is None or isinstance(given, str):
        return ()
    return given if isinstance(given, tuple) else (given,)


def _probe(name: str, about: str, answers: dict[str, str], schema: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {
        "operationId": name,
        "summary": about,
        "security": [],
        "responses": {
            status: {"description": said, "content": content} for status, said in answers.items()
        },
    }


def _described(operation: Operation, by_type: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.handler.__name__
        + ("_all" if operation.path == "/dead-letters" else ""),
        "summary": operation.about.split("\n", 1)[0],
        "parameters": [
            *(
                {
                    "name": name,
                    "in": "path",
                    "required": True,
                    "description": about,
                    "schema": {"type": "string", "minLength": 1},
                }
                for name, about in _PATHS.items()
                if f"{{{name}}}" in operation.path
            ),
            *(_parameter(each, "query") for each in operation.query),
            *(_parameter(each, "header") for each in (*operation.headers, _TENANT)),
        ],
        "responses": _responses(operation, by_type),
    }
    if operation.scope is not None:
        described["description"] = f"Needs a token with the scope `{operation.scope}`."
    body = _body(operation, by_type)
    return described | ({"requestBody": body} if body else {})


def _body(operation: Operation, by_type: dict[str, Any]) -> dict[str, Any] | None:
    if operation.media:
        shapes = {media: {"schema": _event_schema(media)} for media in operation.media}
        return {"required": True, "content": shapes}
    if operation.takes is None:
        return None
    return {
        "required": True,
        "content": {"application/json": {"schema": by_type[repr(operation.takes)]}},
    }


def _event_schema(media: str) -> dict[str, Any]:
    if media == "application/json":
        event: dict[str, Any] = {"type": "object"}
        return {"anyOf": [event, {"type": "array", "items": event, "minItems": 1}]}
    if media == "application/cloudevents+json":
        return _CLOUDEVENT
    if media == "application/cloudevents-batch+json":
        return {"type": "array", "items": _CLOUDEVENT, "minItems": 1}
    if media == "application/ld+json":
        return {"type": ["object", "array"]}
    return {"type": "string"}


def _responses(operation: Operation, by_type: dict[str, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": operation.status.phrase}
    if isinstance(operation.gives, str):
        good["content"] = {operation.gives: {"schema": {"type": "string"}}}
    elif operation.gives is not None:
        any_of = [by_type[repr(each)] for each in _types(operation.gives)]
        schema = any_of[0] if len(any_of) == 1 else {"anyOf": any_of}
        good["content"] = {"application/json": {"schema": schema}}
    bad = {
        "description": "What was wrong, where, and what would be right.",
        "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    responses = {str(operation.status.value): good, "4XX": bad, "5XX": bad}
    if operation.method == "PUT" and operation.path.endswith("{id}"):
        responses["201"] = good
    return responses


def _parameter(parameter: Parameter, place: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.kind}
    if parameter.low is not None:
        schema["minimum"] = parameter.low
    if parameter.high is not None:
        schema["maximum"] = parameter.high
    return {
        "name": parameter.name,
        "in": place,
        "required": False,
        "description": parameter.about,
        "schema": schema,
    }


# The page.

_STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .5rem; }
summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; }
td, th { text-align: left; padding: .1rem 1rem .1rem 0; vertical-align: top; }
"""


def docs_page() -> str:
    """All operations for people to read."""
    sections = "".join(map(_section, OPERATIONS))
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'><title>Predicast</title>"
        f"<style>{_STYLE}</style><h1>Predicast {escape(__version__)}</h1>"
        "<p>What can be asked of this broker over HTTP. For programs: "
        "<a href='/openapi.json'>openapi.json</a>.</p>"
        f"{sections}</html>"
    )


def _section(operation: Operation) -> str:
    rows = [
        (each.name, place, each.about)
        for place, given in (("query", operation.query), ("header", operation.headers))
        for each in given
    ]
    if operation.media:
        rows.append(("body", "", ", ".join(operation.media)))
    elif operation.takes is not None:
        rows.append(("body", "", getattr(operation.takes, "__doc__", None) or "an object"))
    table = "".join(
        f"<tr><td><code>{escape(name)}</code><td>{place}<td>{escape(about)}"
        for name, place, about in rows
    )
    needs = f"<p>Scope: <code>{operation.scope}</code>" if operation.scope else ""
    return (
        f"<details><summary><b>{operation.method}</b> <code>{escape(operation.path)}</code> "
        f"{escape(operation.about)}</summary>{needs}<table>{table}</table></details>"
    )
