"""rollout, validate: a live workspace changed phase by phase, put back, and proven."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs
from foreword.cli.screen import count, printable
from foreword.cli.workspace import add_workspace, workspace_of
from foreword.errors import BadInput
from foreword.install import INSTALLERS, Check, installation

if TYPE_CHECKING:
    from foreword.rollout import Criterion, Phase, Rollout, Standing
    from foreword.upkeep import Upkeep

_HOST = "openclaw"
_MARKS = {"ok": "✓", "warn": "!", "fail": "✗"}
_LAST = 4


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "rollout",
        rollout,
        summary="bring a workspace to few tokens in five phases, and put it back with one command",
        more="`plan` shows every phase with what it needs and changes. `apply` shows the next ones, and with --yes"
        " takes them, each with a checkpoint. `status` tells how far it is and what it saves. `rollback` puts every"
        " file back byte for byte; what somebody changed since is kept aside.",
        example="foreword rollout plan\nforeword rollout apply --to 1 --yes\nforeword rollout rollback --yes",
    )
    parser.add_argument("what", choices=("plan", "apply", "status", "rollback"), help="what to do")
    add_workspace(parser)
    _add_agent(parser)
    parser.add_argument("--to", type=int, choices=range(_LAST + 1), metavar="N", help="apply: the last phase, 0 to 4")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--yes", action="store_true", help="apply, rollback: do it")
    either.add_argument("--dry-run", action="store_true", help="only show it, as without --yes")

    parser = verbs.add(
        "validate",
        validate,
        summary="whether a workspace is where a rollout should bring it, with evidence",
        more="PASS, FAIL or BLOCKED for each criterion; BLOCKED is what cannot be looked at yet. The exit code is 0"
        " when all pass, else 1, also when something is only BLOCKED. Nothing is changed.",
        example="foreword validate --workspace ~/.openclaw/workspace",
    )
    add_workspace(parser)
    _add_agent(parser)


def _add_agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", default="main", metavar="AGENT", help="whose sets count; `main` by default")


def rollout(call: Call) -> int:
    what = call.args.what
    if what in ("plan", "status") and (call.args.yes or call.args.to is not None):
        raise BadInput(f"--{'yes' if call.args.yes else 'to'} does not belong to {what}.")
    if what == "rollback" and call.args.to is not None:
        raise BadInput("--to does not belong to rollback.", hint="It puts everything back, from any phase.")
    with _opened(call) as (found, _):
        verb = {"plan": _plan, "apply": _apply, "status": _status, "rollback": _rollback}[what]
        return verb(call, found)


def validate(call: Call) -> int:
    from foreword.rollout import State
    from foreword.rollout import validate as judged

    with _opened(call) as (found, upkeep):
        criteria = judged(found, upkeep)
    counts = {state.value: sum(one.state is state for one in criteria) for state in State}
    passed = counts[State.PASS] == len(criteria)
    data = {"workspace": str(found.workspace), "passed": passed, "counts": counts}
    call.answer({**data, "criteria": [asdict(one) for one in criteria]}, _judged(call, criteria, counts))
    return Exit.OK if passed else Exit.NO


def _judged(call: Call, criteria: Sequence[Criterion], counts: dict[str, int]) -> Iterator[str]:
    colors = {"PASS": "green", "FAIL": "red", "BLOCKED": "yellow"}
    for one in criteria:
        state = call.screen.paint(f"{one.state.value:<8}", colors[one.state.value])
        yield f"{state} {one.name:<11} {printable(one.evidence)}"
        if one.next:
            yield f"{'':21}→ {one.next}"
    yield ""
    yield ", ".join(f"{number} {state}" for state, number in counts.items())


@contextmanager
def _opened(call: Call) -> Iterator[tuple[Rollout, Upkeep]]:
    from foreword.rollout import Rollout
    from foreword.settings import config_file, load
    from foreword.upkeep import Upkeep

    home = Path(os.path.abspath(call.home))
    host = INSTALLERS[_HOST]
    upkeep = Upkeep.open(home, workspace_of(call), call.loaded.settings)
    with call.open() as engine:
        yield (
            Rollout(
                engine,
                upkeep,
                home,
                settings_file=config_file(),
                reload=load,
                host=host,
                host_file=host.config_file(os.environ),
                agent=call.args.agent,
            ),
            upkeep,
        )


def _plan(call: Call, found: Rollout) -> int:
    phases = found.phases()
    call.answer({"workspace": str(found.workspace), "phases": [_document(one) for one in phases]}, _shown(phases))
    return Exit.OK


def _apply(call: Call, found: Rollout) -> int:
    from foreword.rollout import TITLES

    to = _LAST if call.args.to is None else call.args.to
    if found.phase >= to:
        data: dict[str, Any] = {"applied": [], "stopped_at": None, "missing": [], "dry_run": not call.args.yes}
        call.answer(data, [f"Phase {found.phase} is done; nothing is left to apply."])
        return Exit.OK
    if not call.args.yes:
        due = [one for one in found.phases() if not one.done and one.number <= to]
        then = f"Nothing was changed. To apply it: foreword rollout apply{f' --to {to}' if to < _LAST else ''} --yes"
        data = {"phases": [_document(one) for one in due], "applied": [], "dry_run": True}
        call.answer(data, [*_shown(due), then])
        return Exit.OK
    progress = found.apply(to)
    standing = found.standing()
    lines = [f"phase {number}  {TITLES[number]}: done" for number in progress.done]
    if progress.stopped_at is not None:
        lines.append(f"phase {progress.stopped_at}  {TITLES[progress.stopped_at]}: may not start")
        lines += _checks(progress.missing)
    data = {
        "applied": list(progress.done),
        "stopped_at": progress.stopped_at,
        "missing": [asdict(one) for one in progress.missing],
        "dry_run": False,
        **_standing(standing),
    }
    call.answer(data, [*lines, "", *_saving(standing)])
    return Exit.NO if progress.missing else Exit.OK


def _status(call: Call, found: Rollout) -> int:
    standing = found.standing()
    following = next((one for one in found.phases() if not one.done), None)
    data = {**_standing(standing), "next": _document(following) if following else None}
    call.answer(data, _told(standing, following))
    return Exit.NO if standing.broken else Exit.OK


def _told(standing: Standing, following: Phase | None) -> Iterator[str]:
    from foreword.rollout import TITLES

    if standing.phase < 0:
        yield "No rollout has begun here."
    else:
        yield f"phase {standing.phase}  {TITLES[standing.phase]}: done, since {standing.since}"
    if standing.cut_off:
        yield "The last apply was cut off: `foreword rollout apply --yes` goes on, `rollback --yes` puts all back."
    for problem in standing.broken:
        yield f"✗ No longer: {problem}"
    for what in standing.waiting:
        yield f"A draft of {what} waits: `foreword {what} review`."
    if following:
        yield f"next: phase {following.number}, {following.title}"
        yield from _checks(following.missing)
    yield ""
    yield from _saving(standing)


def _rollback(call: Call, found: Rollout) -> int:
    if not found.kept.exists:
        if call.args.yes:
            found.rollback()  # takes away what a rollback that was cut off may have left of its copies
        call.answer(
            {"files": [], "dry_run": not call.args.yes}, ["No rollout is on record here: nothing is to be put back."]
        )
        return Exit.OK
    plan = found.undoing()
    if call.args.yes:
        plan = found.rollback()
    shown = [one for one in plan if one.said != installation.NOTHING]
    aside = [str(one) for one in found.kept.asides()]
    lines = [f"{one.file}: {one.said}" for one in shown] or ["Every file is as it was already."]
    lines += [f"aside    {one}" for one in aside]
    if not call.args.yes:
        lines += ["", "Nothing was changed. To put it back: foreword rollout rollback --yes"]
    files = [{"file": str(one.file), "how": one.said} for one in plan]
    call.answer({"files": files, "aside": aside, "dry_run": not call.args.yes}, lines)
    return Exit.NO if any(one.said == installation.DAMAGED for one in plan) else Exit.OK


def _shown(phases: Iterable[Phase]) -> Iterator[str]:
    for one in phases:
        yield f"phase {one.number}  {one.title}{': done' if one.done else ''}"
        yield from _checks(one.needs)
        if shown := _diff(one):
            yield "\n".join(f"    {line}" for line in printable(shown).splitlines())
        yield ""


def _checks(checks: Iterable[Check]) -> Iterator[str]:
    for one in checks:
        yield f"  {_MARKS[one.state]} {one.name:<11} {printable(one.found)}"
        if one.next:
            yield f"  {'':13} → {one.next}"


def _diff(phase: Phase) -> str:
    from foreword.record import redact

    return installation.diff(phase.changes, redact=lambda text: redact(text).text)


def _document(phase: Phase) -> dict[str, Any]:
    return {
        "phase": phase.number,
        "title": phase.title,
        "done": phase.done,
        "needs": [asdict(one) for one in phase.needs],
        "files": [str(one.file) for one in phase.changes if one.changes],
        "diff": _diff(phase),
    }


def _standing(standing: Standing) -> dict[str, Any]:
    saved = {kind: standing.before[kind] - tokens for kind, tokens in standing.now.items() if kind in standing.before}
    return {**asdict(standing), "saved": saved}


def _saving(standing: Standing) -> Iterator[str]:
    for kind in ("main_session", "forum_topic"):
        before, now = standing.before[kind], standing.now[kind]
        share = f", {abs(before - now) / before:.0%} {'less' if now <= before else 'more'}" if before else ""
        yield f"{kind:<13} {count(before, 'token')} before, {now:,} now{share}"
