"""How fast transcripts come in, in how much memory, and what a `brief()` costs then:
`python bench/import.py [--json] [--messages 1000000]`.

Made-up messages of many conversations, interleaved as a machine's are, are written as JSON lines and imported. Turns
are timed at a tenth of them and at all of them, in one process. Peak memory is that of the import and of all before it,
the first timed turns included. The numbers are those of the machine that they were taken on; the ratios travel."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a file: `python bench/import.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    from bench.corpus import Corpus
    from bench.timing import percentile, say
    from foreword import Ask, Foreword, Settings
    from foreword.imports import FORMATS
    from foreword.transfer import Changes, Journal, bring_in
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: run `make setup` first, then `.venv/bin/python bench/import.py`")

# Conversations that go on at the same time, and how many messages each of the corpus has.
_AT_ONCE = 8
_TURNS = 20
_ASKS = 100


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000, help="how many are imported in all")
    parser.add_argument("--asks", type=int, default=_ASKS, help="turns timed at each size")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    result = measure(options.messages, options.asks)
    if options.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{'messages':>10}  {'a second':>9}  {'peak memory':>12}  {'brief p50':>10}  {'p95':>9}")
    for row in result["sizes"]:
        print(
            f"{row['messages']:>10,}  {row['messages_a_second']:>9,.0f}  {row['peak_mb']:>9,.0f} MB"
            f"  {row['brief_p50_ms']:>7.2f} ms  {row['brief_p95_ms']:>6.2f} ms"
        )
    print(f"brief at all of them against a tenth: {result['brief_ratio']:.2f} ×")
    return 0


def measure(messages: int, asks: int) -> dict[str, Any]:
    corpus = Corpus()
    sizes = [max(messages // 10, 1), messages]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        files = _written(corpus, here, sizes)
        home = here / "home"
        kept = 0
        for size, file in zip(sizes, files, strict=True):
            say(f"importing up to {size:,} messages")
            with Foreword.open(home, settings=Settings()) as foreword:
                began = time.perf_counter()
                tally = bring_in(foreword, FORMATS["jsonl"], [file], Changes(), Journal(home))
                seconds = time.perf_counter() - began
                kept += tally.outcomes["stored"]
                peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                say(f"timing {asks} turns at {size:,}")
                times = _briefs(foreword, corpus.asks(asks), size)
            rows.append(
                {
                    "messages": size,
                    "kept": kept,
                    "messages_a_second": tally.events / seconds,
                    "peak_mb": peak_mb,
                    "brief_p50_ms": percentile(times, 50),
                    "brief_p95_ms": percentile(times, 95),
                }
            )
    return {"sizes": rows, "brief_ratio": rows[-1]["brief_p50_ms"] / rows[0]["brief_p50_ms"]}


def _written(corpus: Corpus, folder: Path, sizes: Sequence[int]) -> list[Path]:
    """The first tenth in one file and the rest in another; the conversations of each take turns line by line."""
    events = corpus.events(sizes[-1])
    files = []
    done = 0
    for size in sizes:
        file = folder / f"{size}.jsonl"
        with file.open("w", encoding="utf-8") as out:
            while done < size:
                block = list(islice(events, min(_TURNS * _AT_ONCE, size - done)))
                done += len(block)
                for place in range(_TURNS):
                    for event in block[place::_TURNS]:
                        out.write(
                            json.dumps(
                                {
                                    "text": event.text,
                                    "session": event.session,
                                    "origin": event.origin and event.origin.value,
                                    "at": event.at,
                                    "source_id": event.source_id,
                                }
                            )
                            + "\n"
                        )
        files.append(file)
    return files


def _briefs(foreword: Foreword, asks: Sequence[str], size: int) -> list[float]:
    foreword.brief(Ask("warm up the index, please", session="agent:main:warm"))
    times = []
    for number, ask in enumerate(asks):
        began = time.perf_counter()
        foreword.brief(Ask(ask, session=f"agent:main:ask{size}-{number}"))
        times.append((time.perf_counter() - began) * 1000)
    return times


if __name__ == "__main__":
    sys.exit(main())
