"""Foreword's entries in a host's lists of hooks, known by what they run: a program called `foreword`, wherever it is,
that is told `hook`, the host and the event."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from foreword.install.installation import Edit
from foreword.install.json5 import member

Entries = Sequence[tuple[str, dict[str, Any]]]


def edits(host: str, hooks: Any, wanted: Entries) -> list[Edit]:
    """What makes a host's hooks call this Foreword and no other: the entries that are wanted go in, and those of a
    Foreword that was elsewhere go out. An entry that somebody changed, or has a hook in too, is left."""
    lines = _lines(wanted)
    given = [
        Edit(("hooks", event), entry, item=True)
        for event, entry in wanted
        if entry in _listed(hooks, event) or not _calls(hooks, event, entry)
    ]
    gone = [
        Edit(("hooks", event), entry, item=True, out=True)
        for event, entry in ours(host, hooks)
        if not lines.get(event, set()).intersection(_commands(entry))
    ]
    return [*given, *gone]


def ours(host: str, hooks: Any) -> Iterator[tuple[str, Any]]:
    """The entries that are Foreword's and nobody else's, by their event."""
    for event in hooks if isinstance(hooks, dict) else ():
        for entry in _listed(hooks, event):
            commands = list(_commands(entry))
            if commands and all(_is_ours(one, host, event) for one in commands):
                yield event, entry


def wrong(host: str, title: str, hooks: Any, wanted: Entries) -> str:
    """What is to be said of hooks that do not call this Foreword, or another one too; "" where there is nothing."""
    lines = _lines(wanted)
    for event, entry in wanted:
        if not _calls(hooks, event, entry):
            return f"{title} does not call this Foreword at {event}."
    for event in hooks:
        for command in (one for entry in _listed(hooks, event) for one in _commands(entry)):
            if _is_ours(command, host, event) and command not in lines.get(event, ()):
                return f"{title} calls another Foreword too at {event}: {command}."
    return ""


def _lines(wanted: Entries) -> dict[str, set[str]]:
    return {event: set(_commands(entry)) for event, entry in wanted}


def _listed(hooks: Any, event: str) -> list[Any]:
    found = member(hooks, (event,))
    return found if isinstance(found, list) else []


def _calls(hooks: Any, event: str, wanted: Mapping[str, Any]) -> bool:
    """Whether the wanted command is run, alone as it was put in or in an entry that somebody changed."""
    (command,) = _commands(wanted)
    return any(command in _commands(entry) for entry in _listed(hooks, event))


def _commands(entry: Any) -> Iterator[str]:
    listed = member(entry, ("hooks",))
    for hook in listed if isinstance(listed, list) else ():
        command = member(hook, ("command",))
        yield command if isinstance(command, str) else ""


def _is_ours(command: str, host: str, event: str) -> bool:
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if words[:1] == ["/usr/bin/env"]:
        words = words[1:]
        while words and "=" in words[0]:
            words = words[1:]
    return len(words) == 4 and PurePath(words[0]).name == "foreword" and words[1:] == ["hook", host, event]
