"""up, down, logs, service, hook, mcp: the daemon and its doors."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.cli.call import Call, Exit
from foreword.cli.daemon import client_of, environ_of
from foreword.cli.parser import Verbs, add_place, at_least
from foreword.cli.screen import printable
from foreword.errors import BadInput, DaemonError

if TYPE_CHECKING:
    from foreword.serve import service as services

_FOLLOW_EVERY_S = 0.25


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "up",
        up,
        summary="start the daemon that serves the hosts, unless it runs",
        more="Hosts start it by themselves when they need it; it ends when nobody has asked for a while.",
        example="foreword up",
    )
    parser.add_argument("--foreground", action="store_true", help="stay here and answer until Ctrl-C")

    verbs.add("down", down, summary="end the daemon; what it has taken is finished", example="foreword down")

    parser = verbs.add("logs", logs, summary="what the daemon noted", example="foreword logs -n 20")
    parser.add_argument("-n", "--lines", type=at_least(1), default=50, metavar="N", help="how many (default 50)")
    parser.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")

    parser = verbs.add(
        "service",
        service,
        summary="run the daemon as a service of yours, or stop doing so",
        more="A systemd user unit on Linux, a launchd agent on macOS.",
        example="foreword service install --dry-run\nforeword service remove",
    )
    parser.add_argument(
        "what", choices=("install", "remove"), help="write the file and start it; or stop and delete it"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the file and the commands, and change nothing")

    parser = verbs.add(
        "hook",
        hook,
        summary="answer a host's hook: its JSON on stdin, its answer on stdout",
        more="Prints nothing and exits with 0 whatever goes wrong; `foreword doctor` shows what did.",
        example="foreword hook claude-code UserPromptSubmit < prompt.json",
    )
    parser.add_argument("host", metavar="HOST", help="claude-code, codex, copilot or gemini")
    parser.add_argument("event", metavar="EVENT", help="the event as the host names it, such as UserPromptSubmit")

    parser = verbs.add(
        "mcp",
        mcp,
        summary="serve memory as tools to a host that speaks MCP",
        more="On stdin and stdout, or as streamable HTTP with --port. Without --agent the agent is `main`.",
        example="foreword mcp --agent claude-code --project .\nforeword mcp --port 8765",
    )
    add_place(parser, "agent", "project")
    parser.add_argument("--port", type=_port, metavar="PORT", help="answer on loopback at this port, with a token")
    parser.add_argument(
        "--audience",
        choices=("private", "group", "external"),
        default="private",
        help="who listens in; beyond private, only reading is offered",
    )


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port; use 1 to 65535")
    return int(text)


def up(call: Call) -> int:
    client = client_of(call)
    if call.args.foreground:
        if call.screen.as_json:
            raise BadInput("--json and --foreground do not go together.", hint="Leave one out.")
        if (holder := client.holder()) is not None:
            raise DaemonError(f"A daemon runs already, process {holder}.", hint="End it with `foreword down`.")
        os.environ.update(environ_of(call))
        from foreword.serve import daemon

        return Exit.OK if daemon.main([]) == 0 else Exit.STORE
    started = client.start()
    about = client.about()
    if about is None:
        raise DaemonError("The daemon started and ended at once.", hint="`foreword logs` tells why.")
    lines = [
        f"{'Started' if started else 'It runs already'}: process {about['process']}, version {about['version']}, at"
        f" {client.address.socket}",
        *([f"and on port {about['port']}, token in {client.address.token}"] if about["port"] else []),
    ]
    call.answer({"started": started, "socket": str(client.address.socket), **about}, lines)
    return Exit.OK


def down(call: Call) -> int:
    ended = client_of(call).stop()
    call.answer({"ended": ended}, ["Ended." if ended else "There was no daemon."])
    return Exit.OK


def logs(call: Call) -> int:
    file = client_of(call).address.log
    lines = _lines(file)[-call.args.lines :]
    if call.screen.as_json and call.args.follow:
        raise BadInput("--json and --follow do not go together.", hint="Leave one out.")
    call.answer({"log": str(file), "lines": lines}, lines or [f"{file} is empty: no daemon has run here yet."])
    if call.args.follow:
        for line in _following(file):
            print(line, flush=True)
    return Exit.OK


def _lines(file: Path) -> list[str]:
    found: list[str] = []
    for part in (file.with_name(file.name + ".1"), file):
        try:
            # A model's server may have been quoted, and what it said may move a terminal's cursor.
            found += map(printable, part.read_text("utf-8", errors="replace").splitlines())
        except FileNotFoundError:
            continue
    return found


def _following(file: Path) -> Iterator[str]:
    seen = file.stat().st_size if file.exists() else 0
    while True:
        time.sleep(_FOLLOW_EVERY_S)
        size = file.stat().st_size if file.exists() else 0
        if size < seen:  # begun anew
            seen = 0
        if size > seen:
            with open(file, encoding="utf-8", errors="replace") as reading:
                reading.seek(seen)
                yield from map(printable, reading.read(size - seen).splitlines())
            seen = size


def service(call: Call) -> int:
    from foreword.serve import service as services

    wanted = services.service(environ_of(call))
    install = call.args.what == "install"
    commands = wanted.start if install else wanted.stop
    if call.args.dry_run:
        lines = [f"would {'write' if install else 'delete'} {wanted.file}", *([wanted.text] if install else [])]
        lines += [f"would run {' '.join(command)}" for command in commands]
        call.answer({"file": str(wanted.file), "text": wanted.text, "commands": [list(one) for one in commands]}, lines)
        return Exit.OK
    changed = _install(call, wanted) if install else wanted.file.exists()
    unmanaged = shutil.which(commands[0][0]) is None
    done = [] if unmanaged else [_ran(command) for command in commands]
    if not install:
        wanted.file.unlink(missing_ok=True)
    lines = [f"{wanted.file} {'written' if install else 'deleted'}" if changed else _nothing(wanted, install=install)]
    if unmanaged and changed:
        lines.append(f"{commands[0][0]} is not here, so nothing was started or stopped; it would be:")
        lines += [f"  {' '.join(command)}" for command in commands]
    lines += [f"{' '.join(command)}: {said}" for command, said in zip(commands, done, strict=False) if said]
    call.answer({"file": str(wanted.file), "changed": changed, "managed": not unmanaged}, lines)
    return Exit.NO if any(done) and install else Exit.OK


def _install(call: Call, wanted: services.Service) -> bool:
    from foreword.files import replace_file

    if wanted.file.exists() and wanted.file.read_text("utf-8") == wanted.text:
        return False
    wanted.file.parent.mkdir(parents=True, exist_ok=True)
    # One daemon for each home: the service takes the place of one that a host has started.
    client_of(call).stop()
    replace_file(wanted.file, wanted.text.encode(), mode=0o644)
    return True


def _nothing(wanted: services.Service, *, install: bool) -> str:
    return f"{wanted.file} is there already, as it should be" if install else f"{wanted.file} is not there"


def _ran(command: Sequence[str]) -> str:
    """What went wrong, or ""."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def hook(call: Call) -> int:
    """The client stands beside the launcher, which starts it without all this; here it is only found and started."""
    beside = Path(sys.executable).with_name("foreword")
    script = str(beside) if beside.exists() else shutil.which("foreword")
    if script is None:
        from foreword.serve import trail

        trail.note_failure(
            client_of(call).address.failures, call.args.host, call.args.event, "`foreword` is not on the path"
        )
        return Exit.OK
    return os.execve(script, [script, "hook", call.args.host, call.args.event], environ_of(call))


def mcp(call: Call) -> int:
    from foreword.serve import mcp as tools_server

    client = client_of(call)
    project = os.path.abspath(call.args.project) if call.args.project else ""
    tools = tools_server.Tools(client, agent=call.args.agent, project=project, audience=call.args.audience)
    if call.args.port:
        client.address.make()
        tools_server.serve_http(tools, call.args.port, token_file=client.address.token, say=call.screen.note)
    else:
        tools_server.serve_stdio(tools)
    return Exit.OK
