"""Foreword put into a host, looked at there, and taken out again: the same three verbs for every host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from foreword.cli.call import Call, Exit
from foreword.cli.daemon import client_of, environ_of
from foreword.cli.doctor import check_lines
from foreword.cli.parser import Verbs
from foreword.cli.screen import count, printable
from foreword.errors import BadInput, DaemonError, ForewordError, HostError, UnknownId
from foreword.install import INSTALLERS, Check, Installer, Wanted, installation
from foreword.values import dataclass

# What decides which settings a daemon reads.
_SETTINGS_BY = ("FOREWORD_CONFIG", "XDG_CONFIG_HOME")
_STARTS_WITHIN_S = 10.0
_HOST_ANSWERS_WITHIN_S = 60.0
_FAILURES_OF_S = 86_400.0
# Which options belong to which verb; the others are refused rather than ignored.
_OPTIONS = {"install": ("dry_run", "yes", "owner", "exclude", "http"), "check": ("offline",), "remove": ("dry_run",)}


def add(verbs: Verbs) -> None:
    for name in INSTALLERS:
        title = INSTALLERS[name].title
        parser = verbs.add(
            name,
            partial(run, name),
            summary=f"put Foreword into {title}, check that it reaches the model, take it out again",
            more=f"`install` shows what it changes, keeps a copy and asks before it lets Foreword read conversations."
            f" `remove` puts {title}'s settings back byte for byte and keeps every memory.",
            example=f"foreword {name} install --dry-run\nforeword {name} check\nforeword {name} remove",
        )
        parser.add_argument("what", choices=tuple(_OPTIONS), help="what to do")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--config", metavar="FILE", help=f"{title}'s settings file; without it, where {title} looks")
        if INSTALLERS[name].in_projects:
            where.add_argument("--global", action="store_true", help="in your own settings, for every project (usual)")
            where.add_argument("--project", action="store_true", help="in the settings of this folder, for it alone")
        if INSTALLERS[name].by_http:
            parser.add_argument(
                "--http",
                action="store_true",
                help="install: have it ask a daemon that stays, at serve.port, instead of starting a process each time",
            )
        parser.add_argument("--dry-run", action="store_true", help="show the diff, and change nothing")
        parser.add_argument("--yes", action="store_true", help="install: do not ask, for scripts")
        if INSTALLERS[name].owners({}) is not None:
            parser.add_argument(
                "--owner",
                action="append",
                metavar="ID",
                help="install: an id of yours, such as `telegram:777`; without it, the host's allow-list tells",
            )
        parser.add_argument(
            "--exclude", action="append", metavar="AGENT", help="install: an agent to leave alone, a name or a pattern"
        )
        parser.add_argument(
            "--offline", action="store_true", help=f"check: do not ask {title} itself, which takes seconds"
        )


def run(name: str, call: Call) -> int:
    for option in sorted({one for options in _OPTIONS.values() for one in options} - {*_OPTIONS[call.args.what]}):
        if getattr(call.args, option, None):
            raise BadInput(f"--{option.replace('_', '-')} does not belong to {call.args.what}.")
    verb: Callable[[_Here], int] = {"install": _install, "check": _check, "remove": _remove}[call.args.what]
    return verb(_Here(name, call))


@dataclass(frozen=True, slots=True)
class _Here:
    """One host, as this call meets it."""

    name: str
    call: Call

    @property
    def host(self) -> Installer:
        return INSTALLERS[self.name]

    @property
    def program(self) -> str | None:
        return shutil.which(self.host.program)

    @property
    def file(self) -> Path:
        """The host's settings file. Raises HostError where the host is not here."""
        file = self._file
        if not self.call.args.config and not self.project and not file.exists() and self.program is None:
            raise HostError(
                f"{self.host.title} is not here: there is no {file}, and no `{self.host.program}` on the path.",
                hint="Install it first, or name its settings file with --config.",
            )
        return file

    @property
    def _file(self) -> Path:
        if named := self.call.args.config:
            return Path(os.path.abspath(os.path.expanduser(named)))
        return self.host.project_file(self.project) if self.project else self.host.config_file(os.environ)

    @property
    def project(self) -> Path | None:
        """The folder for which alone it is meant."""
        return Path.cwd() if getattr(self.call.args, "project", False) else None

    @property
    def folder(self) -> Path:
        """What Foreword keeps of its install in this host. A project's is apart, and that of any settings file but the
        user's usual one: each is removed by itself."""
        folder = Path(os.path.abspath(self.call.home)) / installation.FOLDER / self.name
        if self.project:
            return folder / f"project-{crc32(os.fsencode(self.project)):08x}"
        usual = self.host.config_file({"HOME": os.path.expanduser("~")})
        file = Path(os.path.realpath(self._file))
        return folder if file == usual.resolve() else folder / f"config-{crc32(os.fsencode(file)):08x}"

    @property
    def installation(self) -> installation.Installation:
        return installation.Installation(self.folder)

    @property
    def wanted(self) -> Wanted:
        """Where the plugin is, and what leads it to this very Foreword, whatever the host's environment says. Raises
        HostError where the host cannot be led to it."""
        home = os.path.abspath(self.call.home)
        # Settings that move the memories elsewhere do not move the daemon; then the same rule has to find it.
        run_folder = os.path.realpath(client_of(self.call).address.folder)
        same = run_folder == os.path.realpath(os.path.join(home, "run"))
        if not same and (named := [name for name in ("FOREWORD_CONFIG", "XDG_DATA_HOME") if os.environ.get(name)]):
            raise HostError(
                f"{named[0]} is set here, and {self.host.title} would look for Foreword's daemon elsewhere.",
                hint=f"Name the home as well: --home {home}",
            )
        told = [
            f"{name}={os.path.abspath(os.path.expanduser(os.environ[name]))}"
            for name in _SETTINGS_BY
            if os.environ.get(name)
        ]
        moved = same and home != os.path.expanduser("~/.local/share/foreword")
        beside = Path(sys.executable).with_name("foreword-daemon")
        daemon = [str(beside)] if beside.exists() else [sys.executable, "-E", "-P", "-m", "foreword.serve.daemon"]
        return Wanted(
            folder=self.folder / "plugin",
            home=home if same else "",
            program=str(Path(sys.executable).with_name("foreword")),
            daemon=(*(("/usr/bin/env", *told) if told else ()), *daemon, "--detach"),
            variables=(*((f"FOREWORD_HOME={home}",) if moved else ()), *told),
            **self._door(),
        )

    def _door(self) -> dict[str, str]:
        """Where it is asked for, or was when it was installed. Only of a daemon that stays: one that ends when it is
        idle is started by a command, and not by a request. Raises HostError."""
        from foreword.serve import guard

        installing = self.call.args.what == "install"
        plugin = self.folder / "plugin"
        chosen = getattr(self.call.args, "http", False) if installing else self.host.asks_by_http(plugin)
        if not chosen:
            return {}
        serve, here = self.call.loaded.settings.serve, client_of(self.call).address
        if not serve.port or serve.idle_minutes:
            raise HostError(
                "Only a daemon that stays can be asked by HTTP.",
                hint="Set serve.port and serve.idle_minutes = 0, and run `foreword service install`.",
            )
        here.make()
        return {"door": f"http://127.0.0.1:{serve.port}", "token": guard.token_in(here.token)}


def _install(here: _Here) -> int:
    call, host, file = here.call, here.host, here.file
    config = host.read(file)
    owners, notes = _owners(here, config)
    settings = _settings_change(call, owners)
    plan: list[installation.Change] = [*settings, *host.plan(file, config, here.wanted)]
    changed = [str(one.file) for one in plan if one.changes]
    shown = _diff(plan)
    data = {
        "config": str(file),
        "changed": changed,
        "owner": owners,
        "notes": notes,
        "dry_run": bool(call.args.dry_run),
    }
    if call.args.dry_run or not changed:
        lines = [shown or f"{host.title} has Foreword already; nothing is to be changed.", *notes]
        call.answer({**data, "diff": shown}, lines)
        return Exit.OK
    if not call.args.yes and not host.granted(config) and not _agreed(here, shown):
        call.screen.note("Nothing was changed.")
        return Exit.NO
    kept = here.installation
    kept.apply(plan)
    copies = {str(of): str(copy) for of, copy in kept.copies().items()}
    lines = [f"changed  {one}" for one in _folded(here, changed)]
    lines += [f"kept     {copy}, as it was" for copy in copies.values()]
    then = host.after(plan, config, here.wanted)
    lines += [*notes, "", f"{then} `foreword {here.name} check` tells whether it reaches the model."]
    call.answer({**data, "copies": copies}, lines)
    return Exit.OK


def _diff(plan: Sequence[installation.Change]) -> str:
    from foreword.record import redact  # every command would wait for its patterns

    return installation.diff(plan, redact=lambda text: redact(text).text)


def _folded(here: _Here, files: Sequence[str]) -> list[str]:
    """The plugin's own files as one."""
    plugin = here.folder / "plugin"
    return list(dict.fromkeys(str(plugin) if Path(one).is_relative_to(plugin) else one for one in files))


def _agreed(here: _Here, shown: str) -> bool:
    call = here.call
    if call.screen.as_json or not (sys.stdin and sys.stdin.isatty()):
        raise BadInput(
            f"Nobody is here to agree: {here.host.grant}",
            hint=f"Run `foreword {here.name} install --yes` to agree, or --dry-run to see what would be changed.",
        )
    call.screen.note(printable(shown))
    call.screen.note(here.host.grant)
    return _asked("Install? [y/N] ").lower() in ("y", "yes")


def _asked(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _owners(here: _Here, config: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Whom to take for the owner, and what is to be said about it."""
    call = here.call
    found = here.host.owners(config)
    if found is not None and call.args.owner:
        return list(dict.fromkeys(call.args.owner)), []
    if found is None or call.loaded.settings.owner.ids:
        return [], []  # somebody has said it before, and a host's list that grew since is no reason to say otherwise
    ids, title, again = list(found.ids), here.host.title, f"`foreword {here.name} install --owner ID`"
    notes = [f"owner    {printable(', '.join(ids))}, by {title}'s allow-list"] if ids else []
    if found.several:
        alone = call.args.yes or call.args.dry_run or call.screen.as_json or not (sys.stdin and sys.stdin.isatty())
        if not alone and (said := _chosen(found.several)):
            return [*ids, *said], notes
        people = printable(", ".join(found.several))
        notes.append(f"owner    several may write to you ({people}), and none is taken for you; say which: {again}")
    elif not ids:
        notes.append(
            f"owner    no allow-list names you, so who writes to you in private is a stranger; say it: {again}"
        )
    return ids, notes


def _chosen(several: Sequence[str]) -> list[str]:
    print("Several people may write to your agents. Which are you?", file=sys.stderr)
    for number, one in enumerate(several, 1):
        print(f"  {number}  {printable(one)}", file=sys.stderr)
    numbers = _asked("Numbers, or nothing for none: ").replace(",", " ").split()
    return [several[int(one) - 1] for one in numbers if one.isdigit() and 0 < int(one) <= len(several)]


def _settings_change(call: Call, owners: Sequence[str]) -> list[installation.Change]:
    """Foreword's own settings: who the owner is, and which agents are left alone, in both ways."""
    from foreword.settings import config_file

    edits = [installation.Edit(("owner", "ids"), one, item=True) for one in owners]
    for agent in call.args.exclude or ():
        edits += [
            installation.Edit(("turn", "exclude"), agent, item=True),
            installation.Edit(("guard", "exclude_capture"), agent, item=True),
        ]
    return [installation.edited(config_file(), edits, fresh="")] if edits else []


def _remove(here: _Here) -> int:
    call, kept = here.call, here.installation
    if not kept.exists:
        return _remove_traces(here)
    plan = kept.undoing()
    copies = kept.copies()
    shown = _diff(plan)
    if not call.args.dry_run:
        plan = kept.undo()
    files = [{"file": str(one.file), "how": one.said} for one in plan]
    told = {_folded(here, [str(one.file)])[0]: one.said for one in plan}
    lines = [shown] if call.args.dry_run else [f"{file}: {said}" for file, said in told.items()]
    stay = [str(copies[one.file]) for one in plan if one.said == installation.EDITED and one.file in copies]
    if not call.args.dry_run:
        lines += [f"kept     {one}, as it was before the install" for one in stay]
        lines += [_memories_stay(call)]
    call.answer({"files": files, "dry_run": bool(call.args.dry_run), "diff": shown, "memories": str(call.home)}, lines)
    return Exit.OK


def _remove_traces(here: _Here) -> int:
    """Without a record: what is Foreword's by its name."""
    call = here.call
    traces = here.host.traces(here.file, here.wanted)
    changes = [change for file, puts in traces.items() if (change := installation.without(file, puts)).changes]
    shown = _diff(changes)
    if not call.args.dry_run:
        for change in changes:
            installation.replace(change)
    if not changes:
        lines = [f"Foreword is not in {here.host.title}: nothing is to be removed."]
    elif call.args.dry_run:
        lines = [shown]
    else:
        how = "no install is on record, so only what is Foreword's by name was taken out"
        lines = [*(f"{change.file}: {how}" for change in changes), _memories_stay(call)]
    files = [{"file": str(change.file), "how": installation.EDITED} for change in changes]
    call.answer({"files": files, "dry_run": bool(call.args.dry_run), "diff": shown, "memories": str(call.home)}, lines)
    return Exit.OK


def _memories_stay(call: Call) -> str:
    return f"Your memories stay in {call.home}."


def _check(here: _Here) -> int:
    call, checks, title = here.call, list(_checks(here)), here.host.title
    problem = next((one for one in checks if one.state == "fail"), None)
    seen = any(one.name == "turns" and one.state == "ok" for one in checks)
    if problem is not None:
        verdict = f"Nothing reaches {title}'s model: {problem.found} → {problem.next}"
    elif seen:
        verdict = f"What Foreword finds reaches {title}'s model."
    else:
        verdict = f"Nothing stands between Foreword and {title}'s model, but no turn has shown it yet."
    data = {"ready": problem is None, "seen": seen, "verdict": verdict, "checks": [asdict(one) for one in checks]}
    call.answer(data, [*check_lines(call, checks), "", verdict])
    return Exit.OK if problem is None else Exit.NO


def _checks(here: _Here) -> Iterator[Check]:
    host, call = here.host, here.call
    try:
        file = here.file
        config = host.read(file)
    except HostError as error:
        yield Check("settings", "fail", str(error.args[0]), error.hint)
        return
    yield Check("settings", "ok", str(file))
    on_disk = list(host.checks(file, config, here.wanted))
    yield from on_disk
    if not call.args.offline and all(one.state != "fail" for one in on_disk):
        if here.program is None:
            found = f"`{host.program}` is not on the path, so {host.title} itself was not asked"
            yield Check("program", "warn", found, "Put it there, or leave it out with --offline.")
        else:
            yield from host.running(config, partial(_host_answers, here, here.program), here.wanted)
    answers = _daemon(here, host.daemon(config, here.wanted))
    yield answers
    if here.wanted.door and answers.state == "ok":
        yield _port(here)
    yield from _foreword_settings(here, config)
    if answers.state == "ok":
        yield _turns(here, config)


def _host_answers(here: _Here, program: str, *arguments: str, talk: Sequence[Mapping[str, Any]] = ()) -> Any:
    """What the host's own program answers, as JSON; with `talk`, what it answers to the last of these requests, each a
    line that it reads. Raises HostError."""
    if talk:
        return _host_replies(here, [program, *arguments], talk)
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_HOST_ANSWERS_WITHIN_S,
            check=False,
        )
        if done.returncode == 0:
            return json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"`{here.name}` did not answer within {_HOST_ANSWERS_WITHIN_S:g} s.") from error
    except ValueError as error:
        raise HostError(f"`{here.name} {arguments[0]}` did not answer with JSON.") from error
    said = [line.strip() for line in printable(done.stderr or done.stdout).splitlines() if line.strip()]
    raise HostError(f"`{here.name} {' '.join(arguments[:3])}` failed: {said[0][:200] if said else done.returncode}")


def _host_replies(here: _Here, command: Sequence[str], talk: Sequence[Mapping[str, Any]]) -> Any:
    """It ends when its input does, so that stays open until it has answered, or for as long as anybody waits."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as host:
        impatience = threading.Timer(_HOST_ANSWERS_WITHIN_S, host.kill)
        impatience.start()
        try:
            assert host.stdin is not None
            assert host.stdout is not None
            host.stdin.writelines(json.dumps(one) + "\n" for one in talk)
            host.stdin.flush()
            for line in host.stdout:
                answer = json.loads(line)
                if answer.get("id") == talk[-1]["id"]:
                    return answer["result"]
        except (OSError, ValueError, AttributeError, KeyError) as error:
            raise HostError(f"`{here.name} {command[1]}` does not answer this.") from error
        finally:
            impatience.cancel()
            host.terminate()
    raise HostError(f"`{here.name} {command[1]}` did not answer.")


def _daemon(here: _Here, command: Sequence[str]) -> Check:
    """Whether the daemon answers; where there is none, it is started as the host would start it."""
    client = client_of(here.call)
    try:
        if client.about() is None:
            _started(command, environ_of(here.call), client.about)
        client.call("status", {}, within_s=5.0)
    except (ForewordError, OSError, subprocess.SubprocessError) as error:
        return Check("daemon", "fail", f"Foreword's daemon cannot be used: {error}", "`foreword doctor`")
    return Check("daemon", "ok", "answers")


def _port(here: _Here) -> Check:
    """Whether it is this daemon that the host asks by HTTP: whoever else were there would read every prompt."""
    from urllib.request import Request, urlopen

    wanted = here.wanted
    try:
        asked = Request(f"{wanted.door}/health", headers={"Authorization": f"Bearer {wanted.token}"})
        with urlopen(asked, timeout=5.0) as answer:
            process = json.load(answer)["data"]["process"]
    except (OSError, ValueError, KeyError, TypeError):
        process = None
    if process != (client_of(here.call).about() or {}).get("process"):
        found = f"{wanted.door} is not answered by Foreword's daemon, and it is what the host asks."
        return Check("port", "fail", found, "`foreword logs` tells why the port was not opened; see who has it.")
    return Check("port", "ok", f"{wanted.door} is answered by the daemon")


def _started(command: Sequence[str], environ: Mapping[str, str], about: Callable[[], Any]) -> None:
    if not command:
        raise DaemonError("no command to start it is set.", hint="")
    done = subprocess.run(
        list(command),
        env={name: value for name, value in environ.items() if not name.startswith("PYTHON")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_STARTS_WITHIN_S,
        check=False,
    )
    if done.returncode:
        raise DaemonError(f"`{' '.join(command)}` ended with {done.returncode}.", hint="Run it to see why.")
    until = time.monotonic() + _STARTS_WITHIN_S
    while about() is None:
        if time.monotonic() > until:
            raise DaemonError(f"`{' '.join(command)}` ran, and no daemon answers.", hint="`foreword logs` tells why.")
        time.sleep(0.02)


def _foreword_settings(here: _Here, config: Mapping[str, Any]) -> Iterator[Check]:
    """What Foreword's own settings keep from this host's agents."""
    from foreword.compose import excluded

    settings, agents = here.call.loaded.settings, here.host.agents(config)
    path = "`foreword config --path` names the file."
    if not settings.turn.enabled:
        yield Check("agents", "fail", "Injection is switched off (turn.enabled).", f"Switch it on; {path}")
        return
    out = [one for one in agents if excluded(one, frozenset(), settings.turn)]
    if len(out) == len(agents):
        found = f"Every agent is excluded from injection ({', '.join(out)})."
        yield Check("agents", "fail", found, f"Take them out of turn.exclude; {path}")
    elif out:
        yield Check("agents", "warn", f"excluded from injection: {', '.join(out)}", f"turn.exclude; {path}")
    else:
        yield Check("agents", "ok", f"none of {count(len(agents), 'agent')} is excluded")
    if here.host.owners(config) is not None and not settings.owner.ids:
        found = "Nobody is known to be you: who writes to you in private is a stranger."
        yield Check("owner", "warn", found, f"`foreword {here.name} install --owner ID`")
    if settings.bootstrap.enabled and (none := here.host.without_files(config)):
        found = f"{here.host.title} gives {', '.join(none)} no workspace files (contextInjection is never)."
        yield Check("files", "warn", found, "Set agents.defaults.contextInjection to always.")


def _turns(here: _Here, config: Mapping[str, Any]) -> Check:
    """The newest turn that this host asked about, from its receipt."""
    from foreword.serve import trail

    client = client_of(here.call)
    newest: dict[str, Any] | None = None
    for agent in here.host.agents(config):
        try:
            receipt = client.call("why", {"agent": agent})["receipt"]
        except UnknownId:
            continue
        if receipt["session"].startswith(f"agent:{agent}:") and (newest is None or receipt["at"] > newest["at"]):
            newest = receipt
    since = here.installation.at
    failed = [one for one in trail.failures(client.address.failures, since_s=_FAILURES_OF_S) if one.host == here.name]
    if failed and (newest is None or failed[-1].at > _stamp(newest["at"])):
        last = failed[-1]
        found = f"the last call failed at {last.at}: {printable(last.cause)}"
        return Check("turns", "warn", found, "Say something to your agent, then check again.")
    if newest is None or _stamp(newest["at"]) < since:
        found = f"{here.host.title} has not asked about a turn since the install"
        return Check("turns", "warn", found, "Say something to your agent, then check again.")
    given = sum(one["injected"] for one in newest["candidates"])
    said = count(given, "memory", "memories") + " given" if given else f"silence, because {newest['reason']}"
    return Check("turns", "ok", f"last asked {_stamp(newest['at'])}: {said}")


def _stamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
