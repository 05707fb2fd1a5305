"""The user's settings file, changed in place: what a person wrote around the changed values stays as it is."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from foreword.errors import BadSettings
from foreword.files import replace_file
from foreword.install import toml


def change(file: Path, values: Mapping[str, float], *, fresh: str) -> Path | None:
    """Put values such as `{"gate.floor": 0.5}` into the file, all of them or none; a file that is missing begins as
    `fresh`. Returns where the file is kept as it was before, None when there was none. Raises BadSettings."""
    # A settings file is often a link into a folder that is kept elsewhere; replaced, the link would be lost.
    real = file.resolve()
    before: bytes | None = None
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        if real.exists():
            if not real.is_file():
                raise BadSettings(f"{file} is not a file.", hint="Set FOREWORD_CONFIG to another path.")
            before = real.read_bytes()
        after = toml.rewritten(fresh if before is None else before.decode("utf-8"), values)
        if before is None:
            replace_file(real, after.encode(), mode=0o600)
            return None
        mode = stat.S_IMODE(real.stat().st_mode)
        backup = real.with_name(real.name + ".bak")
        replace_file(backup, before, mode=mode)
        replace_file(real, after.encode(), mode=mode)
    except OSError as error:
        raise BadSettings(
            f"{file} cannot be written: {error.strerror}; it is as it was.",
            hint="Fix its permissions, or set FOREWORD_CONFIG to another path.",
        ) from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{file} is not UTF-8 text; it is as it was.", hint=_by_hand(values)) from error
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{file} is not valid TOML: {error}; it is as it was.", hint="Correct it first.") from error
    except ValueError as error:
        raise BadSettings(f"{file} cannot be changed: {error}; it is as it was.", hint=_by_hand(values)) from error
    return backup


def _by_hand(values: Mapping[str, float]) -> str:
    return f"Set it by hand: {', '.join(f'{name} = {value}' for name, value in values.items())}."
