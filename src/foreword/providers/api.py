"""One JSON API over HTTP, for every model outside Foreword: one deadline, no retry, and no message that carries the key
or what was sent."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foreword.errors import BadSettings, ProviderError
from foreword.values import dataclass

if TYPE_CHECKING:
    from http.client import HTTPConnection

# 64 vectors of 3,072 numbers written as JSON are 5 MB; more than this is no answer to the question asked.
LARGEST_ANSWER_BYTES = 64 * 1024 * 1024
READ_AT_ONCE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Names:
    """What messages call the one who is asked, and the settings that lead there."""

    role: str
    section: str
    address: str
    serves: str

    @property
    def url(self) -> str:
        return f"{self.section}.{self.address}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    secure: bool
    host: str
    port: int
    prefix: str


def key_in(environ: Mapping[str, str], key_env: str, provider: str, names: Names) -> str:
    """The key that a variable holds; "" where none is named. Raises ProviderError where it is named and not there."""
    key = environ.get(key_env, "").strip() if key_env else ""
    if key_env and not key:
        raise ProviderError(
            f"{provider} needs an API key, and the environment variable {key_env} is not set.",
            hint=f"Set {key_env}, or name another variable in {names.section}.key_env.",
        )
    if not (key.isascii() and key.isprintable()):
        raise ProviderError(f"The API key in {key_env} cannot be sent: it holds characters no key has.")
    return key


def endpoint_of(url: str, names: Names) -> Endpoint:
    """Raises BadSettings for what is not an address, or carries a secret."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadSettings(f"{names.url} is not an address.", hint=_LIKE) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSettings(f"{names.url} is not an http or https address.", hint=_LIKE)
    if parts.username or parts.password or parts.query:
        # An address ends up in messages and logs; a secret inside it would, too.
        raise BadSettings(
            f"{names.url} may not carry a password or a query.", hint=f"Use {names.section}.key_env for a key."
        )
    secure = parts.scheme == "https"
    return Endpoint(secure, parts.hostname, port or (443 if secure else 80), parts.path.rstrip("/"))


_LIKE = "Write it like http://127.0.0.1:11434."


class Api:
    def __init__(self, *, names: Names, provider: str, endpoint: Endpoint, headers: Mapping[str, str]) -> None:
        self.endpoint = endpoint
        self._names = names
        self._provider = provider
        self._headers = headers

    @property
    def check_address(self) -> str:
        return f"Check that {self._names.url} points at {self._names.serves}."

    def ask(self, path: str, body: Mapping[str, Any], until: float) -> Any:
        """The answer to one request, by `until` on the monotonic clock. Raises ProviderError."""
        # Imported here: the network code is paid for by the first question, not by starting up.
        import http.client

        kind = http.client.HTTPSConnection if self.endpoint.secure else http.client.HTTPConnection
        connection = kind(self.endpoint.host, self.endpoint.port, timeout=self._left(until))
        done: queue.SimpleQueue[tuple[int, bytes] | Exception] = queue.SimpleQueue()

        def converse() -> None:
            try:
                done.put(self._converse(connection, path, json.dumps(body).encode("ascii"), until))
            except (OSError, ValueError, http.client.HTTPException, ProviderError) as error:
                done.put(error)
            finally:
                connection.close()

        # A socket's timeout is for one step. Looking up a name has none, and a server that drips bytes renews it for
        # ever, so the whole conversation runs beside the caller, who leaves at the deadline.
        threading.Thread(target=converse, name=f"ask-{self._provider}", daemon=True).start()
        try:
            outcome = done.get(timeout=self._left(until))
        except queue.Empty:
            _hang_up(connection)
            raise self._too_late() from None
        # From here on no cause is chained: the text of a foreign error may quote what was sent.
        if isinstance(outcome, ProviderError):
            raise outcome
        if isinstance(outcome, TimeoutError):
            raise self._too_late()
        if isinstance(outcome, Exception):
            raise self.error(
                f"could not be reached at {self.endpoint.host}:{self.endpoint.port} ({_cause(outcome)})",
                f"Check that it is running and that {self._names.url} is right.",
            )
        status, content = outcome
        if status != 200:
            raise self._refused(status)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise self.error("answered with something that is not JSON", self.check_address) from None

    def _converse(self, connection: HTTPConnection, path: str, sent: bytes, until: float) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **self._headers}
        connection.request("POST", self.endpoint.prefix + path, sent, headers)
        response = connection.getresponse()
        received = bytearray()
        while some := response.read1(READ_AT_ONCE_BYTES):
            received += some
            if len(received) > LARGEST_ANSWER_BYTES:
                raise self.error("answered with far more than was asked", self.check_address)
            self._left(until)
        if response.length:
            raise ConnectionResetError(0, "the answer broke off")
        return response.status, bytes(received)

    def _left(self, until: float) -> float:
        left = until - time.monotonic()
        if left <= 0:
            raise self._too_late()
        return left

    def _refused(self, status: int) -> ProviderError:
        section, url = self._names.section, self._names.url
        if status in (401, 403):
            return self.error(f"refused the key (HTTP {status})", f"Check the variable named in {section}.key_env.")
        if status == 404:
            return self.error("knows no such model or address (HTTP 404)", f"Check {section}.model and {url}.")
        if status == 429:
            return self.error("asks to slow down, or the quota is used up (HTTP 429)", "Wait, or raise the quota.")
        if status >= 500:
            return self.error(f"failed on its side (HTTP {status})", "Try again in a while.")
        return self.error(f"refused the request (HTTP {status})", f"Check {section}.model and its other settings.")

    def _too_late(self) -> ProviderError:
        hint = f"Raise {self._names.section}.deadline_ms, or use a nearer model."
        return self.error("did not answer before the deadline", hint)

    def error(self, what: str, hint: str = "") -> ProviderError:
        found = f"The {self._names.role} {self._provider} {what}."
        return ProviderError(found, hint=hint or f"Check {self._names.section}.model.")


def _hang_up(connection: HTTPConnection) -> None:
    """Wakes a thread that waits on the connection; closing alone would leave it waiting."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):  # the other side may have hung up first
            connection.sock.shutdown(socket.SHUT_RDWR)


def _cause(error: Exception) -> str:
    # The system's own words for it; an exception's text may quote what was sent.
    return str(getattr(error, "strerror", "") or type(error).__name__)
