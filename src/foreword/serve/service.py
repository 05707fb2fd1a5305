"""The daemon as a service of the user's own: the file that systemd or launchd reads, and where it belongs."""

from __future__ import annotations

import plistlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from foreword.values import dataclass

_NAME = "foreword"
_LABEL = "foreword.daemon"
# What decides where memories and settings are, and where the daemon is met.
_PASSED = ("FOREWORD_HOME", "FOREWORD_CONFIG", "XDG_DATA_HOME", "XDG_CONFIG_HOME")


@dataclass(frozen=True, slots=True)
class Service:
    """`start` and `stop` are the commands that make the manager take up the file, or let go of it."""

    file: Path
    text: str
    start: Sequence[Sequence[str]]
    stop: Sequence[Sequence[str]]


def service(environ: Mapping[str, str], *, platform: str = sys.platform) -> Service:
    """A service runs whether anybody asks or not, so it does not end when idle."""
    command = [sys.executable, "-E", "-P", "-m", "foreword.serve.daemon"]
    passed = {name: environ[name] for name in _PASSED if environ.get(name)}
    variables = {**passed, "FOREWORD_SERVE_IDLE_MINUTES": "0"}
    user = Path(environ.get("HOME", "~")).expanduser()
    if platform == "darwin":
        return _launchd(user, command, variables)
    config = environ.get("XDG_CONFIG_HOME")
    return _systemd(Path(config) if config else user / ".config", command, variables)


def _systemd(config: Path, command: Sequence[str], variables: Mapping[str, str]) -> Service:
    lines = [
        "[Unit]",
        "Description=Foreword: the right words before your agent speaks",
        "",
        "[Service]",
        # In a command a dollar begins a variable; in an environment it is a dollar.
        f"ExecStart={' '.join(_quoted(one.replace('$', '$$')) for one in command)}",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in variables.items()),
        "Restart=on-failure",
        "RestartSec=5",
        "UMask=0077",
        "NoNewPrivileges=yes",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    unit = f"{_NAME}.service"
    user = ("systemctl", "--user")
    return Service(
        config / "systemd" / "user" / unit,
        "\n".join(lines) + "\n",
        start=((*user, "daemon-reload"), (*user, "enable", "--now", unit)),
        stop=((*user, "disable", "--now", unit), (*user, "daemon-reload")),
    )


def _quoted(text: str) -> str:
    """As systemd reads it: in quotes, with its own specifiers taken literally."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _launchd(user: Path, command: Sequence[str], variables: Mapping[str, str]) -> Service:
    file = user / "Library" / "LaunchAgents" / f"{_LABEL}.plist"
    values = {
        "Label": _LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(variables),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "Umask": 0o077,
        "ProcessType": "Background",
    }
    return Service(
        file,
        plistlib.dumps(values).decode(),
        start=(("launchctl", "load", "-w", str(file)),),
        stop=(("launchctl", "unload", "-w", str(file)),),
    )
