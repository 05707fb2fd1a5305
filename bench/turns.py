"""What Foreword adds to a warm turn of a real host: `python -m bench.turns [HOST…]`, after `make hosts`.

Two of the same host, one with Foreword and one without, are asked the same in turns, so that whatever else the machine
does falls on both; which is asked first changes from turn to turn. "to the model" is from the question to the model's
request: what a person waits for. What is added is the median of the differences of each pair, with the interval that
holds it in 95 of 100 such runs (by order statistics: nothing is assumed about how the times are spread). To know what
the measure itself is worth, `--twins` measures two hosts without Foreword.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.hosts.claude_code.claude import Claude
from tests.hosts.codex.cli import Codex
from tests.hosts.gemini.cli import Gemini
from tests.hosts.openclaw.gateway import ADAPTERS, Gateway
from tests.hosts.opencode.opencode import OpenCode
from tests.hosts.program import Program, Say, hosts_folder

from bench.timing import compared, say

_WARM_UP = 8
_THINGS = (
    "anchor barometer compass dinghy easel fiddle gramophone hammock inkwell jigsaw kettle lantern microscope needle"
    " oar piano quilt radio saddle telescope umbrella violin wheelbarrow xylophone yarn zither accordion bicycle camera"
).split()
_PEOPLE = "Ahlers Brandt Claasen Dierks Ehlers".split()
_FACTS = [f"The {thing} was lent to Mrs {_PEOPLE[number % 5]} last summer." for number, thing in enumerate(_THINGS)]
_GIVEN = "was lent to Mrs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"of {', '.join(_HOSTS)}; all of them without")
    parser.add_argument("--turns", type=int, default=100, help="turns of each (100)")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    parser.add_argument("--twins", action="store_true", help="two hosts without Foreword, to know the noise")
    options = parser.parse_args()
    if unknown := [name for name in options.hosts if name not in _HOSTS]:
        parser.error(f"{', '.join(unknown)}: the hosts are {', '.join(_HOSTS)}")
    subprocess.run(["npm", "run", "--silent", "build"], cwd=ADAPTERS, check=True)
    found: dict[str, Any] = {}
    for name in options.hosts or _HOSTS:
        with tempfile.TemporaryDirectory(prefix="foreword-turns-", ignore_cleanup_errors=True) as folder:
            found[name] = _measured(name, Path(folder), options.turns, twins=options.twins)
        if not options.json:
            _print(name, found[name])
    if options.json:
        print(json.dumps(found, indent=2))
    return 0


def _print(name: str, found: Mapping[str, Any]) -> None:
    print(f"{name}: a memory was given with {found['given']} of {found['asked']} messages")
    for what, one in found["times"].items():
        print(
            f"  {what:14} without {one['without_ms']:6.1f} ms   with {one['with_ms']:6.1f} ms"
            f"  added {one['added_ms']:+.1f} ms ({one['low_ms']:+.1f} to {one['high_ms']:+.1f}, {found['pairs']} pairs)"
        )


def _measured(name: str, folder: Path, turns: int, *, twins: bool) -> dict[str, Any]:
    times: dict[str, tuple[list[float], list[float]]] = {"to the model": ([], []), "whole turn": ([], [])}
    given = 0
    with ExitStack() as stack:
        talks = [
            stack.enter_context(_HOSTS[name](folder / one, foreword=one == "with" and not twins))
            for one in ("without", "with")
        ]
        conversations: list[ExitStack] = []
        says: list[Say] = []
        for turn in range(_WARM_UP + turns):
            # A new session now and then, so that history does not grow without end and memories are given again.
            if turn % len(_THINGS) == 0:
                for one in conversations:
                    one.close()
                conversations = [stack.enter_context(ExitStack()) for _ in talks]
                says = [one.enter_context(talk()) for one, talk in zip(conversations, talks, strict=True)]
            question = f"To whom was the {_THINGS[turn % len(_THINGS)]} lent last summer?"
            for which in (0, 1) if turn % 2 else (1, 0):
                reply = says[which](question)
                if which:
                    given += _GIVEN in reply.request.whole
                # A program that was just started has more to do.
                if turn >= _WARM_UP and turn % len(_THINGS):
                    times["to the model"][which].append((reply.request.at - reply.began) * 1000)
                    times["whole turn"][which].append(reply.seconds * 1000)
            say(f"{name}: turn {turn + 1} of {_WARM_UP + turns}")
        say("")
    return {
        "given": given,
        "asked": _WARM_UP + turns,
        "pairs": len(times["to the model"][0]),
        "times": {what: compared(*pair) for what, pair in times.items()},
    }


# Starts a session of a host that is ready, and gives what one says in it.
Talk = Callable[[], Any]


def _program(kind: type[Program]) -> Callable[..., Any]:
    @contextmanager
    def ready(folder: Path, *, foreword: bool) -> Iterator[Talk]:
        one = kind(folder, hosts_folder())
        try:
            if foreword:
                # With the settings that a user has: the tests' patience would hide nothing, but it is not what is
                # measured.
                (one.folder / "foreword.toml").write_text("")
                one.foreword(one.name, "install", "--yes")
                for fact in _FACTS:
                    one.remember(fact)
            yield one.talk
        finally:
            one.close()

    return ready


@contextmanager
def _openclaw(folder: Path, *, foreword: bool) -> Iterator[Talk]:
    folder.mkdir()
    one = Gateway(folder, hosts_folder())
    sessions = iter(range(1_000_000))

    @contextmanager
    def talk() -> Iterator[Callable[[str], Any]]:
        session = f"round-{next(sessions)}"
        yield lambda prompt: one.turn(prompt, session)

    try:
        one.prepare(plugin=foreword)
        one.start()
        if foreword:
            for fact in _FACTS:
                one.call("ingest", content=fact, session="agent:main:earlier", agent="main")
        yield talk
    finally:
        one.close()


_HOSTS: Mapping[str, Callable[..., Any]] = {
    "openclaw": _openclaw,
    "opencode": _program(OpenCode),
    "claude-code": _program(Claude),
    "codex": _program(Codex),
    "gemini": _program(Gemini),
}


if __name__ == "__main__":
    sys.exit(main())
