"""docs/reference/cli.md, written from the parsers: `python -m foreword.cli.reference > docs/reference/cli.md`."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator

from foreword.cli.parser import build

_ABOUT = """\
# The command line

Written from the program's own help by `python -m foreword.cli.reference`; a test fails when the two differ.

Every verb takes `--json` and then answers with one document: `{"status": "ok", "data": …}` (`bench` without this
envelope), or `{"status": "error", "error": {"code": …, "message": …}}`. Answers go to stdout; remarks,
warnings and progress go to stderr. Colour is used on a terminal only, and never with `NO_COLOR` or `--no-color`.
"""


def text() -> str:
    parser = build()
    parts = [_ABOUT, _block("foreword", parser)]
    for name, verb in _verbs(parser):
        parts.append(_block(f"foreword {name}", verb))
    return "\n".join(parts)


def _verbs(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _block(title: str, parser: argparse.ArgumentParser) -> str:
    out = io.StringIO()
    parser.print_help(out)
    return f"## {title}\n\n```text\n{out.getvalue().rstrip()}\n```\n"


if __name__ == "__main__":
    print(text(), end="")
