"""context: which workspace files a session gets, and what they cost."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, add_place

if TYPE_CHECKING:
    from foreword.engine import WorkspaceContext


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "context",
        context,
        summary="which workspace files a session gets, what they cost, and what the sets save",
        more="`before` is what OpenClaw gives by itself, `after` what it gives with bootstrap.enabled. Layer 0 is who"
        " the agent is, 1 what this kind of session needs, 2 what is looked up when it is wanted. Nothing is changed.",
        example="foreword context --session agent:main:main --workspace ~/.openclaw/workspace\n"
        "foreword context --all --workspace ~/.openclaw/workspace",
    )
    parser.add_argument("--workspace", metavar="DIR", default="", help="the agent's workspace; here, by default")
    parser.add_argument("--all", action="store_true", help="every kind of session, one line each")
    add_place(parser, "session", "agent", "sender", "channel")


def context(call: Call) -> int:
    args = call.args
    workspace = args.workspace or os.getcwd()
    with call.open() as engine:
        if args.all:
            return _all(call, engine.contexts(workspace, agent=args.agent))
        where = {"agent": args.agent, "sender": args.sender, "channel": args.channel}
        return _one(call, engine.context(args.session or "agent:main:main", workspace, **where))


def _one(call: Call, found: WorkspaceContext) -> int:
    if call.screen.as_json:
        call.answer(_document(found), [])
        return Exit.OK
    call.screen.table(
        ("file", "tokens", "layer", "before", "after", "why"),
        [
            (one.name, f"{one.tokens:,}", str(one.layer), _mark(one.before), _mark(one.after), one.why)
            for one in found.files
        ],
    )
    call.screen.write("")
    call.screen.write(f"{found.kind.value}: {_saving(found)}")
    for name in found.missing:
        call.screen.note(f"{name} belongs to the set and is not there.")
    for problem in found.problems:
        call.screen.warn(problem)
    if not found.enabled:
        call.screen.note("The sets are off: `after` is what bootstrap.enabled = true would give.")
    return Exit.OK


def _all(call: Call, found: list[WorkspaceContext]) -> int:
    if call.screen.as_json:
        call.answer({"kinds": [_document(one) for one in found]}, [])
        return Exit.OK
    call.screen.table(
        ("kind", "before", "after", "saved", "files"),
        [
            (
                one.kind.value,
                f"{one.before_tokens:,}",
                f"{one.after_tokens:,}",
                f"{one.before_tokens - one.after_tokens:,}",
                ", ".join(file.name for file in one.files if file.after) or "none",
            )
            for one in found
        ],
    )
    if not found[0].enabled:
        call.screen.note("The sets are off: `after` is what bootstrap.enabled = true would give.")
    return Exit.OK


def _saving(found: WorkspaceContext) -> str:
    saved = found.before_tokens - found.after_tokens
    share = f", {saved / found.before_tokens:.0%}" if found.before_tokens else ""
    verb = "saved" if saved >= 0 else "more"
    return f"{found.before_tokens:,} tokens before, {found.after_tokens:,} after; {abs(saved):,} {verb}{share}"


def _mark(held: bool) -> str:
    return "yes" if held else "-"


def _document(found: WorkspaceContext) -> dict[str, Any]:
    return {
        "kind": found.kind.value,
        "enabled": found.enabled,
        "files": [asdict(one) for one in found.files],
        "missing": list(found.missing),
        "problems": list(found.problems),
        "before_tokens": found.before_tokens,
        "after_tokens": found.after_tokens,
        "saved_tokens": found.before_tokens - found.after_tokens,
    }
