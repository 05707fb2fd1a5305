"""How long a whole `brief()` takes, beside a plain float32 scan of 384-d vectors and a raw FTS5 query over the same
memories, all in one run: `python -m bench.speed [--json] [--sizes 1000,10000,100000]`."""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a file: `python bench/speed.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import numpy as np

    from bench.corpus import Corpus
    from bench.timing import percentile, say
    from foreword import Ask, Event, Foreword, Settings
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: run `make setup` first, then `.venv/bin/python bench/speed.py`")

SCAN_DIMS = 384
COLD_SIZE = 10_000
_COLD = """
import sys
from foreword import Ask, Foreword, Settings
with Foreword.open(sys.argv[1], settings=Settings()) as foreword:
    foreword.brief(Ask(sys.argv[2], session="agent:main:cold"))
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of memories, ascending")
    parser.add_argument("--asks", type=int, default=200, help="turns timed at each size")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    sizes = [int(size) for size in options.sizes.split(",")]
    result = measure(sizes, options.asks)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{'memories':>9}  {'brief p50':>10} {'p95':>8}  {'float32 scan':>12}  {'FTS5 OR':>9}  brief / scan")
    for size, row in result["sizes"].items():
        ratio = row["brief_p50_ms"] / row["float32_scan_p50_ms"]
        print(
            f"{int(size):>9,}  {row['brief_p50_ms']:>7.2f} ms {row['brief_p95_ms']:>5.2f} ms"
            f"  {row['float32_scan_p50_ms']:>9.2f} ms  {row['fts5_p50_ms']:>6.2f} ms  {ratio:>6.2f} ×"
        )
    if result["cold_start_s"] is not None:
        print(f"cold start, whole process to the first brief at {COLD_SIZE:,} memories: {result['cold_start_s']:.2f} s")
    return 0


def measure(sizes: Sequence[int], asks: int) -> dict[str, Any]:
    corpus = Corpus()
    events = corpus.events(max(sizes))
    result: dict[str, Any] = {"sizes": {}, "cold_start_s": None}
    with tempfile.TemporaryDirectory() as folder:
        home, plain = Path(folder) / "home", sqlite3.connect(Path(folder) / "fts5.db")
        plain.execute("CREATE VIRTUAL TABLE memory USING fts5(text, tokenize = 'porter unicode61')")
        kept = 0
        with Foreword.open(home, settings=Settings()) as foreword:
            for size in sizes:
                say(f"recording up to {size:,} memories")
                with plain:
                    for _ in foreword.record_all(_also(plain, islice(events, size - kept))):
                        kept += 1
                say(f"timing {asks} turns at {size:,}")
                result["sizes"][str(size)] = _at(size, foreword, plain, corpus.asks(asks))
                if size == COLD_SIZE:
                    result["cold_start_s"] = _cold(home, corpus.asks(1)[0])
        plain.close()
    return result


def _also(plain: sqlite3.Connection, events: Iterable[Event]) -> Iterator[Event]:
    """The same texts into the plain table, one by one: a list of them all would burden the timing that follows."""
    for event in events:
        plain.execute("INSERT INTO memory VALUES (?)", (event.text,))
        yield event


def _at(size: int, foreword: Foreword, plain: sqlite3.Connection, asks: Sequence[str]) -> dict[str, float]:
    vectors = np.random.default_rng(0).standard_normal((size, SCAN_DIMS), dtype=np.float32)
    query = np.random.default_rng(1).standard_normal(SCAN_DIMS, dtype=np.float32)
    turn = iter(range(len(asks)))

    def brief() -> None:
        number = next(turn)
        foreword.brief(Ask(asks[number], session=f"agent:main:ask{size}-{number}"))

    def scan() -> None:
        scores = vectors @ query
        np.argpartition(-scores, 10)[:10]

    words = iter(asks)

    def fts5() -> None:
        match = " OR ".join(f'"{word}"' for word in next(words).rstrip("?").split())
        plain.execute("SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT 10", (match,)).fetchall()

    foreword.brief(Ask("warm up the index, please", session="agent:main:warm"))
    # In turns, so that a busy moment of the machine falls on both.
    briefs: list[float] = []
    scans: list[float] = []
    while len(briefs) < len(asks):
        briefs += _times(brief, min(20, len(asks) - len(briefs)))
        scans += _times(scan, 5)
    return {
        "brief_p50_ms": _ms(briefs, 50),
        "brief_p95_ms": _ms(briefs, 95),
        "float32_scan_p50_ms": _ms(scans, 50),
        "fts5_p50_ms": _ms(_times(fts5, min(30, len(asks))), 50),
    }


def _cold(home: Path, ask: str) -> float:
    """The whole process, interpreter and imports included; the best of five, because the first also warms the disk."""

    def run() -> None:
        subprocess.run([sys.executable, "-c", _COLD, str(home), ask], check=True)

    return round(min(_times(run, 5)), 3)


def _ms(times_s: Sequence[float], percent: int) -> float:
    return percentile([one * 1000 for one in times_s], percent)


def _times(work: Callable[[], None], count: int) -> list[float]:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


if __name__ == "__main__":
    sys.exit(main())
