"""bench: the numbers of the documentation, measured here. Its code lives in the source tree, not in the package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import foreword
from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, at_least
from foreword.errors import BadInput

_MORE = """\
Three things can be measured:

  quality  how much of the evidence recall finds
  gate     whether it speaks when it should and is silent when it should
  speed    how long a brief takes; it needs no data

Without a name, quality and gate. The folder of --data holds one or several public data sets:
longmemeval (questions.jsonl, sessions.jsonl.gz), locomo (conversations.json), silence (asks.jsonl);
each may end in -dev. JSON and pictures are written to bench/out beside the source. With --json the
document is the benchmark's own, without the envelope of the other verbs."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "bench",
        bench,
        summary="measure recall, the gate or speed, beside plain ways to search",
        more=_MORE,
        example="foreword bench quality --data ~/sets\nforeword bench gate --data ~/sets --limit 30",
    )
    parser.add_argument("which", nargs="?", choices=("quality", "gate", "speed"), help="what to measure")
    parser.add_argument("--data", metavar="DIR", help="the folder that holds the data sets")
    parser.add_argument("--out", metavar="DIR", help="where JSON and pictures go; bench/out without it")
    parser.add_argument(
        "--limit", type=at_least(1), default=0, metavar="N", help="a quick look at N questions of each set"
    )
    parser.add_argument(
        "--jobs", type=at_least(1), default=0, metavar="N", help="processes; one for each core without it"
    )
    parser.add_argument("--no-compare", action="store_true", help="leave the plain ways to search out")


def bench(call: Call) -> int:
    args = call.args
    if args.home is not None:
        raise BadInput("A benchmark leaves every home alone.", hint="Leave --home out; --data names the data sets.")
    _find()
    if args.which == "speed":
        return int(importlib.import_module("bench.speed").main(["--json"] if call.screen.as_json else []))
    benchmarks = importlib.import_module("bench.run")
    exceeded = benchmarks.run(
        Path(args.data) if args.data else None,
        (args.which,) if args.which else ("quality", "gate"),
        out=Path(args.out).expanduser() if args.out else benchmarks.OUT,
        as_json=call.screen.as_json,
        compare=not args.no_compare,
        limit=args.limit,
        jobs=args.jobs,
    )
    return Exit.NO if exceeded else Exit.OK


def _find() -> None:
    """Makes the benchmarks of this source tree importable. Raises BadInput where there is no such tree."""
    root = Path(foreword.__file__).resolve().parents[2]
    if not (root / "bench" / "quality.py").is_file():
        raise BadInput(
            "The benchmarks are not part of the installed package.",
            hint="Clone Foreword's source, run `make setup` in it, then `.venv/bin/foreword bench`.",
        )
    # First, because anybody's folder may be called bench.
    if sys.path[0] != str(root):
        sys.path.insert(0, str(root))
