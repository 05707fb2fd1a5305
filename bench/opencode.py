"""What Foreword adds to a warm turn of a real OpenCode server: `python -m bench.opencode`, after `make hosts`.

Two servers, one with the plugin and one without, are asked the same in turns, so that whatever else the machine does
falls on both; which is asked first changes from turn to turn. "to the model" is from the question to the model's
request: what a person waits for. `--twins` measures two servers without the plugin, to know what the measure is worth.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.hosts.opencode.opencode import OpenCode
from tests.hosts.program import hosts_folder

from bench.timing import compared, say

_WARM_UP = 8
_THINGS = (
    "anchor barometer compass dinghy easel fiddle gramophone hammock inkwell jigsaw kettle lantern microscope needle"
    " oar piano quilt radio saddle telescope umbrella violin wheelbarrow xylophone yarn zither accordion bicycle camera"
).split()
_PEOPLE = "Ahlers Brandt Claasen Dierks Ehlers".split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=100, help="turns of each (100)")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    parser.add_argument("--twins", action="store_true", help="two servers without the plugin, to know the noise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foreword-opencode-") as folder:
        found = _measured(Path(folder), options.turns, twins=options.twins)
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    print(f"a memory was given with {found['given']} of {found['asked']} messages")
    for name, one in found["times"].items():
        print(
            f"{name:14} without {one['without_ms']:6.1f} ms   with {one['with_ms']:6.1f} ms"
            f"  added {one['added_ms']:+.1f} ms ({one['low_ms']:+.1f} to {one['high_ms']:+.1f}, {found['pairs']} pairs)"
        )
    return 0


def _measured(folder: Path, turns: int, *, twins: bool) -> dict[str, Any]:
    servers = [OpenCode(folder / name, hosts_folder()) for name in ("without", "with")]
    times: dict[str, tuple[list[float], list[float]]] = {"to the model": ([], []), "whole turn": ([], [])}
    sessions = ["", ""]
    given = 0
    try:
        if not twins:
            # With the settings that a user has: the tests' patience would hide nothing, but it is not what is measured.
            (servers[1].folder / "foreword.toml").write_text("")
            servers[1].foreword("opencode", "install", "--yes")
            for number, thing in enumerate(_THINGS):
                servers[1].remember(f"The {thing} was lent to Mrs {_PEOPLE[number % len(_PEOPLE)]} last summer.")
        for one in servers:
            one.start()
        for turn in range(_WARM_UP + turns):
            question = f"To whom was the {_THINGS[turn % len(_THINGS)]} lent last summer?"
            # A new session now and then, so that history does not grow without end and memories are given again.
            if turn % len(_THINGS) == 0:
                sessions = [one.new_session() for one in servers]
            for which in (0, 1) if turn % 2 else (1, 0):
                began = time.monotonic()
                reply = servers[which].turn(question, session=sessions[which])
                if which:
                    given += "was lent to Mrs" in reply.request.newest
                if turn >= _WARM_UP:
                    times["to the model"][which].append((reply.request.at - began) * 1000)
                    times["whole turn"][which].append(reply.seconds * 1000)
            say(f"turn {turn + 1} of {_WARM_UP + turns}")
        say("")
    finally:
        for one in servers:
            one.close()
    return {
        "given": given,
        "asked": _WARM_UP + turns,
        "pairs": turns,
        "times": {name: compared(*pair) for name, pair in times.items()},
    }


if __name__ == "__main__":
    sys.exit(main())
