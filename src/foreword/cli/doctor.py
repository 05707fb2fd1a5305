"""doctor: what is wrong, and what to do about it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import foreword
from foreword.cli.call import Call, Exit
from foreword.cli.daemon import client_of, running, told
from foreword.cli.parser import Verbs
from foreword.cli.recording import rebuild_waiting
from foreword.cli.screen import count, printable, size, when
from foreword.cli.vaults import skipped_lines
from foreword.errors import DaemonError, ForewordError, ModelDamaged, ProviderError, StoreError, StoreFromTheFuture
from foreword.install import Check

if TYPE_CHECKING:
    from foreword.engine import Foreword
    from foreword.providers import Embedder
    from foreword.serve import client as daemons

# What the store's statements need (RETURNING).
_OLDEST_SQLITE = (3, 35, 0)
_LITTLE_SPACE_MB = 200
_PROBE_DEADLINE_MS = 5000
_FAILURES_OF_S = 86_400.0
_MOST_FAILURES = 5
_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "doctor",
        doctor,
        summary="check everything, with the next step for what is wrong",
        example="foreword doctor",
    )
    parser.add_argument("--rebuild", action="store_true", help="make the vectors that are still missing, now")


def doctor(call: Call) -> int:
    checks = list(_checks(call))
    failed = sum(one.state == "fail" for one in checks)
    warned = sum(one.state == "warn" for one in checks)
    call.answer({"checks": [asdict(one) for one in checks], "failed": failed, "warned": warned}, _lines(call, checks))
    return Exit.NO if failed else Exit.OK


def check_lines(call: Call, checks: Sequence[Check]) -> Iterator[str]:
    """A line for each, and one below it with the next step."""
    for one in checks:
        mark, colour = _MARKS[one.state]
        yield f"{call.screen.paint(mark, colour)} {one.name:<10} {one.found}"
        if one.next:
            yield f"  {'':<10} {call.screen.paint('→ ' + one.next, 'dim')}"


def _lines(call: Call, checks: list[Check]) -> Iterator[str]:
    yield from check_lines(call, checks)
    failed, warned = (sum(one.state == state for one in checks) for state in ("fail", "warn"))
    yield ""
    if failed or warned:
        yield f"{count(failed, 'problem')}, {count(warned, 'remark')}."
    else:
        yield "Everything is fine."


def _checks(call: Call) -> Iterator[Check]:
    yield from _machine()
    yield from _settings(call)
    yield from _daemon(call)
    yield from _hooks(call)
    embedder, checks = _embedder(call)
    yield from checks
    home = call.home
    try:
        if not home.exists():
            yield Check("home", "warn", f"{home} does not exist yet.", "`foreword init`, or record something.")
            return
        yield _private(home)
        yield _space(home)
    except OSError as error:
        yield Check("home", "fail", f"{home} cannot be looked into: {error.strerror}.", "Fix its permissions.")
        return
    yield from _store(call, usable=embedder)


def _machine() -> Iterator[Check]:
    found = f"Python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    yield Check("program", "ok", f"Foreword {foreword.__version__}, {found}")
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        oldest = ".".join(map(str, _OLDEST_SQLITE))
        yield Check("sqlite", "fail", f"SQLite {sqlite3.sqlite_version} is too old.", f"Install {oldest} or newer.")
    else:
        yield Check("sqlite", "ok", f"SQLite {sqlite3.sqlite_version}")


def _daemon(call: Call) -> Iterator[Check]:
    client = client_of(call)
    try:
        about = client.about()
    except DaemonError as error:
        yield Check(
            "daemon", "fail", str(error.args[0]), "`foreword down`, then `foreword up`; `foreword logs` tells more."
        )
        return
    folder, socket = client.address.folder, client.address.socket
    if about is None:
        yield from _absent(client, folder, socket)
    elif about["version"] != foreword.__version__:
        yield Check(
            "daemon",
            "warn",
            f"Version {about['version']} still runs; {foreword.__version__} is installed.",
            "`foreword down`; the next host starts the new one.",
        )
    else:
        yield Check("daemon", "ok", told(about))
    if about is not None and (port := call.loaded.settings.serve.port) and about["port"] != port:
        yield Check(
            "daemon", "fail", f"Port {port} is not served.", "`foreword logs` tells why; choose another serve.port."
        )


def _absent(client: daemons.Client, folder: Path, socket: Path) -> Iterator[Check]:
    if (holder := client.holder()) is not None:
        yield Check("daemon", "fail", f"Process {holder} holds the lock and does not answer.", "`foreword down`")
    elif socket.is_socket():
        yield Check("daemon", "ok", "not running; one was killed and left its socket, which the next takes over")
    elif socket.exists() or socket.is_symlink():
        yield Check("daemon", "fail", f"{socket} is not a socket, so no daemon can start.", "Move it away.")
    elif folder.exists() and stat.S_IMODE(folder.stat().st_mode) & 0o077:
        yield Check("daemon", "warn", f"Others may look into {folder}.", f"chmod go= '{folder}'")
    else:
        yield Check("daemon", "ok", told(None))


def _hooks(call: Call) -> Iterator[Check]:
    """What went wrong in hosts' hooks, which say nothing themselves: one line for each kind, the newest of it told."""
    from foreword.serve import trail

    newest: dict[tuple[str, str, str], tuple[str, int]] = {}
    for one in trail.failures(client_of(call).address.failures, since_s=_FAILURES_OF_S):
        _, before = newest.get((one.host, one.event, one.cause), ("", 0))
        newest[one.host, one.event, one.cause] = (one.at, before + 1)
    for (host, event, cause), (at, times) in sorted(newest.items(), key=lambda item: item[1][0])[-_MOST_FAILURES:]:
        often = f"{times} times, last" if times > 1 else "once,"
        yield Check(
            "hooks", "warn", f"{printable(f'{host} {event}')}: {printable(cause)} ({often} {at})", "`foreword logs`"
        )
    if not newest:
        yield Check("hooks", "ok", "no failure in the last day")


def _settings(call: Call) -> Iterator[Check]:
    from foreword.settings import config_file

    file = config_file()
    for warning in call.loaded.warnings:
        yield Check("settings", "warn", warning, f"Edit {file}, the project's file or the environment.")
    if not call.loaded.warnings:
        yield Check("settings", "ok", str(file) if file.exists() else f"defaults; {file} does not exist")
    settings = call.loaded.settings
    for name, agents in (("capture", settings.guard.exclude_capture), ("injection", settings.turn.exclude)):
        if agents:
            yield Check("excluded", "ok", f"from {name}: {', '.join(agents)}")
    for name, on in (("Recording", settings.record.enabled), ("Injection", settings.turn.enabled)):
        if not on:
            yield Check("switched", "warn", f"{name} is switched off.", "Nothing to do if that is meant.")


def _embedder(call: Call) -> tuple[bool, list[Check]]:
    """Whether an engine can be opened with the embedder of the settings, and what was found."""
    from foreword.providers import open_embedder

    reader = _reader()
    try:
        embedder = open_embedder(call.loaded.settings.embedder, os.environ)
    except ForewordError as error:
        asked = "`foreword config embedder.provider` shows who is asked."
        return False, [Check("embedder", "fail", str(error), asked), reader]
    if embedder is None:
        return True, [Check("embedder", "ok", "none: words answer alone"), reader]
    try:
        return True, [Check("embedder", "ok", _probed(embedder)), reader]
    except ProviderError as error:
        # The shipped table may be damaged for good; a remote model may be back in a minute, and words answer meanwhile.
        if embedder.local:
            return False, [Check("embedder", "fail", str(error), "Reinstall Foreword; words answer meanwhile."), reader]
        return True, [Check("embedder", "warn", str(error), "Words answer alone until the model does."), reader]


def _probed(embedder: Embedder) -> str:
    from foreword.providers import StaticEmbedder

    if isinstance(embedder, StaticEmbedder):
        embedder.verify()
        return f"{embedder.model}, every byte matches its checksum"
    embedder.embed(["Does the model answer?"], deadline_ms=_PROBE_DEADLINE_MS)
    return f"{embedder.model} answers"


def _reader() -> Check:
    from foreword.recall import reader

    try:
        reader.verify()
    except ModelDamaged as error:
        return Check("reader", "warn", str(error), "Reinstall Foreword; memories are judged without reading them.")
    return Check("reader", "ok", "every byte matches its checksum")


def _private(home: Path) -> Check:
    if not home.is_dir():
        return Check("home", "fail", f"{home} is not a folder.", "Choose another with --home or FOREWORD_HOME.")
    wide = [path for path in (home, *home.iterdir()) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if wide:
        shown = ", ".join(path.name for path in wide[:3])
        return Check("home", "warn", f"Others may look into {home} ({shown}).", f"chmod -R go= '{home}'")
    return Check("home", "ok", f"{home}, yours alone")


def _space(home: Path) -> Check:
    free_mb = shutil.disk_usage(home).free // 1_000_000
    if free_mb < _LITTLE_SPACE_MB:
        return Check("disk", "warn", f"{free_mb:,} MB are free.", "Free some space, or move the home.")
    return Check("disk", "ok", f"{free_mb / 1000:,.0f} GB free")


def _store(call: Call, *, usable: bool) -> Iterator[Check]:
    from foreword.engine import Foreword

    settings = call.loaded.settings
    if not usable:
        settings = replace(settings, embedder=replace(settings.embedder, provider="none"))
    try:
        with Foreword.open(call.home, settings=settings) as engine:
            yield Check("schema", "ok", "of this version")
            yield from _sound(engine)
            yield from _lanes(engine)
            yield from _vaults(call, engine)
            if usable:
                yield from _vectors(call, engine)
    except StoreFromTheFuture as error:
        yield Check("schema", "fail", str(error.args[0]), error.hint)
    except StoreError as error:
        yield Check("database", "fail", str(error.args[0]), error.hint)


def _sound(engine: Foreword) -> Iterator[Check]:
    problems = engine.check()
    for problem in problems:
        yield Check(
            "database", "fail", problem, "`foreword down`, then restore a backup, or move the file away to start anew."
        )
    if not problems:
        found = engine.status()
        kept = f"{count(found['memories'], 'memory', 'memories')}, {count(found['turns'], 'turn')}"
        yield Check("database", "ok", f"sound: {kept}, {size(found['bytes'])}")


def _lanes(engine: Foreword) -> Iterator[Check]:
    found = engine.status()["lanes"]
    for problem in found["problems"]:
        yield Check("lanes", "warn", printable(problem), "It is tried again on the next turn.")
    if found["file_name"] and not found["problems"]:
        paths = ", ".join(one["path"] for one in found["files"])
        yield Check("lanes", "ok", f"{found['file_name']}: {paths or 'no turn in a known workspace yet'}")


def _vaults(call: Call, engine: Foreword) -> Iterator[Check]:
    for one in engine.vaults.reports():
        name = one.vault.name
        if one.vault.leaving:
            yield Check("vaults", "warn", f"{name} is removed in part.", f"`foreword vault remove {name}` ends it.")
            continue
        if one.vault.problem:
            yield Check("vaults", "warn", f"{name}: {printable(one.vault.problem)}", f"`foreword vault check {name}`")
        else:
            kept = f"{count(one.files, 'note')}, {count(one.chunks, 'chunk')}"
            yield Check("vaults", "ok", f"{name}: {kept}, looked at {when(one.vault.scanned_at)}")
        for line in skipped_lines(one.skipped):
            yield Check("vaults", "warn", f"{name} leaves out {line}", "Nothing to do if that is meant.")
    about = running(call) or {}
    if problem := about.get("vaults", {}).get("problem"):
        yield Check(
            "vaults",
            "warn",
            f"{printable(problem)} The daemon looks through them every few seconds.",
            "Raise fs.inotify.max_user_watches or max_user_instances.",
        )


def _vectors(call: Call, engine: Foreword) -> Iterator[Check]:
    if call.args.rebuild:
        try:
            yield Check("vectors", "ok", f"{rebuild_waiting(engine):,} made now")
        except ProviderError as error:
            yield Check("vectors", "fail", str(error), "Words answer meanwhile; try again later.")
        return
    embedder = engine.status()["embedder"]
    if embedder["waiting"]:
        yield Check("vectors", "warn", f"{embedder['waiting']:,} memories wait.", "`foreword doctor --rebuild`")
    else:
        yield Check("vectors", "ok", f"{embedder['embedded']:,} made, none waiting")
