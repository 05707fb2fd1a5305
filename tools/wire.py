"""The wire for people and for TypeScript, from what it says of itself: its schema, a page, the adapters' types, and the
tools that a model reads memory with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foreword.serve import mcp, wire
from foreword.serve.address import address
from foreword.serve.client import Client

FIXTURES = Path(__file__).resolve().parents[1] / "adapters" / "fixtures" / "wire"
_Schema = Mapping[str, Any]
_NAMES = {"string": "string", "boolean": "boolean", "integer": "number", "number": "number", "null": "null"}


def schema() -> str:
    return json.dumps(wire.describe(), indent=2) + "\n"


# types


def types() -> str:
    described = wire.describe()
    lines = [
        "// Written by `make reference` from src/foreword/serve/wire.py. Change it there.",
        "",
        f"export const VERSION = {described['version']};",
        "",
    ]
    for name, shape in described["$defs"].items():
        lines += [*_interface(name, shape), ""]
    lines.append("/** What each action takes, and what it answers. */")
    lines.append("export interface Actions {")
    for action, about, payload, answer in _actions(described):
        lines.append(f"  /** {about} */")
        lines.append(f"  {action}: {{ payload: {_typed(payload)}; answer: {_typed(answer)} }};")
    lines += [
        "}",
        "",
        "export type Action = keyof Actions;",
        'export type Payload<A extends Action> = Actions[A]["payload"];',
        'export type Answer<A extends Action> = Actions[A]["answer"];',
    ]
    return "\n".join(lines) + "\n"


def _interface(name: str, shape: _Schema) -> Iterator[str]:
    if shape["description"]:
        yield f"/** {shape['description']} */"
    if not shape["properties"]:
        # An empty interface would take anything.
        yield f"export type {name} = Record<string, never>;"
        return
    yield f"export interface {name} {{"
    for field, inner in shape["properties"].items():
        yield f"  {field}{'' if field in shape['required'] else '?'}: {_typed(inner)};"
    yield "}"


def _typed(shape: _Schema) -> str:
    if "$ref" in shape:
        return _named(shape)
    if "enum" in shape:
        return " | ".join(json.dumps(one) for one in shape["enum"])
    if "anyOf" in shape:
        return " | ".join(_typed(one) for one in shape["anyOf"])
    match shape.get("type"):
        case None:
            return "unknown"
        case "array":
            inner = _typed(shape["items"])
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case "object":
            return f"Record<string, {_typed(shape['additionalProperties'])}>"
        case simple:
            return _NAMES[simple]


# tools


def tools() -> str:
    """The tools that only read, as the MCP server tells of them: hosts that have tools of their own offer the same."""
    nobody = Client(address({"FOREWORD_HOME": str(FIXTURES)}), {})
    server = mcp.server(mcp.Tools(nobody, audience="group"))
    lines = [
        "// Written by `make reference` from src/foreword/serve/mcp.py. Change it there.",
        "",
        "/** What a model is told of the tools that read memory; `parameters` is a JSON Schema. */",
        "export const TOOLS = {",
    ]
    for tool in asyncio.run(server.list_tools()):
        told = {
            "title": tool.title,
            "description": " ".join((tool.description or "").split()),
            "parameters": _untitled(tool.input_schema),
        }
        lines.append(
            f"  {json.dumps(tool.name)}: {json.dumps(told, ensure_ascii=False, indent=2)},".replace("\n", "\n  ")
        )
    return "\n".join([*lines, "} as const;"]) + "\n"


def _untitled(shape: Any) -> Any:
    """Without the titles that are only a name written large."""
    if not isinstance(shape, dict):
        return shape
    return {name: _untitled(inner) for name, inner in shape.items() if name != "title" or not isinstance(inner, str)}


# page


def page() -> str:
    described = wire.describe()
    shapes, actions = described["$defs"], list(_actions(described))
    place = shapes["PlacePayload"]["properties"]
    lines = [
        "# The wire",
        "",
        "One envelope for every action: `POST /v1` over the daemon's Unix socket, `run/daemon.sock` in Foreword's",
        "home, or over TCP where `serve.port` is set.",
        "",
        f'- a request: `{{"action", "payload"}}`; `version` may be told, and is {described["version"]}',
        '- its answer: `{"status": "ok", "data"}`, or `{"status": "error", "error": {"code", "message"}}` with a code',
        "  of [errors.md](errors.md)",
        "",
        "A field that nobody knows is an error, not a silence. [wire.schema.json](wire.schema.json) is the same for",
        "programs.",
        "",
        *_example("ingest keeps a message"),
        *_example("search finds by meaning"),
        "There is more in `metadata`, and beside it, than is shown here.",
        "",
        "## Place",
        "",
        " ".join((wire.Place.__doc__ or "").split()),
        "",
        *_table(place, {}),
    ]
    for action, about, payload, answer in actions:
        shape = shapes[_named(payload)]
        placed = place.keys() <= shape["properties"].keys()
        own = {name: inner for name, inner in shape["properties"].items() if not placed or name not in place}
        lines += ["", f"## {action}", "", f"{about} {shape['description']}".rstrip(), ""]
        lines += [*_table(own, dict.fromkeys(shape["required"], "required")), ""] if own else []
        taken = "Takes a [place](#place)" + (" as well. " if own else ". ") if placed else ""
        lines.append(f"{taken}Answers {_told(answer)}.")
    lines += ["", "# What is answered"]
    for name in sorted(shapes.keys() - {_named(payload) for _, _, payload, _ in actions}):
        shape = shapes[name]
        sometimes = dict.fromkeys(shape["properties"].keys() - set(shape["required"]), "not always there")
        lines += ["", f"## {name}", ""]
        lines += [shape["description"], ""] if shape["description"] else []
        lines += _table(shape["properties"], sometimes)
    return "\n".join(lines) + "\n"


def _table(fields: Mapping[str, _Schema], marks: Mapping[str, str]) -> Iterator[str]:
    yield "| field | type | |"
    yield "|---|---|---|"
    for name, shape in fields.items():
        yield f"| `{name}` | {_told(shape)} | {marks.get(name, '')} |"


def _told(shape: _Schema) -> str:
    if "$ref" in shape:
        return f"[{_named(shape)}](#{_named(shape).lower()})"
    if "enum" in shape:
        return ", ".join(f"`{one}`" for one in shape["enum"])
    match shape.get("type"):
        case None:
            return "anything"
        case "array":
            return f"list of {_told(shape['items'])}"
        case "object":
            return f"object of {_told(shape['additionalProperties'])}"
        case simple:
            return str(simple)


def _example(name: str) -> Iterator[str]:
    """Out of the fixtures, which a test sends to a real daemon. A score is the only thing they cannot promise."""
    (fixture,) = (one for one in map(_read, sorted(FIXTURES.glob("*.json"))) if one["name"] == name)
    answer = fixture["answer"]
    for result in answer["data"].get("results", ()):
        result["score"], result["metadata"] = 0.99, result.pop("metadata")
    yield "```json"
    yield json.dumps(fixture["request"])
    yield json.dumps(answer)
    yield "```"
    yield ""


def _read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def _actions(described: _Schema) -> Iterator[tuple[str, str, _Schema, _Schema]]:
    """Name, sentence, payload and answer of each."""
    for request in described["oneOf"]:
        name, payload = request["properties"]["action"]["const"], request["properties"]["payload"]
        yield name, request["description"], payload, described["answers"][name]


def _named(shape: _Schema) -> str:
    return str(shape["$ref"]).rpartition("/")[2]
