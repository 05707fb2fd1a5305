"""What a host pays for its hook, beside a bare interpreter started in the same run:
`python -m bench.hook [--json] [--runs 200] [--memories 10000]`.

A hook is the whole process: started, asked, answered, ended. Every ask is a new one, in sessions of twenty turns, with
the daemon warm; cold is the same with no daemon. `processes_left` counts what is still there after `down`, after an
idle time, and after two hundred starts and kills.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a file: `python bench/hook.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    from bench.corpus import Corpus
    from bench.timing import percentile, say
    from foreword import Foreword, Settings
    from foreword.serve.address import address
    from foreword.serve.client import Client
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: run `make setup` first, then `.venv/bin/python bench/hook.py`")

FOREWORD = str(Path(sys.executable).with_name("foreword"))
# The interpreter that runs the hook, and not what a name on the path may lead to.
BARE = [os.path.realpath(sys.executable), "-I", "-S", "-E", "-c", "pass"]
# Whose memories the home holds: what another agent said is not even read.
_HOST = "claude-code"
_KILLS = 200
_COLD_RUNS = 7
_TURNS_A_SESSION = 20


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="hooks timed, each beside a bare interpreter")
    parser.add_argument("--memories", type=int, default=10_000, help="how many the home holds")
    parser.add_argument("--kills", type=int, default=_KILLS, help="starts and kills before processes are counted")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    result = measure(options.runs, options.memories, options.kills)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    ratio = result["hook_p50_ms"] / result["bare_interpreter_p50_ms"]
    print(f"hook, warm daemon, whole process  p50 {result['hook_p50_ms']:7.2f} ms  p95 {result['hook_p95_ms']:7.2f} ms")
    print(f"bare interpreter, same run        p50 {result['bare_interpreter_p50_ms']:7.2f} ms")
    print(f"                                      {ratio:7.2f} ×")
    print(f"a hook that asks nothing          p50 {result['hook_nothing_p50_ms']:7.2f} ms")
    worst = result["cold_brief_worst_ms"]
    print(
        f"cold, no daemon, {options.memories:,} memories  p50 {result['cold_brief_ms']:7.2f} ms  worst {worst:7.2f} ms"
    )
    print(f"processes left                    {result['processes_left']}")
    return 0


class Home:
    """A home with its daemon, and hooks as a host starts them."""

    def __init__(self, folder: Path, memories: int) -> None:
        self.folder = folder
        self.environ = {**os.environ, "FOREWORD_HOME": str(folder)}
        self.client = Client(address(self.environ), self.environ)
        self.corpus = Corpus()
        say(f"recording {memories:,} memories")
        with Foreword.open(folder, settings=Settings()) as foreword:
            for _ in foreword.record_all(self.corpus.events(memories, agent=_HOST)):
                pass
        self._turn = 0

    def hook(self, event: str = "UserPromptSubmit") -> tuple[float, bytes]:
        """Milliseconds from before the process to after it, and what it printed."""
        self._turn += 1
        prompt = self.corpus.asks(1)[0]
        session = f"s{self._turn // _TURNS_A_SESSION}"
        document = {"session_id": session, "prompt": prompt, "cwd": "/", "hook_event_name": event}
        return timed([FOREWORD, "hook", _HOST, event], json.dumps(document).encode(), self.environ)

    def processes(self) -> int:
        mark = f"FOREWORD_HOME={self.folder}".encode()
        found = 0
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                try:
                    found += mark in (folder / "environ").read_bytes().split(b"\0")
                except OSError:
                    continue
        return found


def timed(command: Sequence[str], said: bytes, environ: dict[str, str]) -> tuple[float, bytes]:
    start = time.perf_counter()
    done = subprocess.run(command, input=said, capture_output=True, env=environ, check=True)
    return (time.perf_counter() - start) * 1000, done.stdout


def measure(runs: int, memories: int, kills: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="foreword-hook-") as folder:
        home = Home(Path(folder) / "home", memories)
        cold = [_cold(home) for _ in range(min(_COLD_RUNS, runs))]
        home.hook()
        time.sleep(0.5)
        hooks: list[float] = []
        bare: list[float] = []
        nothing: list[float] = []
        # In turns, so that a busy moment of the machine falls on all of them.
        for number in range(runs):
            say(f"hook {number + 1} of {runs}")
            hooks.append(home.hook()[0])
            bare.append(timed(BARE, b"", home.environ)[0])
            nothing.append(home.hook("SessionEnd")[0])
        failures = home.client.address.failures
        result = {
            "hook_p50_ms": percentile(hooks, 50),
            "hook_p95_ms": percentile(hooks, 95),
            "bare_interpreter_p50_ms": percentile(bare, 50),
            "hook_nothing_p50_ms": percentile(nothing, 50),
            "cold_brief_ms": percentile(cold, 50),
            "cold_brief_worst_ms": max(cold),
            "processes_left": _left(home, kills),
            "failures": len(failures.read_text().splitlines()) if failures.exists() else 0,
            "memories": memories,
        }
    say("")
    return result


def _cold(home: Home) -> float:
    """From no daemon to the brief. The hook waits as long as it takes: how long that is, is what is measured."""
    home.client.stop()
    _wait(lambda: home.processes() == 0)
    home.environ["FOREWORD_SERVE_COLD_DEADLINE_MS"] = "20000"
    took, _ = home.hook()
    del home.environ["FOREWORD_SERVE_COLD_DEADLINE_MS"]
    return round(took, 2)


def _left(home: Home, kills: int) -> int:
    """The most that were left after any of the three ways to end."""
    home.client.start()
    home.client.stop()
    left = [_still(home)]
    idle = {**home.environ, "FOREWORD_SERVE_IDLE_MINUTES": "0.005"}
    Client(home.client.address, idle).call("status", {})
    left.append(_still(home))
    for number in range(kills):
        say(f"start and kill {number + 1} of {kills}")
        home.client.start()
        holder = home.client.holder()
        if holder:
            os.kill(holder, signal.SIGKILL)
    left.append(_still(home))
    return max(left)


def _still(home: Home) -> int:
    try:
        _wait(lambda: home.processes() == 0)
    except SystemExit:
        pass
    return home.processes()


def _wait(holds: Callable[[], bool], within_s: float = 10.0) -> None:
    until = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > until:
            raise SystemExit("it did not come about in time")
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())
