"""Where the daemon of a home is met: a folder of the user's own, with its socket, its lock and what it leaves behind.

The rule is kept simple, because the hook client (`bin/foreword_hook.py`) and the adapters follow it without reading
settings: below FOREWORD_HOME where that is set, else below the user's data folder. Who names another settings file has
another daemon, or two sets of memories would be answered by one.
"""

from __future__ import annotations

import os
import stat
from binascii import crc32
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from foreword.errors import DaemonError
from foreword.values import dataclass

# What the kernel takes as the path of a Unix socket: 108 bytes on Linux, 104 on macOS, with the NUL that ends it.
_LONGEST_PATH = 100
# The largest text that is kept, in the longest way JSON has to write it, and room for the rest of the request.
MAX_BODY_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class Address:
    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / "daemon.sock"

    @property
    def lock(self) -> Path:
        """Held by the daemon while it lives; holds its process id."""
        return self.folder / "daemon.lock"

    @property
    def log(self) -> Path:
        return self.folder / "daemon.log"

    @property
    def failures(self) -> Path:
        """What went wrong where nobody looks: in a host's hook."""
        return self.folder / "failures.log"

    @property
    def token(self) -> Path:
        """What a client on TCP has to show."""
        return self.folder / "token"

    @property
    def deadlines(self) -> Path:
        """How long a hook waits, for clients that read no settings: two numbers of milliseconds, warm and cold."""
        return self.folder / "deadlines"

    def make(self) -> None:
        """The folder, and the home it is in, for the user alone. Raises DaemonError where it is somebody else's."""
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        about = self.folder.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
            raise DaemonError(f"{self.folder} is not a folder of yours.", hint="Move it away; Foreword makes its own.")
        if stat.S_IMODE(about.st_mode) & 0o077:
            self.folder.chmod(0o700)


def address(environ: Mapping[str, str], home: str | Path | None = None) -> Address:
    if named := home or environ.get("FOREWORD_HOME"):
        return Address(Path(absolute(named), "run"))
    data = environ.get("XDG_DATA_HOME")
    base = Path(absolute(data), "foreword") if data else Path(absolute("~"), ".local/share/foreword")
    if config := environ.get("FOREWORD_CONFIG"):
        return Address(base / f"run-{crc32(os.fsencode(absolute(config))):08x}")
    return Address(base / "run")


def absolute(path: str | Path) -> str:
    """Not normalised, because the clients that follow the same rule do not."""
    return os.path.join(os.getcwd(), os.path.expanduser(path))


@contextmanager
def reachable(socket: Path) -> Iterator[str]:
    """The socket's path as the kernel takes it; one that is too long is led to by a link in a short place."""
    if len(os.fsencode(socket)) <= _LONGEST_PATH:
        yield str(socket)
        return
    import tempfile  # seldom needed, and long to load

    with tempfile.TemporaryDirectory(prefix="foreword-") as folder:
        link = os.path.join(folder, "run")
        os.symlink(socket.parent, link)
        yield os.path.join(link, socket.name)
