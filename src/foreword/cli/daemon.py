"""The daemon of a call's home: how it is reached, and how it is told of to people."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call
from foreword.cli.screen import count, when
from foreword.errors import DaemonError

if TYPE_CHECKING:
    from foreword.serve import client


def environ_of(call: Call) -> dict[str, str]:
    """The environment in which a daemon for this call's home runs."""
    environ = dict(os.environ)
    if call.args.home is not None:
        environ["FOREWORD_HOME"] = str(call.home.absolute())
    return environ


def client_of(call: Call) -> client.Client:
    from foreword.serve import address, client

    environ = environ_of(call)
    return client.Client(address.address(environ), environ)


def running(call: Call) -> dict[str, Any] | None:
    """What the daemon says of itself; None where there is none, and no more than its process where it is stuck."""
    daemon = client_of(call)
    try:
        return daemon.about()
    except DaemonError:
        return {"process": daemon.holder()}


def told(daemon: dict[str, Any] | None) -> str:
    if daemon is None:
        return "not running; a host starts it when it needs it"
    if "version" not in daemon:
        return f"process {daemon['process']} does not answer (`foreword down`)"
    port = f", port {daemon['port']}" if daemon["port"] else ""
    asked = count(daemon["requests"], "request")
    return f"process {daemon['process']}, since {when(daemon['since'])}, {asked}{port}"
