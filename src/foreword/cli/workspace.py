"""Which workspace a verb means: the one that is named, else where OpenClaw says that its agent works, else here."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from foreword.cli.call import Call
from foreword.errors import BadInput, HostError


def add_workspace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace",
        metavar="DIR",
        default="",
        help="the agent's workspace; by default OpenClaw's, and this folder where there is none",
    )


def workspace_of(call: Call) -> Path:
    if call.args.workspace:
        return Path(os.path.abspath(os.path.expanduser(call.args.workspace)))
    from foreword.install import INSTALLERS

    host = INSTALLERS["openclaw"]
    file = host.config_file(os.environ)
    try:
        found = host.workspace(file, host.read(file)) if file.exists() else None
    except HostError as error:
        call.screen.warn(f"{error} So this folder is taken for the workspace.")
        found = None
    return found if found is not None and found.is_dir() else Path.cwd()


def confirmed(call: Call, question: str, what: str) -> bool:
    """Whether a person agrees, asked on the terminal. Raises BadInput where nobody is there to be asked."""
    if call.args.yes:
        return True
    if call.screen.as_json or not (sys.stdin and sys.stdin.isatty()):
        raise BadInput(
            f"Nobody is here to agree that {what}.", hint="Give --yes to do it, or --dry-run to see what would change."
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
