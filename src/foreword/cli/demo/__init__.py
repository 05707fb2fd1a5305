"""demo: a small history, then turns through the real engine with its default settings."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call, Exit
from foreword.cli.demo.history import CODING, DIRECT, EVENTS, GROUP, NOW, OWNER, SECRET
from foreword.cli.demo.scenes import NEXT_SESSION, SCENES
from foreword.cli.demo.stage import Stage
from foreword.cli.parser import Verbs
from foreword.errors import BadInput
from foreword.serve import documents

if TYPE_CHECKING:
    from foreword.engine import Foreword

# Each turn is a minute after the one before, or the same ask twice would be a host's retry.
_TURN_S = 60.0
_NEXT = (
    "foreword init        make your own home and a settings file",
    "foreword doctor      see that everything is in place",
    "foreword --help      all verbs; docs/ has the rest",
)


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "demo",
        demo,
        summary="see what it does, in a temporary home",
        more="It checks itself: it leaves with 1 when a turn does not come out as it should.",
        example="foreword demo --keep /tmp/foreword-demo\nforeword --home /tmp/foreword-demo why r4",
    )
    parser.add_argument("--keep", metavar="DIR", help="use this new folder as home, and leave it there")


def demo(call: Call) -> int:
    if call.args.home is not None:
        raise BadInput("The demo leaves every home alone.", hint="--keep DIR keeps the one it makes.")
    from foreword.engine import Foreword
    from foreword.settings import from_values

    stage = Stage(call.screen)
    # Everything but the owner's id is a default: neither this user's file nor the environment has a say.
    settings = from_values({"owner.ids": [OWNER]})
    with _home(call.args.keep) as home, Foreword.open(home, settings=settings, clock=lambda: NOW) as engine:
        _record(engine, stage)
        turns = _take_turns(engine, stage)
        problems = [f"turn {one['turn']}: {one['problem']}" for one in turns if one["problem"]]
        problems += _look_for_the_secret(engine, home, stage)
        problems += _start(engine, stage)
        status = engine.status()
    milliseconds = sorted(one["ms"] for one in turns)[len(turns) // 2]
    _close(stage, status, milliseconds, problems, call.args.keep)
    call.answer({"turns": turns, "problems": problems, "status": status, "median_ms": milliseconds})
    return Exit.NO if problems else Exit.OK


@contextmanager
def _home(keep: str | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="foreword-demo-") as folder:
            yield Path(folder)
        return
    home = Path(keep).expanduser()
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise BadInput(f"{home} exists and is not an empty folder.", hint="Choose a new one for --keep.")
    yield home


def _record(engine: Foreword, stage: Stage) -> None:
    stage.heading("Recording nine days")
    started = time.perf_counter()
    results = list(engine.record_all(EVENTS))
    took_ms = (time.perf_counter() - started) * 1000
    redacted = sum(bool(one.redactions) for one in results)
    stage.say(f"{DIRECT:<34} Nora and her agent, in private", "dim")
    stage.say(f"{GROUP:<34} the same agent in the regatta crew's group", "dim")
    stage.say(f"{CODING:<34} a second agent, which writes code", "dim")
    stage.say(f"{len(results)} events kept in {took_ms:.0f} ms, {redacted} of them with a secret taken out.")


def _take_turns(engine: Foreword, stage: Stage) -> list[dict[str, Any]]:
    turns = []
    kept = engine.status()["memories"]
    for number, scene in enumerate(SCENES, 1):
        started = time.perf_counter()
        brief = engine.brief(replace(scene.ask, at=NOW + number * _TURN_S))
        took_ms = (time.perf_counter() - started) * 1000
        receipt = engine.receipt(brief.receipt)
        problem = scene.problem(brief)
        stage.turn(number, scene, brief, receipt, engine.get([one["id"] for one in receipt["candidates"]]), kept)
        stage.verdict(problem, scene.shows)
        turns.append(
            {
                "turn": number,
                "title": scene.title,
                "session": scene.ask.session,
                "ask": scene.ask.text,
                **documents.brief(brief),
                "ms": round(took_ms, 3),
                "problem": problem,
            }
        )
    return turns


def _look_for_the_secret(engine: Foreword, home: Path, stage: Stage) -> list[str]:
    """Whether the secret is anywhere: in a search, or in any byte of any file of the home."""
    stage.heading("Looking for the secret")
    kept = next(event for event in EVENTS if SECRET in event.text)
    found = engine.search(kept.text, limit=1)[0].memory
    stage.say(f"said     {kept.text}")
    stage.say(f"stored   {found.text}")
    files = [path for path in home.rglob("*") if path.is_file()]
    holding = [path.name for path in files if SECRET.encode() in path.read_bytes()]
    size_kb = sum(path.stat().st_size for path in files) / 1000
    problem = ""
    if holding or SECRET in found.text:
        problem = f"The secret is in {', '.join(holding) or found.id}."
    names = ", ".join(sorted(path.name for path in files))
    stage.verdict(problem, f"Not in any of the {size_kb:,.0f} kB of {names}.")
    return [problem] if problem else []


def _start(engine: Foreword, stage: Stage) -> list[str]:
    stage.heading("The next session of the coding agent starts")
    brief = engine.start(NEXT_SESSION)
    stage.box(f"given to the model once · {brief.tokens} tokens", brief.text or "nothing", "green")
    again = engine.start(NEXT_SESSION)
    problem = ""
    if not brief or brief.text != again.text:
        problem = "The part at session start is empty, or changed within the session."
    stage.verdict(problem, "What there is and what it costs, not all of it; the same bytes all session long.")
    return [problem] if problem else []


def _close(stage: Stage, status: dict[str, Any], milliseconds: float, problems: list[str], keep: str | None) -> None:
    stage.heading("In short")
    stage.say(
        f"{status['turns']} turns, {status['silent_turns']} of them silent; {status['tokens_injected']} tokens given,"
        f" {status['tokens_avoided']} spared; {milliseconds:.1f} ms a turn; no network, no key."
    )
    for problem in problems:
        stage.say(f"✗ {problem}", "red", "bold")
    stage.heading("Next")
    if keep:
        stage.say(f"foreword --home {keep} why r4   question any of these turns")
    for line in _NEXT:
        stage.say(line)
