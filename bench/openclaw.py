"""What Foreword adds to a warm turn of a real OpenClaw gateway: `python -m bench.openclaw`, after `make hosts`.

Two gateways, one with the plugin and one without, are asked in turns, so that whatever else the machine does falls on
both. "to the model" is from the question to the model's request; it is what a person waits for.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hosts.openclaw.gateway import ADAPTERS, Gateway, hosts_folder

_WARM_UP = 3
_THINGS = (
    "anchor barometer compass dinghy easel fiddle gramophone hammock inkwell jigsaw kettle lantern microscope needle"
    " oar piano quilt radio saddle telescope umbrella violin wheelbarrow xylophone yarn zither accordion bicycle camera"
).split()
_PEOPLE = "Ahlers Brandt Claasen Dierks Ehlers".split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20, help="turns of each (20)")
    turns = parser.parse_args().turns
    subprocess.run(["npm", "run", "--silent", "build"], cwd=ADAPTERS, check=True)
    with tempfile.TemporaryDirectory(prefix="foreword-openclaw-") as folder:
        found = _measured(Path(folder), turns)
    for name, (without, with_it) in found.items():
        plain, ours = statistics.median(without), statistics.median(with_it)
        added = statistics.median(b - a for a, b in zip(without, with_it, strict=True))
        print(f"{name:14} without {plain:6.0f} ms   with {ours:6.0f} ms   added {added:+5.0f} ms (median of {turns})")
    return 0


def _measured(folder: Path, turns: int) -> dict[str, tuple[list[float], list[float]]]:
    gateways = [Gateway(folder / name, hosts_folder()) for name in ("without", "with")]
    found: dict[str, tuple[list[float], list[float]]] = {"to the model": ([], []), "whole turn": ([], [])}
    given = 0
    try:
        for one, plugin in zip(gateways, (False, True), strict=True):
            one.folder.mkdir()
            one.prepare(plugin=plugin)
            one.start()
        for number, thing in enumerate(_THINGS):
            fact = f"The {thing} was lent to Mrs {_PEOPLE[number % len(_PEOPLE)]} last summer."
            gateways[1].call("ingest", content=fact, session="agent:main:earlier", agent="main")
        for turn in range(_WARM_UP + turns):
            question = f"To whom was the {_THINGS[turn % len(_THINGS)]} lent last summer?"
            for which in (0, 1) if turn % 2 else (1, 0):
                reply = gateways[which].turn(question, f"round-{turn // len(_THINGS)}")
                if which:
                    given += "was lent to Mrs" in reply.request.newest
                if turn >= _WARM_UP:
                    found["to the model"][which].append((reply.request.at - reply.began) * 1000)
                    found["whole turn"][which].append(reply.seconds * 1000)
    finally:
        for one in gateways:
            one.close()
    print(f"a memory was given with {given} of {_WARM_UP + turns} messages")
    return found


if __name__ == "__main__":
    sys.exit(main())
