"""What was acknowledged is kept, whatever happens to the process that wrote it."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from foreword import Ask, Event, Foreword, Kind, Settings

KILLS = 50
_FORK = multiprocessing.get_context("fork")


def _write_until_killed(home: Path, life: int, acknowledged: Connection) -> None:
    """Records, asks and forgets without end, and tells what it was told is done."""
    with Foreword.open(home, settings=Settings()) as foreword:
        for number in range(1_000_000):
            source = f"{life}-{number}"
            recorded = foreword.record(
                Event(
                    f"Event {source} speaks of lanterns and of ferries.", session=f"agent:main:{life}", source_id=source
                )
            )
            acknowledged.send(source)
            if number % 3 == 0:
                foreword.brief(Ask(f"What did event {source} say of lanterns?", session=f"agent:main:ask{life}"))
            if number % 7 == 0:
                foreword.forget([foreword.record(Event(f"passing thought {source}", kind=Kind.NOTE)).id])
            assert recorded.id


def test_fifty_kills_lose_no_acknowledged_event_and_corrupt_nothing(tmp_path: Path) -> None:
    home, dice = tmp_path / "home", random.Random(3)
    acknowledged: list[str] = []
    for life in range(KILLS):
        ours, theirs = _FORK.Pipe(duplex=False)
        child = _FORK.Process(target=_write_until_killed, args=(home, life, theirs))
        child.start()
        theirs.close()
        acknowledged.append(ours.recv())
        # The moment of death is the point of the test: anywhere from the first write to some dozen later.
        deadline = time.monotonic() + dice.uniform(0, 0.06)
        while time.monotonic() < deadline:
            if ours.poll(max(0.0, deadline - time.monotonic())):
                acknowledged.append(ours.recv())
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        try:
            while True:
                acknowledged.append(ours.recv())
        except EOFError:
            ours.close()
    with Foreword.open(home, settings=Settings()) as foreword:
        assert foreword.check() == []
        kept = {
            memory.source_id for life in range(KILLS) for memory in foreword.forgettable(session=f"agent:main:{life}")
        }
        assert [source for source in acknowledged if source not in kept] == []
        assert len(acknowledged) > KILLS // 2, "some were acknowledged before each kill, or this proves nothing"
        assert foreword.search("lanterns and ferries")


def test_recording_waits_for_the_disk_and_threads_leave_no_connection_behind(tmp_path: Path) -> None:
    with Foreword.open(tmp_path / "home", settings=Settings()) as foreword:
        foreword.record(Event("The tide turns at four.", session="agent:main:a"))
        connection = foreword._store._connections.here()
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2, "FULL: a power cut loses nothing"
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        for number in range(30):
            thread = threading.Thread(target=foreword.brief, args=(Ask(f"When does tide {number} turn?"),))
            thread.start()
            thread.join()
        assert len(foreword._store._connections._open) <= 2


def test_closing_while_other_threads_work_ends_them_with_an_error_not_the_process(tmp_path: Path) -> None:
    script = (
        "import sys, threading, time\nfrom foreword import Ask, Event, Foreword, ForewordError, Settings\n"
        "f = Foreword.open(sys.argv[1], settings=Settings())\n"
        "def work(n):\n"
        "    try:\n"
        "        for i in range(100000):\n"
        "            f.record(Event(f'thread {n} line {i} about tides', session=f's{n}', source_id=f'{n}-{i}'))\n"
        "            f.brief(Ask(f'what of tides in line {i}?', session=f's{n}'))\n"
        "    except ForewordError:\n"
        "        pass\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
        "[t.start() for t in threads]\ntime.sleep(0.4)\nf.close()\n[t.join(20) for t in threads]\nprint('ended')\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "home")], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


@pytest.mark.proves("D11")
def test_two_processes_writing_at_once_lose_and_corrupt_nothing(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom foreword import Event, Foreword, Settings\n"
        "with Foreword.open(sys.argv[1], settings=Settings()) as f:\n"
        "    for n in range(150):\n"
        "        name = f'{sys.argv[2]}{n}'\n"
        "        f.record(Event(f'{name} wrote about tides', session='agent:main:shared', source_id=name))\n"
    )
    home = tmp_path / "home"
    writers = [subprocess.Popen([sys.executable, "-c", script, str(home), name]) for name in ("left", "right")]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    with Foreword.open(home, settings=Settings()) as foreword:
        assert foreword.status()["memories"] == 300
        assert foreword.check() == []
        (session,) = foreword.sessions()
        assert session.memories == 300


def test_an_open_home_sees_what_another_process_records_and_forgets(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Foreword.open(home, settings=Settings()) as here, Foreword.open(home, settings=Settings()) as there:
        first = there.record(Event("The lighthouse keeper retires in June.", session="agent:main:a"))
        assert [one.memory.id for one in here.search("lighthouse keeper")] == [first.id]
        there.forget([first.id])
        assert here.search("lighthouse keeper") == []
