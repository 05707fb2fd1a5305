"""Who may come in by TCP: a program of the user's that knows the token, and no page in a browser.

A Unix socket is guarded by the file system. A port on loopback is open to every program of every user here, and to
every page that a browser shows: a page can send requests to it, and can have a name that leads to it.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from foreword.serve.http import Check, Refused

_HERE = ("127.0.0.1", "localhost", "[::1]")


def token_in(file: Path) -> str:
    """The token, made on first use; it stays the same, because hosts' settings hold it."""
    try:
        if found := file.read_text("ascii").strip():
            return found
    except FileNotFoundError:
        pass
    token = secrets.token_urlsafe(32)
    made = file.with_suffix(".new")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="ascii") as writing:
        writing.write(token + "\n")
    os.replace(made, file)
    return token


def guarded(token: str, port: int) -> Check:
    hosts = frozenset(f"{name}:{port}" for name in _HERE)

    def check(method: str, path: str, headers: Mapping[str, str]) -> None:
        if headers.get("host", "").lower() not in hosts:
            raise Refused(403, "This door answers under its own address only.")
        if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
            raise Refused(403, "This door is not for web pages.")
        given = headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise Refused(401, "The token is missing or wrong; it is in the file `token` beside the daemon's socket.")

    return check


def open_to_its_owner(method: str, path: str, headers: Mapping[str, str]) -> None:
    """The Unix socket: the file system has asked already."""
