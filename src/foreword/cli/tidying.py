"""tidy, stats: the house kept in order, and what happens in it."""

from __future__ import annotations

from dataclasses import asdict

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, at_least
from foreword.cli.screen import Progress, count

_BAR = 24


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "tidy",
        tidy,
        summary="summarise sessions that rest, mark what is outdated, forget what is kept no longer",
        more="The daemon does it by itself when nobody asks. What is forgotten by age is said by the settings"
        " retention.*, and is nothing unless they are set.",
        example="foreword tidy --dry-run",
    )
    parser.add_argument("--all", action="store_true", help="also sessions that something came to a moment ago")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be forgotten by age, and do nothing")

    parser = verbs.add(
        "stats",
        stats,
        summary="what was kept, asked and given, day by day",
        example="foreword stats --days 7",
    )
    parser.add_argument("--days", type=at_least(1), default=14, metavar="N", help="how many days back; 14 by default")


def tidy(call: Call) -> int:
    args = call.args
    with call.open() as engine:
        old = engine.retirable()
        if args.dry_run:
            call.answer({"old": old}, [f"{count(len(old), 'memory', 'memories')} would be forgotten by age."])
            return Exit.OK
        told = weighed = 0
        before = engine.status()["outdated"]
        with Progress("sessions:") as progress:
            while many := engine.summarise(resting=not args.all):
                told += many
                progress.update(told)
        with Progress("memories looked at:") as progress:
            while many := engine.weigh():
                weighed += many
                progress.update(weighed)
        gone = engine.retire() if old else None
        outdated = engine.status()["outdated"] - before
    forgotten = gone.memories if gone else 0
    call.answer(
        {"sessions": told, "looked_at": weighed, "outdated": outdated, "forgotten": forgotten},
        [
            f"{count(told, 'session')} summarised, {count(outdated, 'memory', 'memories')} found outdated,"
            f" {count(forgotten, 'memory', 'memories')} forgotten by age."
        ],
    )
    return Exit.OK


def stats(call: Call) -> int:
    with call.open() as engine:
        days = engine.days(last=call.args.days)
        found = engine.status()
    turns = sum(day.turns for day in days)
    silent = sum(day.silent for day in days)
    data = {
        "days": [asdict(day) for day in days],
        "memories": found["memories"],
        "outdated": found["outdated"],
        "turns": turns,
        "silent": silent,
        "tokens_injected": sum(day.tokens_injected for day in days),
        "tokens_avoided": sum(day.tokens_avoided for day in days),
        "feedback": found["feedback"],
    }
    if call.screen.as_json or not days:
        call.answer(data, [f"Nothing was kept or asked in the last {count(call.args.days, 'day')}."])
        return Exit.OK
    most = max(day.memories for day in days) or 1
    call.screen.table(
        ("day", "kept", "turns", "silent", "tokens given", "spared", ""),
        [
            (
                day.day,
                f"{day.memories:,}",
                f"{day.turns:,}",
                f"{day.silent / day.turns:.0%}" if day.turns else "-",
                f"{day.tokens_injected:,}",
                f"{day.tokens_avoided:,}",
                "▇" * round(day.memories / most * _BAR),
            )
            for day in days
        ],
    )
    per_turn = (
        f"{data['tokens_injected'] / turns:,.0f} tokens a turn, {silent / turns:.0%} silent" if turns else "no turn"
    )
    outdated = f", {found['outdated']:,} of them outdated" if found["outdated"] else ""
    call.screen.write(f"\n{found['memories']:,} memories in all{outdated}; {per_turn}.")
    return Exit.OK
