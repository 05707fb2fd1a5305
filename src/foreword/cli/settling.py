"""init, config: the home, and the settings with where each came from."""

from __future__ import annotations

import json
import textwrap
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs
from foreword.errors import BadInput, BadSettings

if TYPE_CHECKING:
    from foreword.settings import Key

_NEXT = """\
Next:
  foreword record "Maya's cat is called Biscuit."
  foreword brief "What is Maya's cat called?"
  foreword doctor"""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "init",
        init,
        summary="make the home and a settings file to edit",
        more="What exists already is left as it is.",
        example="foreword init --dry-run",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be made, and make nothing")

    parser = verbs.add(
        "config",
        config,
        summary="every setting, its value and where it came from",
        example="foreword config gate.confident",
    )
    parser.add_argument("key", nargs="?", metavar="KEY", help="one setting; its value alone is printed")
    parser.add_argument("--path", action="store_true", help="print the path of the settings file alone")


def init(call: Call) -> int:
    from foreword.settings import config_file

    home, file = call.home, config_file()
    missing = {str(path): not path.exists() for path in (home, file)}
    if not call.args.dry_run:
        with call.open():
            pass
        missing[str(file)] = _write_once(file)
    verb = "would be made" if call.args.dry_run else "made"
    made = [path for path, was_missing in missing.items() if was_missing]
    lines = [
        f"{path}  {verb if was_missing else 'exists already, left as it is'}" for path, was_missing in missing.items()
    ]
    data = {"home": str(home), "config": str(file), "made": made, "dry_run": bool(call.args.dry_run)}
    call.answer(data, [*lines, "", _NEXT])
    return Exit.OK


def _write_once(file: Path) -> bool:
    """Writes the settings file unless there is one; whether it did. Raises BadSettings."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as target:
            try:
                target.write(commented())
                target.flush()
            except OSError:
                # Half a settings file would be left alone as "exists already" ever after.
                file.unlink(missing_ok=True)
                raise
    except FileExistsError:
        if file.is_dir() or not file.parent.is_dir():
            raise BadSettings(f"{file} cannot be a file.", hint="Set FOREWORD_CONFIG to another path.") from None
        return False
    except OSError as error:
        raise BadSettings(
            f"{file} cannot be written: {error.strerror}.", hint="Set FOREWORD_CONFIG to another path."
        ) from error
    return True


def commented() -> str:
    """A settings file with every setting, its sentence and its default, none of them in force."""
    from foreword.settings import keys

    lines = [
        "# Foreword's settings. Take away the # before a line to change it; `foreword config` shows what is in force.",
        "# The environment comes before this file: FOREWORD_GATE_FLOOR=0.2 sets gate.floor.",
    ]
    section = ""
    for key in keys():
        room, _, name = key.name.rpartition(".")
        if room != section:
            section = room
            lines += ["", f"[{room}]"]
        lines += ["", *(f"# {line}" for line in textwrap.wrap(key.help, 98)), f"# {name} = {_toml(key.default)}"]
    return "\n".join(lines) + "\n"


def config(call: Call) -> int:
    from foreword.settings import config_file, keys

    if call.args.path:
        if call.args.key:
            raise BadInput("A key and --path were both given.", hint="Give one of them.")
        call.answer({"path": str(config_file())}, [str(config_file())])
        return Exit.OK
    for warning in call.loaded.warnings:
        call.screen.warn(warning)
    known = list(keys())
    if call.args.key:
        return _one(call, known)
    rows = [_row(call, key) for key in known]
    if call.screen.as_json:
        call.answer({"file": str(config_file()), "settings": rows, "warnings": list(call.loaded.warnings)})
    else:
        call.screen.table(
            ("setting", "from", "value"),
            [(row["key"], row["source"], _toml(row["value"])) for row in rows],
        )
    return Exit.OK


def _one(call: Call, known: list[Key]) -> int:
    wanted = call.args.key
    key = next((one for one in known if one.name == wanted), None)
    if key is None:
        close = get_close_matches(wanted, [one.name for one in known], n=1)
        raise BadInput(
            f"'{wanted[:60]}' is not a setting.",
            hint=f"Did you mean {close[0]}?" if close else "`foreword config` lists them.",
        )
    row = _row(call, key)
    value = row["value"]
    call.answer(row, [value if isinstance(value, str) else _toml(value)])
    return Exit.OK


def _row(call: Call, key: Key) -> dict[str, Any]:
    from foreword.settings import value_of

    value, source = value_of(call.loaded.settings, key.name), call.loaded.sources.get(key.name, "default")
    if key.name == "store.home" and call.args.home:
        value, source = str(call.home), "--home"
    return {
        "key": key.name,
        "value": _plain(value),
        "source": source,
        "default": _plain(key.default),
        "help": key.help,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, str) else value


def _toml(value: Any) -> str:
    """JSON's strings, numbers, booleans and flat lists are TOML's too."""
    return json.dumps(_plain(value), ensure_ascii=False)
