"""status: how things are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import foreword
from foreword.cli.call import Call, Exit
from foreword.cli.daemon import running, told
from foreword.cli.parser import Verbs
from foreword.cli.screen import count, size


def add(verbs: Verbs) -> None:
    verbs.add(
        "status",
        status,
        summary="what is kept, how turns were answered, what is excluded",
        example="foreword status --json",
    )


def status(call: Call) -> int:
    with call.open() as engine:
        found = engine.status()
    found = {
        "version": foreword.__version__,
        "home": str(call.home),
        **found,
        "warnings": list(call.loaded.warnings),
        "daemon": running(call),
    }
    call.answer(found, _status_lines(found))
    return Exit.OK


def _status_lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"home       {found['home']} ({size(found['bytes'])}), profile {found['profile']}"
    yield (
        f"memories   {found['memories']:,} in {count(found['sessions'], 'session')}"
        + (f": {_counts(found['by_kind'])}" if found["memories"] else "")
    )
    if found["memories"]:
        yield f"           agents {_counts(found['by_agent'])}; audience {_counts(found['by_audience'])}"
    yield (
        f"turns      {found['turns']:,}, {found['silent_turns']:,} of them silent;"
        f" {found['tokens_injected']:,} tokens given, {found['tokens_avoided']:,} spared"
    )
    if found["turns"]:
        judged = f"on {count(sum(found['feedback'].values()), 'turn')}: {_counts(found['feedback'])}"
        yield f"feedback   {judged if found['feedback'] else 'none yet (`foreword feedback RECEIPT good`)'}"
    embedder = found["embedder"]
    waiting = (
        f"{embedder['waiting']:,} waiting (`foreword doctor --rebuild`)" if embedder["waiting"] else "none waiting"
    )
    yield f"vectors    {embedder['model']}, {embedder['embedded']:,} made, {waiting}"
    if embedder["failure"]:
        yield f"           {embedder['failure']}"
    if found["summary_failure"]:
        yield f"summaries  {found['summary_failure']}"
    for name, agents in found["excluded"].items():
        if agents:
            yield f"excluded   from {name}: {', '.join(agents)}"
    yield f"lanes      {_lanes(found['lanes'])}"
    for problem in found["lanes"]["problems"]:
        yield f"           {problem}"
    yield f"daemon     {told(found['daemon'])}"


def _lanes(lanes: dict[str, Any]) -> str:
    on = {"runtime": "runtime", "file": lanes["file_name"], "both": f"runtime and {lanes['file_name']}"}[lanes["hot"]]
    on += ", and the journal" if lanes["journal"] else ""
    last = max(lanes["files"], key=lambda one: one["written"], default=None)
    return f"{on}; last {last['path']}" if last else on


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name or '-'} {number:,}" for name, number in counts.items())
