"""`foreword bench [quality|gate]`: numbers on stdout, and the same as JSON and pictures in `bench/out/`. When both are
measured, the histories are filled once."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import gate, histories, quality
from foreword.errors import BadInput

OUT = Path(__file__).resolve().parent / "out"


def run(
    data: Path | None,
    which: Sequence[str] = ("quality", "gate"),
    *,
    out: Path = OUT,
    as_json: bool = False,
    compare: bool = True,
    limit: int = 0,
    jobs: int = 0,
) -> int:
    """Measures, prints, writes and draws. 1 when a brief exceeded its budget, else 0. Raises BadInput."""
    if data is None:
        raise BadInput("The data sets are missing.", hint="Give the folder that holds them as --data PATH.")
    started = time.monotonic()
    sets = histories.read(data, limit=limit)
    wanted = histories.Wanted(quality="quality" in which, gate="gate" in which, compare=compare)
    findings = histories.ask_all(sets, wanted, jobs=jobs)
    note = {"limit": limit} if limit else {}
    results: dict[str, dict[str, Any]] = {}
    measured = gate.score(findings) if wanted.gate else None
    if wanted.quality:
        results["quality"] = note | quality.score(findings)
    if measured:
        results["gate"] = note | measured.result
    if as_json:
        print(json.dumps(results if len(results) > 1 else results[which[0]], indent=2))
    else:
        _print(results, limit)
    took_s = time.monotonic() - started
    _keep(results, measured, out)
    print(f"took {took_s:.0f} s", file=sys.stderr)
    return int(bool(measured and measured.result["over_cap"]))


def _print(results: Mapping[str, Mapping[str, Any]], limit: int) -> None:
    if limit:
        print(f"A QUICK LOOK at no more than {limit} questions of a set and asks of a kind: not the real numbers.\n")
    written = {"quality": quality.lines, "gate": gate.lines}
    print("\n\n".join("\n".join(written[name](result)) for name, result in results.items()))


def _keep(results: Mapping[str, Mapping[str, Any]], measured: gate.Measured | None, out: Path) -> None:
    """Writes the JSON and the pictures. The numbers are told already: what cannot be written is a remark."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, result in results.items():
            (out / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n", "utf-8")
        try:
            from bench import pictures
        except ModuleNotFoundError as missing:
            if missing.name != "matplotlib":
                raise
            print("no pictures without matplotlib: pip install 'matplotlib>=3.8'", file=sys.stderr)
        else:
            pictures.draw(results, measured, out)
        print(f"written to {out}", file=sys.stderr)
    except OSError as error:
        print(
            f"{error.filename or out} cannot be written: {error.strerror}; --out names another folder", file=sys.stderr
        )
