"""Writes what is made from the code, `docs/reference/` and the adapters' types: `python -m tools.reference`, or with
`--check` fails when any of it is stale."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from foreword import errors
from foreword.model import Style
from foreword.serve import skill
from foreword.settings import PROFILES, PROJECT_FILE, keys
from tools import wire

FOLDER = Path(__file__).resolve().parents[1]


_MAY = {"": "", "any": "set", "raise": "raise", "lower": "lower"}
_MAY_SWITCH = {"": "", "any": "set", "raise": "switch on", "lower": "switch off"}


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "One TOML file, `~/.config/foreword/config.toml` (`foreword config --path` tells where). Later wins: defaults,",
        f"the profile, this file, a project's `{PROJECT_FILE}` (what the column says, because it arrives with",
        "the code), the environment (`FOREWORD_GATE_FLOOR` for `gate.floor`). `foreword config` shows every value and",
        "where it came from.",
        "",
        "| key | default | a project may | |",
        "|---|---|---|---|",
    ]
    for key in keys():
        may = (_MAY_SWITCH if key.type is bool else _MAY)[key.project]
        lines.append(f"| `{key.name}` | {_shown(key.default)} | {may} | {key.help} |")
    lines += ["", "## Profiles", "", "A profile is a named set of settings over the one engine.", ""]
    for name, sections in PROFILES.items():
        values = [
            f"`{section}.{key} = {_shown(value).strip('`')}`"
            for section, inner in sections.items()
            for key, value in inner.items()
        ]
        lines.append(f"- **{name}**: {', '.join(values) or 'the defaults'}")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    lines = [
        "# Errors",
        "",
        "What Foreword raises on purpose. `code` is the name on the wire and in `--json`.",
        "",
        "| class | code | message | next step |",
        "|---|---|---|---|",
    ]
    for one in vars(errors).values():
        if isinstance(one, type) and issubclass(one, errors.ForewordError):
            message = (one.__doc__ or "").strip()
            lines.append(f"| `{one.__name__}` | `{one.code}` | {message} | {one.hint or 'it names one'} |")
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, Style):
        value = value.value
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value) or "none"
    if isinstance(value, bool):
        value = str(value).lower()
    return f"`{value}`" if value != "" else "none"


def pages() -> Mapping[str, Callable[[], str]]:
    """What each file has to say, by its path below the repository's folder."""
    cli = importlib.import_module("foreword.cli.reference")
    return {
        "docs/reference/settings.md": settings_page,
        "docs/reference/errors.md": errors_page,
        "docs/reference/cli.md": cli.text,
        "docs/reference/wire.md": wire.page,
        "docs/reference/wire.schema.json": wire.schema,
        "adapters/kit/wire.ts": wire.types,
        "adapters/kit/tools.ts": wire.tools,
        "src/foreword/install/plugins/openclaw/skills/foreword-recall/SKILL.md": lambda: skill.card(notes=False),
        "src/foreword/install/plugins/claude-code/skills/foreword-recall/SKILL.md": skill.card,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    options = parser.parse_args(argv)
    stale = []
    for name, page in pages().items():
        file = FOLDER / name
        text = page()
        if not file.exists() or file.read_text("utf-8") != text:
            stale.append(name)
            if not options.check:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
    if stale:
        print(f"{'stale' if options.check else 'written'}: {', '.join(stale)}")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
