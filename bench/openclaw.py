"""What Foreword adds to a warm turn of a real OpenClaw gateway: `python -m bench.openclaw`, after `make hosts`.

Two gateways, one with the plugin and one without, are asked the same in turns, so that whatever else the machine does
falls on both; which is asked first changes from turn to turn. "to the model" is from the question to the model's
request: what a person waits for. What is added is the median of the differences of each pair, with the interval that
holds it in 95 of 100 such runs (by order statistics: nothing is assumed about how the times are spread). To know what
the measure itself is worth, `--twins` measures two gateways without the plugin.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.hosts.openclaw.gateway import ADAPTERS, Gateway, hosts_folder

from bench.timing import compared

_WARM_UP = 5
_THINGS = (
    "anchor barometer compass dinghy easel fiddle gramophone hammock inkwell jigsaw kettle lantern microscope needle"
    " oar piano quilt radio saddle telescope umbrella violin wheelbarrow xylophone yarn zither accordion bicycle camera"
).split()
_PEOPLE = "Ahlers Brandt Claasen Dierks Ehlers".split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=100, help="turns of each (100)")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    parser.add_argument("--twins", action="store_true", help="two gateways without the plugin, to know the noise")
    options = parser.parse_args()
    subprocess.run(["npm", "run", "--silent", "build"], cwd=ADAPTERS, check=True)
    with tempfile.TemporaryDirectory(prefix="foreword-openclaw-") as folder:
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
    gateways = [Gateway(folder / name, hosts_folder()) for name in ("without", "with")]
    times: dict[str, tuple[list[float], list[float]]] = {"to the model": ([], []), "whole turn": ([], [])}
    given = 0
    try:
        for one, plugin in zip(gateways, (False, not twins), strict=True):
            one.folder.mkdir()
            one.prepare(plugin=plugin)
            one.start()
        if not twins:
            for number, thing in enumerate(_THINGS):
                fact = f"The {thing} was lent to Mrs {_PEOPLE[number % len(_PEOPLE)]} last summer."
                gateways[1].call("ingest", content=fact, session="agent:main:earlier", agent="main")
        for turn in range(_WARM_UP + turns):
            # A new session now and then, so that history does not grow without end and memories are given again.
            question = f"To whom was the {_THINGS[turn % len(_THINGS)]} lent last summer?"
            for which in (0, 1) if turn % 2 else (1, 0):
                reply = gateways[which].turn(question, f"round-{turn // len(_THINGS)}")
                if which:
                    given += "was lent to Mrs" in reply.request.newest
                if turn >= _WARM_UP:
                    times["to the model"][which].append((reply.request.at - reply.began) * 1000)
                    times["whole turn"][which].append(reply.seconds * 1000)
    finally:
        for one in gateways:
            one.close()
    return {
        "given": given,
        "asked": _WARM_UP + turns,
        "pairs": turns,
        "times": {name: compared(*pair) for name, pair in times.items()},
    }


if __name__ == "__main__":
    sys.exit(main())
