"""The parsers of all verbs, made from the families of verbs. Nothing here or in a family imports the engine on load."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NoReturn

import foreword
from foreword.cli.call import Call
from foreword.errors import BadInput

EXITS = """\
exit codes:
  0    done; also when there was nothing to say or to record
  1    the answer is no: nothing found, no such id, a check failed, not confirmed
  2    the arguments or the input cannot be used
  3    the memory store or the daemon cannot be used: damaged, busy, unwritable, out of reach
  4    a setting, a model provider or a host's own settings cannot be used
  70   a bug; FOREWORD_DEBUG=1 shows the traceback
  130  interrupted
"""
_ABOUT = """\
Foreword remembers what an agent saw and, before its model answers, gives it the few things worth knowing:
relevant, bounded, explained, or nothing at all.
"""
_NEXT = "Start with `foreword demo`, then `foreword init`. `foreword VERB --help` explains a verb with an example.\n"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # argparse would print usage and leave; the door tells errors in one way, also as JSON.
        raise BadInput(f"{message[:1].upper()}{message[1:]}.", hint=f"See `{self.prog} --help`.")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            close = get_close_matches(str(value), action.choices, n=1)
            raise BadInput(
                f"'{value}' is not a verb.", hint=f"Did you mean {close[0]}?" if close else f"See `{self.prog} --help`."
            )
        super()._check_value(action, value)


class _Layout(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        # A fixed width, because the reference is made of this text.
        super().__init__(prog, max_help_position=28, width=100)


class Verbs:
    """Where the families of verbs add theirs."""

    def __init__(self, into: Any) -> None:
        self._into = into

    def add(
        self, name: str, run: Callable[[Call], int], *, summary: str, example: str, more: str = ""
    ) -> argparse.ArgumentParser:
        """`example` is shown as it would be typed, one command a line."""
        shown = "\n".join(f"  {line}" for line in example.splitlines())
        parser: argparse.ArgumentParser = self._into.add_parser(
            name,
            help=summary,
            description=f"{summary[:1].upper()}{summary[1:]}.{' ' + more if more else ''}",
            epilog=f"example:\n{shown}\n",
            formatter_class=_Layout,
            allow_abbrev=False,
        )
        _add_common(parser, default=argparse.SUPPRESS)
        parser.set_defaults(verb=run)
        return parser


def build() -> argparse.ArgumentParser:
    from foreword.cli import (
        briefing,
        doctor,
        explaining,
        forgetting,
        health,
        hosting,
        importing,
        listing,
        measuring,
        reading,
        recording,
        rolling,
        serving,
        settling,
        teaching,
        tending,
        tidying,
        tuning,
        vaults,
    )
    from foreword.cli import demo as demonstration

    parser = _Parser(
        prog="foreword",
        description=_ABOUT,
        epilog=f"{EXITS}\n{_NEXT}",
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"foreword {foreword.__version__}")
    _add_common(parser, default=None)
    into = parser.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=_Parser)
    verbs = Verbs(into)
    families = (
        settling,
        recording,
        importing,
        briefing,
        reading,
        explaining,
        tuning,
        forgetting,
        vaults,
        health,
        doctor,
        serving,
        hosting,
        listing,
        tending,
        rolling,
        teaching,
        tidying,
        demonstration,
        measuring,
    )
    for family in families:
        family.add(verbs)
    return parser


def _add_common(parser: argparse.ArgumentParser, *, default: Any) -> None:
    """The flags every verb takes, before or after its name; after it without a default, which would undo the first."""
    group = parser.add_argument_group("everywhere")
    group.add_argument("--home", metavar="DIR", default=default, help="the folder that holds the memories")
    group.add_argument("--json", action="store_true", default=default, help="answer with one JSON document")
    group.add_argument("--no-color", action="store_true", default=default, help="never use colour")


def add_text(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "text", nargs="*", metavar="TEXT", help=f"{what}; without it, or as `-`, standard input is read"
    )


def add_place(parser: argparse.ArgumentParser, *names: str, session_required: bool = False) -> None:
    """The flags that say where something happens; only those that `names` lists."""
    helps = {
        "session": "key of the conversation, such as `agent:main:main`",
        "agent": "who runs; without it the session key tells",
        "sender": "who wrote, as an id or a name",
        "channel": "by which way it came, such as `telegram`",
        "project": "the project it belongs to",
    }
    for name in names:
        required = session_required and name == "session"
        parser.add_argument(f"--{name}", default="", metavar=name.upper(), help=helps[name], required=required)


def moment(text: str) -> float:
    """Seconds since 1970 from such seconds, or from an ISO date or time; one without a zone is local."""
    from foreword import imports

    try:
        return imports.moment(text)
    except BadInput as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to 1")
    return number


def at_least(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
        return number

    return whole
