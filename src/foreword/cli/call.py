"""One call of the program: its arguments, its settings, its engine and its screen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.cli.screen import Screen
from foreword.errors import BadInput

if TYPE_CHECKING:
    from foreword.engine import Foreword
    from foreword.settings import Loaded


class Exit(IntEnum):
    OK = 0
    NO = 1
    USAGE = 2
    STORE = 3
    SETTINGS = 4
    UNEXPECTED = 70
    INTERRUPTED = 130
    PIPE = 141


class Call:
    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.args = args
        self.screen = screen

    @cached_property
    def loaded(self) -> Loaded:
        """The settings as this folder and this environment give them; nothing is said about what is wrong in them."""
        from foreword.settings import load

        return load(project=Path.cwd())

    @property
    def home(self) -> Path:
        given: str | None = self.args.home
        if given is not None and not given.strip():
            raise BadInput("--home is empty.", hint="Give a folder, or leave it out.")
        return Path(given or self.loaded.settings.store.home).expanduser()

    def open(self) -> Foreword:
        """The engine on this call's home; what is wrong in the settings is said on stderr."""
        from foreword.engine import Foreword

        for warning in self.loaded.warnings:
            self.screen.warn(warning)
        return Foreword.open(self.home, settings=self.loaded.settings)

    def answer(self, data: Mapping[str, Any], lines: Iterable[str] = ()) -> None:
        """The answer on stdout: the wire's envelope for scripts, lines for people."""
        if self.screen.as_json:
            self.screen.document({"status": "ok", "data": data})
        else:
            for line in lines:
                self.screen.write(line)

    def text(self) -> str:
        """The text of the call: its arguments, or standard input when there are none or a lone dash."""
        words: list[str] = self.args.text
        if words and words != ["-"]:
            return " ".join(words)
        if sys.stdin is None or (not words and sys.stdin.isatty()):
            raise BadInput("There is no text.", hint="Give it as an argument, or on standard input.")
        return read_input()


def read_input() -> str:
    """Standard input as text. Bytes that are no UTF-8 are replaced: half a message is better than none."""
    return sys.stdin.buffer.read().decode("utf-8", "replace")
