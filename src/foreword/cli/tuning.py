"""feedback, tune: what a person says of turns, and the settings it speaks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.cli import settings_file
from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, at_least
from foreword.cli.screen import count, cut
from foreword.cli.settling import commented
from foreword.errors import BadSettings

if TYPE_CHECKING:
    from foreword.engine import Tuning
    from foreword.receipts import Replayed

_LAST = 1000
_SHOWN = 40
_MEANINGS = """Said again it
replaces what was said. `foreword tune` learns from it.

  good    what was given helped
  noise   what was given should not have been
  missed  something that is kept should have been given, and was not
  clear   takes back what was said"""
_KEYS = ("confident", "floor", "companion")


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "feedback",
        feedback,
        summary="say of a turn that it was good, noise, or missed something",
        more=_MEANINGS,
        example="foreword feedback r12 noise",
    )
    parser.add_argument("receipt", metavar="RECEIPT", help="an id such as r12; `foreword why` shows the last")
    parser.add_argument("verdict", metavar="VERDICT", help="good, noise, missed or clear")

    parser = verbs.add(
        "tune",
        tune,
        summary="propose gate settings from your feedback, and show what they would have changed",
        more="Nothing\nis written without --apply. A turn that was good is never given up, and nothing is proposed\n"
        "before five turns are judged, nor unless two more of them would be answered rightly.",
        example="foreword tune\nforeword tune --apply",
    )
    parser.add_argument(
        "--last", type=at_least(1), default=_LAST, metavar="N", help=f"how many turns to look at; {_LAST} by default"
    )
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--apply", action="store_true", help="write what is proposed to the settings file")
    either.add_argument("--dry-run", action="store_true", help="only show it, as without --apply")


def feedback(call: Call) -> int:
    from foreword.receipts import SAID

    with call.open() as engine:
        receipt = engine.feedback(call.args.receipt, call.args.verdict)
    said = receipt["feedback"]
    lines = [f"{receipt['id']}: {said}, {SAID[said]}." if said else f"{receipt['id']}: no feedback any more."]
    if said and not receipt["candidates"]:
        lines.append(
            f"It had no candidates, so no setting of the gate would help; `foreword why {receipt['id']}` tells why."
        )
    call.answer({"receipt": receipt["id"], "feedback": said}, lines)
    return Exit.OK


def tune(call: Call) -> int:
    with call.open() as engine:
        found = engine.tune(last=call.args.last)
    written = _apply(call, found) if call.args.apply and found.proposal.changes else {}
    if call.screen.as_json:
        call.answer(_document(found, written))
        return Exit.OK
    _show(call, found)
    for line in _outcome(call, found, written):
        call.screen.write(line)
    return Exit.OK


def _apply(call: Call, found: Tuning) -> dict[str, Any]:
    """Writes the proposal to the user's file; where, and where the file is kept as it was."""
    from foreword.settings import PROJECT_FILE, config_file, load

    file, sources = config_file(), call.loaded.sources
    for name in found.proposal.changes:
        source = sources.get(f"gate.{name}", "")
        if source == "environment":
            raise BadSettings(
                f"gate.{name} is set by the environment, which counts before {file}; nothing was written.",
                hint=f"Unset FOREWORD_GATE_{name.upper()}, then tune again.",
            )
        if source == str(Path.cwd() / PROJECT_FILE):
            raise BadSettings(
                f"gate.{name} is set by {source}, which counts before {file}; nothing was written.",
                hint="Tune in another folder, or change the project's file.",
            )
    values = {f"gate.{name}": value for name, value in found.proposal.changes.items()}
    backup = settings_file.change(file, values, fresh=commented())
    now = load(project=Path.cwd()).settings.gate
    if now != found.proposal.proposed:
        shown = ", ".join(f"{name} {getattr(now, name)}" for name in _KEYS)
        call.screen.warn(f"In force is now {shown}; `foreword config` shows where each comes from.")
    return {"file": str(file), "backup": str(backup) if backup else None}


def _document(found: Tuning, written: Mapping[str, Any]) -> dict[str, Any]:
    proposal = found.proposal
    return {
        "turns": found.turns,
        "judged": {kind.value: asdict(one) for kind, one in proposal.judged.items()},
        "agreement": asdict(proposal.total),
        "out_of_reach": list(proposal.out_of_reach),
        "older_judged": found.older,
        "missing": proposal.missing,
        "unjudged": {"turns": proposal.unjudged, "changed": proposal.unjudged_changed},
        "present": {name: getattr(proposal.present, name) for name in _KEYS},
        "proposed": {name: getattr(proposal.proposed, name) for name in _KEYS},
        "changes": dict(proposal.changes),
        "reason": proposal.reason,
        "changed": [_turn(one) for one in found.changed],
        "to_judge": [_turn(one) for one in found.to_judge],
        "applied": bool(written),
        "file": written.get("file"),
        "backup": written.get("backup"),
    }


def _turn(one: Replayed) -> dict[str, Any]:
    return {
        "receipt": one.receipt,
        "ask": one.ask,
        "feedback": one.feedback,
        "before": list(one.before),
        "after": list(one.after),
        "reason": one.reason,
    }


def _show(call: Call, found: Tuning) -> None:
    proposal, screen = found.proposal, call.screen
    for line in _judged(found):
        screen.write(line)
    if proposal.total.turns:
        screen.write("")
        screen.table(
            ("feedback", "turns", "agree now", "would agree"),
            [
                (kind.value, f"{one.turns:,}", f"{one.present:,}", f"{one.proposed:,}" if proposal.changes else "-")
                for kind, one in proposal.judged.items()
                if one.turns
            ],
        )
    if proposal.changes:
        screen.write("")
        screen.table(
            ("setting", "now", "proposed"),
            [
                (f"gate.{name}", f"{getattr(proposal.present, name):.2f}", f"{getattr(proposal.proposed, name):.2f}")
                for name in _KEYS
            ],
        )
    if found.changed:
        screen.write("")
        screen.table(("turn", "feedback", "given now", "would be", "ask"), _rows(found.changed, screen.width))
        if len(found.changed) > _SHOWN:
            screen.write(f"… and {len(found.changed) - _SHOWN:,} more")
    if found.to_judge:
        screen.write("")
        screen.write("Turns to judge, the newest first:")
        screen.table(
            ("turn", "given", "ask"),
            [(one.receipt, _ids(one.before), cut(one.ask or "(not kept)", screen.width)) for one in found.to_judge],
        )
    screen.write("")


def _judged(found: Tuning) -> Iterator[str]:
    proposal = found.proposal
    judged = found.turns - proposal.unjudged
    are = "is" if judged == 1 else "are"
    yield f"{f'{judged:,}' if judged else 'None'} of {count(found.turns, 'turn')} {are} judged."
    if beyond := proposal.out_of_reach:
        shown = ", ".join(beyond[:5]) + (", …" if len(beyond) > 5 else "")
        yield f"No setting of the gate settles {count(len(beyond), 'judged turn')} ({shown}): `foreword why` tells why."
    if found.older:
        yield f"{count(found.older, 'judged turn')} further back; --last reaches more."


def _rows(changed: Sequence[Replayed], width: int) -> Iterator[Sequence[str]]:
    # What a person spoke of comes first.
    for one in sorted(changed, key=lambda one: not one.feedback)[:_SHOWN]:
        yield one.receipt, one.feedback or "-", _ids(one.before), _ids(one.after), cut(one.ask or "(not kept)", width)


def _ids(ids: Iterable[str]) -> str:
    return ", ".join(ids) or "nothing"


def _outcome(call: Call, found: Tuning, written: Mapping[str, Any]) -> Iterator[str]:
    proposal = found.proposal
    if not proposal.changes:
        yield f"Nothing is proposed: {proposal.reason}."
        if proposal.missing:
            yield f"Judge {proposal.missing:,} more: foreword feedback RECEIPT good|noise|missed"
        return
    total = proposal.total
    yield (
        f"{total.proposed:,} instead of {total.present:,} of {count(total.turns, 'judged turn')} would be answered as"
        f" you said, and {proposal.unjudged_changed:,} of {proposal.unjudged:,} that you did not judge would change."
    )
    if written:
        values = ", ".join(f"gate.{name} = {value}" for name, value in proposal.changes.items())
        yield f"Written to {written['file']}: {values}."
        if written["backup"]:
            yield f"As it was before: {written['backup']}"
    else:
        more = f" --last {call.args.last}" if call.args.last != _LAST else ""
        more += f" --home '{call.args.home}'" if call.args.home else ""
        yield f"Nothing was changed. To apply it: foreword tune --apply{more}"
