"""A client of the daemon for programs that have the time to import this: the command line, the MCP server, tests.

Starts the daemon when there is none. Standard library only, and no numpy: the engine is on the other side.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from foreword import errors
from foreword.errors import DaemonError, ForewordError, TooLarge
from foreword.serve.address import MAX_BODY_BYTES, Address, reachable

_START_WITHIN_S = 10.0
_POLL_S = 0.005
_ENDS_WITHIN_S = 15.0
_ANSWERS_WITHIN_S = 30.0


class _NobodyThere(DaemonError):
    """There is no daemon."""


class Client:
    """One daemon, reached by its socket. Safe to use from several threads: every call is a connection of its own."""

    def __init__(self, here: Address, environ: Mapping[str, str] | None = None) -> None:
        """`environ` is what a daemon is started with; it has to lead to the same address."""
        self.address = here
        self._environ = dict(os.environ if environ is None else environ)

    def call(self, action: str, payload: Mapping[str, Any], *, within_s: float = _ANSWERS_WITHIN_S) -> dict[str, Any]:
        """The answer's data; the daemon is started where there is none. Raises the error that the daemon answered."""
        asked = {"action": action, "payload": payload}
        try:
            status, document = self.request("POST", "/v1", asked, within_s=within_s)
        except _NobodyThere:
            # It may have ended, idle, in this very moment. Whatever it has done of the request already, asking again
            # does no harm: what is known is not kept twice, and a retry is answered as the same turn.
            self.start()
            status, document = self.request("POST", "/v1", asked, within_s=within_s)
        if document.get("status") == "ok":
            data: dict[str, Any] = document["data"]
            return data
        told = document.get("error", {})
        error = _named(told.get("code", ""))(told.get("message", f"The daemon answered {status}."))
        error.hint = ""  # the message holds it already
        raise error

    def about(self) -> dict[str, Any] | None:
        """What the daemon says of itself; None when there is none. Raises DaemonError when it does not answer."""
        if not self._answers():
            return None
        _, document = self.request("GET", "/health", None, within_s=5.0)
        data: dict[str, Any] = document["data"]
        return data

    def start(self) -> bool:
        """Have a daemon; whether it had to be started. Raises DaemonError with the last line of its log."""
        if self._answers():
            return False
        before = self._last_words()
        subprocess.run(
            [sys.executable, "-E", "-P", "-m", "foreword.serve.daemon", "--detach"],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        until = time.monotonic() + _START_WITHIN_S
        while time.monotonic() < until:
            if self._answers():
                return True
            if (said := self._last_words()) != before and "cannot start" in said:
                break
            time.sleep(_POLL_S)
        raise DaemonError(f"The daemon did not start. {self._last_words()}".strip())

    def stop(self) -> bool:
        """End the daemon and wait until it is gone; whether there was one. Raises DaemonError when it stays."""
        holder = self.holder()
        if holder is None:
            return False
        with contextlib.suppress(ForewordError):
            self.request("POST", "/down", None, within_s=2.0)
        until = time.monotonic() + _ENDS_WITHIN_S
        told = False
        while self.holder() is not None:
            if time.monotonic() > until:
                raise DaemonError(f"Process {holder} does not end.", hint=f"End it with `kill -9 {holder}`.")
            # One that has only just begun has not written its number yet, and 0 would mean everybody here.
            if not told and holder > 1 and time.monotonic() > until - _ENDS_WITHIN_S + 1.0:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(holder, signal.SIGTERM)
                told = True
            time.sleep(_POLL_S)
        return True

    def holder(self) -> int | None:
        """The process that holds the daemon's lock; None when nobody does."""
        import fcntl

        try:
            with open(self.address.lock, encoding="ascii") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(lock.read().strip() or 0)
        except (OSError, ValueError):
            return None
        return None

    def request(
        self, method: str, path: str, document: Mapping[str, Any] | None, *, within_s: float
    ) -> tuple[int, dict[str, Any]]:
        with self._connected(within_s) as connection:
            body = None if document is None else json.dumps(document).encode("ascii")
            if body is not None and len(body) > MAX_BODY_BYTES:
                raise TooLarge(f"The request is larger than {MAX_BODY_BYTES // 1_000_000} MB.")
            connection.request(method, path, body=body, headers={"Host": "foreword"})
            response = connection.getresponse()
            answered: dict[str, Any] = json.loads(response.read())
            return response.status, answered

    @contextlib.contextmanager
    def _connected(self, within_s: float) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection("foreword", timeout=within_s)
        try:
            connection.sock = self._socket(within_s)
            yield connection
        except TimeoutError as error:
            raise DaemonError(f"The daemon did not answer within {within_s:g} s.") from error
        except (FileNotFoundError, ConnectionError, http.client.RemoteDisconnected) as error:
            raise _NobodyThere("The daemon is not there, or went away.") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DaemonError(f"The daemon cannot be reached: {error}.") from error
        finally:
            connection.close()

    def _socket(self, within_s: float) -> socket.socket:
        if self.address.folder.stat().st_uid != os.getuid():
            raise PermissionError(f"{self.address.folder} is somebody else's")
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(within_s)
        until = time.monotonic() + within_s
        try:
            with reachable(self.address.socket) as path:
                while True:
                    try:
                        made.connect(path)
                        return made
                    except BlockingIOError:  # a Unix socket says so when too many stand at the door
                        if time.monotonic() > until:
                            raise TimeoutError from None
                        time.sleep(_POLL_S)
        except BaseException:
            made.close()
            raise

    def _answers(self) -> bool:
        try:
            self._socket(1.0).close()
        except OSError:
            return False
        return True

    def _last_words(self) -> str:
        try:
            lines = self.address.log.read_text("utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""


def _named(code: str) -> type[ForewordError]:
    found = [one for one in vars(errors).values() if isinstance(one, type) and getattr(one, "code", None) == code]
    return found[0] if found else ForewordError
