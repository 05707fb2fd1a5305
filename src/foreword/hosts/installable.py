"""What a host's module knows, so that one set of verbs installs Foreword in any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from foreword.hosts.check import Check
from foreword.hosts.installation import Change, Put

Config = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Owners:
    """Who owns this host, by its allow-lists. `several` may all write, and nobody here can tell which is the owner."""

    ids: tuple[str, ...] = ()
    several: tuple[str, ...] = ()


class Installable(Protocol):
    """A module is one when it has these. `folder` is where the host's plugin is kept, `home` Foreword's own ("" for
    whatever the host's environment says), `command` what starts the daemon. All raise HostError and nothing else."""

    TITLE: str
    GRANT: str

    def config_file(self, environ: Mapping[str, str]) -> Path:
        """The host's settings file, by the host's own rule."""

    def read(self, file: Path) -> dict[str, Any]:
        """The host's settings, as the host reads them."""

    def plan(self, file: Path, config: Config, *, folder: Path, home: str, command: Sequence[str]) -> list[Change]:
        """What has to be changed so that Foreword is in the host, in this order."""

    def granted(self, config: Config) -> bool:
        """Whether what GRANT asks for is given already."""

    def after(self, plan: Sequence[Change], config: Config, folder: Path) -> str:
        """A sentence on what makes the host take it up."""

    def traces(self, file: Path, folder: Path) -> list[Put]:
        """What of the host's settings is Foreword's by its name, where no record tells how it came there."""

    def owners(self, config: Config) -> Owners: ...

    def agents(self, config: Config) -> list[str]:
        """The host's agents, as Foreword calls them."""

    def bootstrap_off(self, config: Config) -> list[str]:
        """The agents to which the host gives no workspace files at all."""

    def start_of(self, config: Config) -> list[str]:
        """The command by which the host starts the daemon."""

    def checks(self, config: Config, *, folder: Path, home: str, command: Sequence[str]) -> Iterator[Check]:
        """What the host's settings and the files on disk say, in the order in which the host meets them."""

    def running(self, config: Config, ask: Callable[..., Any]) -> Iterator[Check]:
        """What the host itself says while it runs. `ask` runs its program and answers its JSON, or raises HostError."""
