"""What a vault costs, all in one run: `python -m bench.vault [--json] [--files 10000]` (ten minutes).

- the first index of a generated vault: notes a second, peak memory;
- a look at it when nothing changed, beside a bare `os.scandir` and `stat` walk of the same tree, in turns;
- a saved note, until a search through a real daemon finds it;
- briefs through that daemon while another process indexes, and while the daemon itself does, beside briefs when nobody
  indexes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # run as a file: `python bench/vault.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    from bench.corpus import Corpus
    from bench.timing import percentile, say
    from foreword import Foreword, Settings
    from foreword.serve.address import address
    from foreword.serve.client import Client
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: run `make setup` first, then `.venv/bin/python bench/vault.py`")

_FILES_A_FOLDER = 50
_CHARS_A_FILE = 10_000
_ROUNDS = 31
_SAVES = 20
_ASKS = 150


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="how many notes the vault has")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="foreword-vault-") as folder:
        found = measure(Path(folder), options.files)
    say("")
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    print(f"first index of {found['files']:,} notes, {found['megabytes']:.0f} MB: {found['index_s']:.0f} s,", end=" ")
    print(f"{found['index_cpu_s']:.0f} s of processor, {found['files_per_s']:.0f} notes/s,", end=" ")
    print(f"{found['chunks']:,} chunks, peak {found['peak_mb']:.0f} MB")
    print(f"bare walk {found['walk_ms']:.1f} ms, unchanged look {found['look_ms']:.1f} ms, {found['ratio']:.2f} ×")
    print(f"saved to searchable: median {found['searchable_p50_s']:.2f} s, worst {found['searchable_worst_s']:.2f} s")
    for name, about in found["brief_ms"].items():
        print(f"brief {name:<24} p50 {about['p50']:7.2f} ms   p95 {about['p95']:7.2f} ms   n {about['n']}")
    return 0


def measure(folder: Path, files: int) -> dict[str, Any]:
    vault, home = folder / "vault", folder / "home"
    corpus = Corpus()
    size = generate(vault, files, corpus)
    environ = {**os.environ, "FOREWORD_HOME": str(home)}
    with Foreword.open(home, settings=Settings()) as foreword:
        for _ in foreword.record_all(corpus.events(1000)):
            pass
    client = Client(address(environ), environ)
    client.start()
    asks = cycle(corpus.asks(1000))
    briefs: dict[str, list[float]] = {}

    def ask(name: str) -> None:
        start = time.perf_counter()
        client.call("brief", {"text": next(asks), "session": f"agent:main:{time.perf_counter_ns()}"})
        briefs.setdefault(name, []).append((time.perf_counter() - start) * 1000)

    try:
        ask("warm-up")
        indexed = _first_index(vault, environ, lambda: ask("another process indexes"))
        client.call("brief", {"text": next(asks), "session": "agent:main:warm"})
        _until(lambda: client.about()["vaults"]["vaults"] == 1, within_s=120)  # type: ignore[index]
        looked = _looks(home, vault)
        saved = _saves(client, vault)
        for _ in range(_ASKS):
            ask("nobody indexes")
        _while_it_indexes(client, vault, corpus, max(files // 20, 20), lambda: ask("the daemon itself indexes"))
        for _ in range(_ASKS):
            ask("nobody indexes")
    finally:
        client.stop()
    briefs.pop("warm-up")
    return {
        "files": files,
        "megabytes": round(size / 1e6, 1),
        **indexed,
        **looked,
        **saved,
        "brief_ms": {
            name: {"p50": percentile(times, 50), "p95": percentile(times, 95), "n": len(times)}
            for name, times in briefs.items()
        },
    }


def generate(vault: Path, files: int, corpus: Corpus) -> int:
    """Notes with a head, headings, paragraphs, lists, a table, tags and links to others; how many bytes."""
    drawn = random.Random(11)
    sentences = [corpus.sentence(drawn.randint(5, 16)) for _ in range(min(20_000, 20 * files))]
    old = time.time() - 86_400
    size = 0
    for number in range(files):
        if number % 500 == 0:
            say(f"writing note {number:,} of {files:,}")
        folder = vault / f"area-{number // _FILES_A_FOLDER // 10}" / f"topic-{number // _FILES_A_FOLDER}"
        folder.mkdir(parents=True, exist_ok=True)
        text = _note(number, files, sentences, drawn)
        path = folder / f"note-{number}.md"
        path.write_text(text, "utf-8")
        os.utime(path, (old, old))
        size += len(text)
    return size


def _note(number: int, files: int, sentences: Sequence[str], drawn: random.Random) -> str:
    parts = [f"---\ntags: [t{number % 97}, t{number % 31}]\naliases: [n{number}]\n---\n# Note {number}"]
    length = 0
    while length < _CHARS_A_FILE:
        kind = drawn.random()
        several = drawn.choices(sentences, k=drawn.randint(2, 5))
        if kind < 0.2:
            part = f"## {several[0][:40]}"
        elif kind < 0.35:
            part = "\n".join(f"- {one}" for one in several)
        elif kind < 0.4:
            part = "| what | value |\n|---|---|\n" + "\n".join(f"| {one[:30]} | {one[30:60]} |" for one in several)
        elif kind < 0.5:
            part = f"{several[0]} See [[note-{drawn.randrange(files)}]] and #t{drawn.randrange(97)}."
        else:
            part = " ".join(several)
        parts.append(part)
        length += len(part) + 2
    return "\n\n".join(parts) + "\n"


def _first_index(vault: Path, environ: dict[str, str], meanwhile: Callable[[], None]) -> dict[str, Any]:
    say("indexing")
    reading, writing = os.pipe()
    start = time.perf_counter()
    process = os.fork()
    if not process:
        os.dup2(writing, 1)
        os.execve(sys.executable, [sys.executable, "-m", "foreword", "vault", "add", str(vault), "--json"], environ)
    os.close(writing)
    while True:
        ended, status, usage = os.wait4(process, os.WNOHANG)
        if ended:
            break
        meanwhile()
        time.sleep(0.2)
    took = time.perf_counter() - start
    with open(reading, encoding="utf-8") as said:
        told = json.load(said)
    if status:
        raise SystemExit(f"`foreword vault add` failed: {told}")
    return {
        "index_s": round(took, 1),
        "index_cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "files_per_s": round(told["data"]["files"] / took, 1),
        "chunks": told["data"]["added"],
        "peak_mb": round(usage.ru_maxrss / 1024, 1),
    }


def _looks(home: Path, vault: Path) -> dict[str, Any]:
    walks: list[float] = []
    looks: list[float] = []
    with Foreword.open(home, settings=Settings()) as foreword:
        (one,) = foreword.vaults.all()
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            met = sum(1 for _ in _walk(str(vault)))
            between = time.perf_counter()
            *_, look = foreword.vaults.look(one)
            walks.append((between - start) * 1000)
            looks.append((time.perf_counter() - between) * 1000)
            if look.read or look.gone or look.files != met:
                raise SystemExit("the vault changed while it was looked at")
    ratio = statistics.median(after / before for before, after in zip(walks, looks, strict=True))
    return {
        "walk_ms": round(statistics.median(walks), 2),
        "look_ms": round(statistics.median(looks), 2),
        "ratio": round(ratio, 2),
    }


def _walk(folder: str) -> Iterator[os.stat_result]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path)
            else:
                yield entry.stat(follow_symlinks=False)


def _saves(client: Client, vault: Path) -> dict[str, Any]:
    notes = sorted(vault.rglob("*.md"))
    times = []
    for number in range(_SAVES):
        say(f"save {number + 1} of {_SAVES}")
        path = notes[number * len(notes) // _SAVES]
        word = f"quokka{number}zz"
        path.write_text(path.read_text("utf-8") + f"\nThe {word} is new here.\n", "utf-8")
        start = time.perf_counter()
        _until(lambda word=word: _finds(client, word), within_s=30)  # type: ignore[misc]
        times.append(time.perf_counter() - start)
    return {
        "searchable_p50_s": round(statistics.median(times), 3),
        "searchable_worst_s": round(max(times), 3),
    }


def _finds(client: Client, word: str) -> bool:
    found = client.call("search", {"query": word, "limit": 1})["results"]
    return bool(found) and word in found[0]["content"]


def _while_it_indexes(client: Client, vault: Path, corpus: Corpus, notes: int, meanwhile: Callable[[], None]) -> None:
    say("briefs while the daemon indexes")
    before = _chunks(client)
    generate(vault / "later", notes, corpus)
    _until(lambda: _chunks(client) > before, within_s=60)
    seen, still = _chunks(client), time.monotonic()
    while time.monotonic() - still < 3.0:
        for _ in range(10):
            meanwhile()
            time.sleep(0.05)
        if (now := _chunks(client)) != seen:
            seen, still = now, time.monotonic()


def _chunks(client: Client) -> int:
    return int(client.call("status", {})["by_kind"].get("chunk", 0))


def _until(holds: Callable[[], bool], *, within_s: float) -> None:
    until = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > until:
            raise SystemExit("it did not come about in time")
        time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())
