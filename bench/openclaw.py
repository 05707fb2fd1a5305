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
_FACTS = [f"Parcel {number} was left with the neighbour in house {number + 40}." for number in range(200)]


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
    try:
        for one, plugin in zip(gateways, (False, True), strict=True):
            one.folder.mkdir()
            one.prepare(plugin=plugin)
            one.start()
        for fact in _FACTS:
            gateways[1].call("ingest", content=fact, session="agent:main:earlier", agent="main")
        for turn in range(_WARM_UP + turns):
            question = f"In which house was parcel {turn} left with the neighbour?"
            for which in (0, 1) if turn % 2 else (1, 0):
                reply = gateways[which].turn(question, "main")
                if which:
                    assert f"in house {turn + 40}" in reply.request.newest
                if turn >= _WARM_UP:
                    found["to the model"][which].append((reply.request.at - reply.began) * 1000)
                    found["whole turn"][which].append(reply.seconds * 1000)
    finally:
        for one in gateways:
            one.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
