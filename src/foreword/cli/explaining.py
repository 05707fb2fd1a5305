"""why, replay: decisions that were taken, questioned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, add_place, at_least, share
from foreword.cli.screen import Screen, count, cut, printable
from foreword.errors import BadInput

if TYPE_CHECKING:
    from foreword.receipts import Replayed
    from foreword.settings import Settings


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "why",
        why,
        summary="why a turn was answered as it was, silent ones too",
        more="Without a receipt, the last turn.",
        example="foreword why r12",
    )
    parser.add_argument("receipt", nargs="?", default="", metavar="RECEIPT", help="an id such as r12")
    add_place(parser, "session")

    parser = verbs.add(
        "replay",
        replay,
        summary="what another gate would have done to the last turns",
        more="Nothing is changed. Without a profile or a number the present settings judge again.",
        example="foreword replay --last 100 --confident 0.6",
    )
    parser.add_argument("--last", type=at_least(1), default=20, metavar="N", help="how many turns; 20 by default")
    parser.add_argument("--profile", metavar="NAME", help="judge as this profile would")
    parser.add_argument("--confident", type=share, metavar="X", help="gate.confident, from 0 to 1")
    parser.add_argument("--floor", type=share, metavar="X", help="gate.floor, from 0 to 1")
    parser.add_argument("--companion", type=share, metavar="X", help="gate.companion, from 0 to 1")


def why(call: Call) -> int:
    args = call.args
    with call.open() as engine:
        receipt = engine.receipt(args.receipt, session=args.session)
        text = engine.why(receipt["id"])
    call.answer({"receipt": receipt}, [printable(text)])
    return Exit.OK


def replay(call: Call) -> int:
    other = _other(call)
    policy = other.gate
    with call.open() as engine:
        turns = engine.replay(last=call.args.last, settings=other)
    changed = [one for one in turns if one.changed]
    before, after = (sum(len(getattr(one, side)) for one in turns) for side in ("before", "after"))
    data = {
        "gate": {"confident": policy.confident, "floor": policy.floor, "companion": policy.companion},
        "turns": [
            {
                "receipt": one.receipt,
                "ask": one.ask,
                "before": list(one.before),
                "after": list(one.after),
                "changed": one.changed,
                "reason": one.reason,
            }
            for one in turns
        ],
        "totals": {
            "turns": len(turns),
            "changed": len(changed),
            "memories_before": before,
            "memories_after": after,
            "silent_before": sum(not one.before for one in turns),
            "silent_after": sum(not one.after for one in turns),
        },
    }
    if changed and not call.screen.as_json:
        call.screen.table(("turn", "given", "would be", "ask"), _rows(changed, call.screen))
        call.screen.write("")
    totals = (
        f"{count(len(turns), 'turn')} with candidates, confident {policy.confident:.2f}, floor {policy.floor:.2f}:"
        f" {len(changed):,} would change; {count(before, 'memory', 'memories')} given, {after:,} would be."
    )
    call.answer(data, [totals])
    return Exit.OK


def _other(call: Call) -> Settings:
    from foreword.settings import from_values

    profile = call.args.profile
    present = from_values({"profile": profile}) if profile else call.loaded.settings
    names = ("confident", "floor", "companion")
    given = {name: value for name in names if (value := getattr(call.args, name)) is not None}
    policy = replace(present.gate, **given)
    if policy.floor > policy.confident:
        raise BadInput(
            f"The floor ({policy.floor:.2f}) would be above confident ({policy.confident:.2f}).",
            hint="Give both --confident and --floor.",
        )
    return replace(present, gate=policy)


def _rows(changed: Sequence[Replayed], screen: Screen) -> Iterator[Sequence[str]]:
    for one in changed:
        given, would_be = (", ".join(side) or "nothing" for side in (one.before, one.after))
        yield one.receipt, given, would_be, cut(one.ask or "(not kept)", screen.width)
