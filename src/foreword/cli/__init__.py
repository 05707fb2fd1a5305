"""The `foreword` program: one short function for each verb, and one door that catches what they raise."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Sequence

from foreword.cli.call import Call, Exit
from foreword.cli.parser import build
from foreword.cli.screen import Screen
from foreword.errors import (
    BadInput,
    BadSettings,
    DaemonError,
    ForewordError,
    HostError,
    ProviderError,
    ReviewError,
    RolloutError,
    StoreError,
    UnknownId,
)

__all__ = ["main"]

# First match wins, so the narrow ones come first.
_EXITS: tuple[tuple[type[Exception], Exit], ...] = (
    (UnknownId, Exit.NO),
    (ReviewError, Exit.NO),
    (BadInput, Exit.USAGE),
    (StoreError, Exit.STORE),
    (DaemonError, Exit.STORE),
    (BadSettings, Exit.SETTINGS),
    (ProviderError, Exit.SETTINGS),
    (HostError, Exit.SETTINGS),
    (RolloutError, Exit.SETTINGS),
    (OSError, Exit.STORE),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and answer its exit code. Never raises, except SystemExit for --help and --version."""
    given = list(sys.argv[1:] if argv is None else argv)
    # An error in the arguments is found before they are parsed, and still has to be told in the way they ask for.
    as_json = "--json" in given[: given.index("--") if "--" in given else None]
    _prepare_streams(as_json)
    screen = Screen(as_json=as_json, color=False if "--no-color" in given else None)
    try:
        args = build().parse_args(given or ["--help"])
        exit_code: int = args.verb(Call(args, screen))
        sys.stdout.flush()
        return exit_code
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it flushes on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.PIPE
    except KeyboardInterrupt:
        screen.note("")
        return Exit.INTERRUPTED
    except (ForewordError, OSError) as error:
        _debug()
        if "hook" in given[:3] and not sys.stdin.isatty():
            return _failed_hook(given, str(error))
        if isinstance(error, ForewordError):
            screen.refuse(error.code, str(error))
        else:
            screen.refuse("system", f"{error.filename or 'The system'}: {error.strerror or error}.")
        return next(exit_code for kind, exit_code in _EXITS if isinstance(error, kind))
    except Exception as error:  # noqa: BLE001  the one door: nobody is to meet a traceback
        _debug()
        screen.refuse(
            "unexpected",
            f"Something went wrong that should not have: {type(error).__name__}. FOREWORD_DEBUG=1 shows the traceback.",
        )
        return Exit.UNEXPECTED


def _failed_hook(given: Sequence[str], cause: str) -> int:
    """A host takes some exit codes for a command to stop; so it is told nothing, and doctor everything."""
    from foreword.serve import address, trail

    host, event, *_ = [one for one in given[given.index("hook") + 1 :] if not one.startswith("-")] + ["", ""]
    here = address.address(os.environ)
    with contextlib.suppress(ForewordError, OSError):
        here.make()
        trail.note_failure(here.failures, host, event, cause)
    return Exit.OK


def _debug() -> None:
    if os.environ.get("FOREWORD_DEBUG"):
        traceback.print_exc()


def _prepare_streams(as_json: bool) -> None:
    """No character may stop the program; and JSON is UTF-8, whatever the terminal speaks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if as_json and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
