"""Gathers the rooms' settings; the only reader of settings files and of the environment.

Later wins: defaults, the profile, the user's file, a project's file, the environment. A project's file arrives with
`git clone`, so it may only make Foreword say less: raise a threshold, lower a budget, switch something off. A value
that cannot be used is named in a warning and the next one down stands.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from foreword.bootstrap import BootstrapSettings
from foreword.classify import OwnerSettings
from foreword.compose import ComposeSettings, TurnSettings
from foreword.errors import BadSettings
from foreword.gate import GatePolicy, at_most
from foreword.lanes import LaneSettings
from foreword.model import Style
from foreword.providers import EmbedderSettings, WriterSettings
from foreword.recall import IntentSettings, RecallSettings
from foreword.record import GuardSettings, RecordSettings, RetentionSettings, VaultSettings
from foreword.store import StoreSettings
from foreword.summary import SummarySettings
from foreword.values import dataclass

PROJECT_FILE = ".foreword.toml"
_ENVIRONMENT = "FOREWORD_"
_MAX_FILE_BYTES = 1_000_000
# No number needs more, and one with hundreds of digits would overflow where it is used.
_MOST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Here and not beside the doors, which stand above the engine and everything that it reads."""

    deadline_ms: int = field(
        default=300, metadata={"help": "How long a host's hook waits for its brief; past it, silence.", "min": 1}
    )
    cold_deadline_ms: int = field(
        default=600, metadata={"help": "The same when the daemon has to be started first.", "min": 1}
    )
    idle_minutes: float = field(
        default=30.0, metadata={"help": "The daemon ends when nobody asked for so long; 0 is never."}
    )
    port: int = field(
        default=0,
        metadata={"help": "A port on loopback for hosts that speak only TCP; 0 is none.", "max": 65535},
    )


@dataclass(frozen=True, slots=True)
class Settings:
    profile: str = "foreword"
    store: StoreSettings = field(default_factory=StoreSettings)
    owner: OwnerSettings = field(default_factory=OwnerSettings)
    record: RecordSettings = field(default_factory=RecordSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    vaults: VaultSettings = field(default_factory=VaultSettings)
    intent: IntentSettings = field(default_factory=IntentSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    gate: GatePolicy = field(default_factory=GatePolicy)
    turn: TurnSettings = field(default_factory=TurnSettings)
    compose: ComposeSettings = field(default_factory=ComposeSettings)
    bootstrap: BootstrapSettings = field(default_factory=BootstrapSettings)
    lanes: LaneSettings = field(default_factory=LaneSettings)
    summary: SummarySettings = field(default_factory=SummarySettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    writer: WriterSettings = field(default_factory=WriterSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)


# A profile is a named set of settings over the one engine, never a second code path.
PROFILES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "foreword": {},
    "ethos": {
        "gate": {"confident": 0.75, "floor": 0.12},
        "turn": {"at_start": False},
        "compose": {"max_memories": 5},
        "lanes": {"hot": "both", "file_name": "ETHOS_CONTEXT.md"},
    },
    "aci": {
        "turn": {"at_start": True},
        "compose": {"max_context_tokens": 500, "max_hot_tokens": 300},
        "bootstrap": {"enabled": True},
    },
    "open-mem": {
        "compose": {"style": "open-mem", "max_context_tokens": 4000, "max_index_entries": 20, "max_summaries": 5},
    },
    "openclaw-mem": {
        "gate": {"confident": 0.5, "floor": 0.5},
        "turn": {"at_start": False},
        "compose": {"style": "plain"},
    },
    "adaptive-memory": {
        "gate": {"confident": 0.55, "floor": 0.55},
        "turn": {"at_start": False, "once_per_session": True, "debounce_ms": 500},
        "intent": {"skip_technical": True},
        "compose": {"max_memories": 3, "max_snippet_chars": 800, "max_hot_chars": 4000, "max_hot_tokens": 1200},
    },
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, where each value that is not a default came from, and what could not be used."""

    settings: Settings = field(default_factory=Settings)
    sources: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """One setting as people write it."""

    name: str
    default: Any
    help: str
    type: type
    project: str
    least: float | None
    most: float | None
    choices: tuple[str, ...] = ()


def keys() -> Iterator[Key]:
    """Every setting there is, in the order of the rooms."""
    yield Key("profile", "foreword", f"A named set of settings: {', '.join(PROFILES)}.", str, "", None, None)
    for section in fields(Settings):
        if section.name == "profile":
            continue
        room: Any = section.default_factory
        hints = get_type_hints(room)
        for one in fields(room):
            yield Key(
                f"{section.name}.{one.name}",
                one.default,
                one.metadata["help"],
                hints[one.name],
                one.metadata.get("project", ""),
                one.metadata.get("min", 0),
                one.metadata.get("max", 1.0 if section.name == "gate" else _MOST),
                one.metadata.get("choices", ()),
            )


def value_of(settings: Settings, name: str) -> Any:
    section, _, key = name.partition(".")
    return getattr(getattr(settings, section), key) if key else getattr(settings, section)


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    if named := environ.get("FOREWORD_CONFIG"):
        # Not Path.expanduser(), which raises for a user who is not known.
        return Path(os.path.expanduser(named))
    folder = environ.get("XDG_CONFIG_HOME") or str(Path(environ.get("HOME", "~")).expanduser() / ".config")
    return Path(folder) / "foreword" / "config.toml"


def load(*, project: Path | None = None, environ: Mapping[str, str] = os.environ) -> Loaded:
    """Read everything there is to read. Never raises: what is broken is named, and the rest still counts."""
    warnings: list[str] = []
    given: list[tuple[str, dict[str, Any]]] = []
    if data_home := environ.get("XDG_DATA_HOME"):
        given.append(("XDG_DATA_HOME", {"store.home": str(Path(data_home) / "foreword")}))
    user_file = config_file(environ)
    given.append((str(user_file), _flat(_read(user_file, warnings))))
    if project is not None:
        given.append((str(project / PROJECT_FILE), _flat(_read(project / PROJECT_FILE, warnings))))
    given.append(("environment", _from_environment(environ)))
    return _gathered(given, warnings, cloned=str(project / PROJECT_FILE) if project else "")


def from_values(values: Mapping[str, Any], *, base: Settings | None = None) -> Settings:
    """Settings from `{"gate.floor": 0.2}`-like values; raises BadSettings for what `load` would only warn about."""
    loaded = _gathered([("the caller", dict(values))], [], base)
    if loaded.warnings:
        raise BadSettings(" ".join(loaded.warnings))
    return loaded.settings


def _gathered(
    given: list[tuple[str, dict[str, Any]]], warnings: list[str], base: Settings | None = None, *, cloned: str = ""
) -> Loaded:
    """`cloned` names the source that is not to be trusted."""
    settings, sources = base or Settings(), {}
    known = {key.name: key for key in keys()}
    for source, values in given:
        if source != cloned and (profile := values.get("profile")) is not None:
            if isinstance(profile, str) and profile in PROFILES:
                settings, sources["profile"] = replace(settings, profile=profile), source
            else:
                warnings.append(
                    f"{source}: profile {_shown(profile)} does not exist; '{settings.profile}' is used."
                    f" There are: {', '.join(PROFILES)}."
                )
    layers = [(f"profile {settings.profile}", _flat(PROFILES[settings.profile])), *given]
    for source, values in layers:
        for name, raw in values.items():
            key = known.get(name)
            if key is None:
                warnings.append(_unknown(source, name, known))
                continue
            if source == cloned and not key.project:
                warnings.append(f"{source}: {name} may not be set by a project's file, which arrives with its code.")
                continue
            if name == "profile":
                continue
            try:
                value = _read_value(key, raw)
            except ValueError as error:
                now = value_of(settings, name)
                warnings.append(f"{source}: {name} = {_shown(raw)} {error}; {_shown(now)} is used.")
                continue
            if source == cloned and (refusal := _loosens(key, value, value_of(settings, name))):
                warnings.append(
                    f"{source}: {name} = {_shown(raw)} {refusal}; {_shown(value_of(settings, name))} is used."
                )
                continue
            section, _, field_name = name.partition(".")
            settings = replace(settings, **{section: replace(getattr(settings, section), **{field_name: value})})
            sources[name] = source
    if settings.gate.floor > settings.gate.confident:
        warnings.append(
            f"gate.floor = {settings.gate.floor} is above gate.confident = {settings.gate.confident};"
            f" both count as {settings.gate.confident}."
        )
        settings = replace(settings, gate=replace(settings.gate, floor=settings.gate.confident))
    # Who says 1 wants silence. The file is only read where it matters.
    if GatePolicy().confident < settings.gate.confident < 1 and settings.gate.confident >= at_most():
        warnings.append(
            f"gate.confident = {settings.gate.confident}: among many memories none is ever {at_most()} sure, so none is"
            " given alone there."
        )
    return Loaded(settings, sources, tuple(warnings))


def _read(file: Path, warnings: list[str]) -> dict[str, Any]:
    try:
        about = file.stat()
        # A cloned project may carry a link to a device or a pipe, which would never end.
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MAX_FILE_BYTES:
            warnings.append(f"{file} is not a settings file; defaults are used.")
            return {}
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        warnings.append(f"{file} cannot be read ({error}); defaults are used.")
        return {}
    import tomllib  # many have no settings file, and every process would wait for it

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        warnings.append(f"{file} is not valid TOML: {error}; defaults are used.")
    except RecursionError:
        warnings.append(f"{file} is not a settings file: it is nested too deeply; defaults are used.")
    return {}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}.{key}": inner for key, inner in value.items()})
        else:
            flat[name] = value
    return flat


def _loosens(key: Key, value: Any, present: Any) -> str:
    """Why a project's file may not set this value, or ""."""
    if key.project == "raise" and value < present:
        return "may only be raised by a project's file"
    if key.project == "lower" and value > present:
        return "may only be lowered by a project's file"
    return ""


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """FOREWORD_GATE_FLOOR for gate.floor. Other FOREWORD_ variables are none of ours to complain about."""
    names = {_ENVIRONMENT + key.name.upper().replace(".", "_"): key.name for key in keys()}
    found: dict[str, Any] = {names[name]: value for name, value in environ.items() if name in names}
    if home := environ.get("FOREWORD_HOME"):
        found["store.home"] = home if home.startswith("~") else os.path.abspath(home)
    return found


def _read_value(key: Key, raw: Any) -> Any:
    """The value in the setting's own type; raises ValueError with the rest of a sentence."""
    if key.type is bool:
        if isinstance(raw, str) and raw.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            return raw.lower() in ("1", "true", "yes", "on")
        if not isinstance(raw, bool):
            raise ValueError("must be true or false")
        return raw
    if key.type in (int, float):
        return _number(key, raw)
    if key.type is Style:
        try:
            return Style(raw)
        except ValueError:
            raise ValueError(f"must be one of {', '.join(Style)}") from None
    if key.type is str:
        if not isinstance(raw, str):
            raise ValueError("must be a string")
        if key.choices and raw not in key.choices:
            raise ValueError(f"must be one of {', '.join(key.choices)}")
        return _folder(raw) if key.name == "store.home" else raw
    items = [one.strip() for one in raw.split(",") if one.strip()] if isinstance(raw, str) else raw
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
        raise ValueError("must be a list of strings")
    return tuple(items)


def _folder(raw: str) -> str:
    if not raw.strip() or "\0" in raw:
        raise ValueError("must name a folder")
    try:
        folder = Path(raw).expanduser()
    except RuntimeError:
        raise ValueError("begins with a user's name that is not known here") from None
    if not folder.is_absolute():
        raise ValueError("must be an absolute path, or begin with ~")  # programs stand in different folders
    return str(folder)


def _number(key: Key, raw: Any) -> int | float:
    number: int | float
    try:
        if isinstance(raw, bool):
            raise ValueError
        number = key.type(raw) if isinstance(raw, str) else raw
        if not isinstance(number, int | float) or (key.type is int and number != int(number)):
            raise ValueError
    except (ValueError, OverflowError):
        raise ValueError(f"must be a {'whole ' if key.type is int else ''}number") from None
    # Written so that NaN, which is neither above nor below anything, fails it.
    if not ((key.least is None or number >= key.least) and (key.most is None or number <= key.most)):
        open_ended = key.most in (None, _MOST) and not number > _MOST
        limits = f"at least {key.least}" if open_ended else f"between {key.least} and {key.most}"
        raise ValueError(f"must be {limits}")
    return key.type(number)  # type: ignore[no-any-return]


def _unknown(source: str, name: str, known: Mapping[str, Key]) -> str:
    from difflib import get_close_matches  # only who mistypes a name waits for it

    close = get_close_matches(name, known, n=1)
    shown = name if name.isprintable() and len(name) <= 60 else _shown(name)
    return f"{source}: {shown} is not a setting" + (f"; did you mean {close[0]}?" if close else "; it is ignored.")


def _shown(value: Any) -> str:
    text = repr(value.value if isinstance(value, Style) else value)
    return text if len(text) <= 60 else text[:58] + "…"
