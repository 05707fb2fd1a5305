"""What an installer knows of its host: which files to change and how, and whether what was put there still works."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from foreword.install.check import Check
from foreword.install.installation import Change, Put, whole
from foreword.values import dataclass

PLUGINS = Path(__file__).with_name("plugins")

# Runs the host's own program and answers its JSON, or its answer to the last line of a `talk`; raises HostError.
Answers = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a host's plugin belongs, and what leads it to this very Foreword: `variables` such as `FOREWORD_HOME=…`
    for what is not where Foreword would look by itself, `program` for its command, `daemon` for what starts the
    daemon. `home` is "" where the settings alone tell it. `door` is the address on loopback of a daemon that stays, ""
    where there is none, and `token` what opens it."""

    folder: Path
    home: str
    program: str
    daemon: tuple[str, ...]
    variables: tuple[str, ...] = ()
    door: str = ""
    token: str = ""

    def command(self, *arguments: str) -> list[str]:
        """What runs Foreword with these arguments, without a shell."""
        return [*(("/usr/bin/env", *self.variables) if self.variables else ()), self.program, *arguments]

    def line(self, *arguments: str) -> str:
        """The same for a shell."""
        return shlex.join(self.command(*arguments))


@dataclass(frozen=True, slots=True)
class Owners:
    """Who owns this host, by its allow-lists. `several` may all write, and nobody here can tell which is the owner."""

    ids: tuple[str, ...] = ()
    several: tuple[str, ...] = ()


class Installer:
    """`name` is Foreword's name for the host. `grant` says what installing lets Foreword do: it is
    shown before it is done. Whatever reads a host's file raises HostError."""

    name: str
    title: str
    grant: str
    # Whether the host can ask a daemon at a port by itself.
    by_http = False
    # Whether a project may have settings of its own that load Foreword there alone.
    in_projects = False

    @property
    def program(self) -> str:
        """What a person types to start the host."""
        return self.name

    @property
    def again(self) -> str:
        return f"`foreword {self.name} install`"

    def config_file(self, environ: Mapping[str, str]) -> Path:
        """The host's settings file, by the host's own rule."""
        raise NotImplementedError

    def project_file(self, folder: Path) -> Path:
        """The host's settings file of a project."""
        raise NotImplementedError

    def read(self, file: Path) -> dict[str, Any]:
        raise NotImplementedError

    def plan(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> list[Change]:
        raise NotImplementedError

    def after(self, plan: Sequence[Change], config: Mapping[str, Any], wanted: Wanted) -> str:
        """What the user has to do or to know once the plan is applied."""
        return f"{self.title} takes it up in its next session."

    def asks_by_http(self, folder: Path) -> bool:
        """Whether what is installed in `folder` asks by HTTP."""
        return False

    def granted(self, config: Mapping[str, Any]) -> bool:
        """Whether the user has agreed before."""
        raise NotImplementedError

    def traces(self, file: Path, wanted: Wanted) -> dict[Path, list[Put]]:
        """What Foreword has in the host's files where no record tells how it came there."""
        raise NotImplementedError

    def checks(self, file: Path, config: Mapping[str, Any], wanted: Wanted) -> Iterator[Check]:
        """What the host's settings and the files on disk say, in the order in which the host meets them."""
        raise NotImplementedError

    def running(self, config: Mapping[str, Any], ask: Answers, wanted: Wanted) -> Iterator[Check]:
        """What the host's program itself says."""
        return iter(())

    def daemon(self, config: Mapping[str, Any], wanted: Wanted) -> Sequence[str]:
        """How the host starts the daemon."""
        return wanted.daemon

    def agents(self, config: Mapping[str, Any]) -> list[str]:
        return [self.name]

    def workspace(self, file: Path, config: Mapping[str, Any]) -> Path | None:
        """Where the host's agent keeps its files; None where that is wherever it is started."""
        return None

    def owners(self, config: Mapping[str, Any]) -> Owners | None:
        """None where whoever sits at the machine is the owner."""
        return None

    def without_files(self, config: Mapping[str, Any]) -> list[str]:
        """The agents to which the host gives no workspace files at all, so that it never asks which."""
        return []


def placed(files: Mapping[str, bytes], folder: Path) -> Iterator[Change]:
    """A folder that holds these files and nothing else."""
    for name, data in files.items():
        yield whole(folder / name, data)
    for old in sorted(folder.rglob("*")):
        if old.is_file() and str(old.relative_to(folder)) not in files:
            yield whole(old, None)


def shipped(name: str) -> dict[str, bytes]:
    """The files of a plugin that comes with Foreword, by their names within its folder."""
    folder = PLUGINS / name
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def present(files: Mapping[str, bytes], folder: Path, again: str) -> Check:
    """Whether a folder holds these files as they are."""
    if gone := [name for name in files if not (folder / name).is_file()]:
        if len(gone) == len(files):
            return Check("plugin", "fail", "The plugin is not there.", again)
        return Check("plugin", "fail", f"{folder / gone[0]} is missing.", again)
    if any((folder / name).read_bytes() != data for name, data in files.items()):
        return Check("plugin", "warn", f"{folder}, of another version of Foreword", again)
    return Check("plugin", "ok", f"{folder}, of this version")


def in_home(environ: Mapping[str, str], named: str, *usual: str) -> Path:
    """The folder that a variable names, or the usual one in the user's home."""
    home = environ.get("HOME", "").strip() or os.path.expanduser("~")
    told = environ.get(named, "").strip() if named else ""
    return Path(os.path.abspath(os.path.expanduser(told))) if told else Path(os.path.abspath(home)).joinpath(*usual)
