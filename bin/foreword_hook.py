"""foreword hook HOST EVENT: carries the host's JSON from stdin to the daemon and the daemon's answer to stdout.

Only modules that are part of the interpreter itself, because importing others would take longer than the whole turn;
the daemon thinks. Whatever goes wrong: nothing on stdout, exit 0, and a line that `foreword doctor` shows. It stands
beside the launcher, as a module, so that it is compiled once and not on every turn.
"""

import posix
import sys
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal
from time import gmtime, monotonic, sleep, strftime

STARTED = monotonic()
# What is still to be imported is where the interpreter keeps its own extensions, if it is not built in: looking for it
# in every other folder first takes longer than loading it.
sys.path[:] = sys.path[-1:]
COLD_DEADLINE_MS = 600
LONGEST_PATH, LARGEST_INPUT, LARGEST_FAILURES = 100, 16_000_000, 64_000
doing = "nothing was begun in time"


def folder_of(user):
    """Of a user by name; of this one without."""
    if not user and posix.environ.get(b"HOME"):
        return posix.environ[b"HOME"]
    from pwd import getpwnam, getpwuid

    found = getpwnam(user.decode()) if user else getpwuid(posix.getuid())
    return found.pw_dir.encode("utf-8", "surrogateescape")


def absolute(path):
    if path[:1] == b"~":
        user, slash, rest = path[1:].partition(b"/")
        return folder_of(user) + slash + rest
    return path if path[:1] == b"/" else posix.getcwdb() + b"/" + path


def run_folder(environ):
    """The same rule as serve/address.py has."""
    if named := environ.get(b"FOREWORD_HOME"):
        return absolute(named) + b"/run"
    data = environ.get(b"XDG_DATA_HOME")
    base = absolute(data) + b"/foreword" if data else folder_of(b"") + b"/.local/share/foreword"
    if config := environ.get(b"FOREWORD_CONFIG"):
        from binascii import crc32

        return base + b"/run-%08x" % crc32(absolute(config))
    return base + b"/run"


def deadlines(folder, environ):
    """How long a host may wait, with a daemon that is ready and with one that is not; the latter, while none says that
    it is ready."""
    try:
        with open(folder + b"/deadlines", "rb") as file:
            warm, cold = file.read(64).split()
    except (OSError, ValueError):
        warm, cold = 0, COLD_DEADLINE_MS
    cold = int(environ.get(b"FOREWORD_SERVE_COLD_DEADLINE_MS", cold))
    return int(environ.get(b"FOREWORD_SERVE_DEADLINE_MS", warm) if warm else cold), cold


def wait_until(deadline_ms):
    """One clock for the whole process, and it goes on whatever the process waits for."""
    setitimer(ITIMER_REAL, max(STARTED + deadline_ms / 1000 - monotonic(), 0.001))
    return STARTED + deadline_ms / 1000


def too_late(*_):
    raise TimeoutError(doing)


def read_all(descriptor):
    parts, size = [], 0
    while part := posix.read(descriptor, 1 << 20):
        parts.append(part)
        size += len(part)
        if size > LARGEST_INPUT:
            raise ValueError(f"the host's input is larger than {LARGEST_INPUT // 1_000_000} MB")
    return b"".join(parts)


def connect(folder):
    import _socket

    if posix.stat(folder).st_uid != posix.getuid():
        raise PermissionError("the run folder is somebody else's")
    path = folder + b"/daemon.sock"
    if len(path) > LONGEST_PATH:
        posix.chdir(folder)
        path = b"daemon.sock"
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    line.connect(path)
    return line


def make(folder):
    """With the folders above it; others may be making them too."""
    try:
        posix.mkdir(folder, 0o700)
    except FileNotFoundError:
        make(folder.rpartition(b"/")[0])
        make(folder)
    except FileExistsError:
        return


def start_daemon(folder):
    """Unless another hook is about to; whether this one did."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    make(folder)
    starting = posix.open(folder + b"/start.lock", posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW, 0o600)
    try:
        flock(starting, LOCK_EX | LOCK_NB)  # held until this process ends
    except BlockingIOError:
        posix.close(starting)
        return False
    posix.posix_spawn(
        sys.executable,
        [sys.executable, "-E", "-P", "-m", "foreword.serve.daemon", "--detach"],
        posix.environ,
        file_actions=[(posix.POSIX_SPAWN_OPEN, number, b"/dev/null", posix.O_RDWR, 0) for number in (0, 1, 2)],
    )
    return True


def reached(folder, until, cold):
    """A connection to the daemon, which is started when there is none, and the moment at which to give up."""
    global doing
    started = False
    while True:
        try:
            return connect(folder), until
        except (FileNotFoundError, ConnectionRefusedError):
            doing = "the daemon did not start in time"
            until = wait_until(cold)
            started = started or start_daemon(folder)
        sleep(0.004)


def carry(host, event, folder):
    """The daemon is called before the host's input is read: it wakes up, or starts, meanwhile."""
    global doing
    warm, cold = deadlines(folder, posix.environ)
    line, until = reached(folder, wait_until(warm), cold)
    doing = "the host did not end its input in time"
    said = read_all(0)
    head = (
        f"POST /hook/{host}/{event} HTTP/1.1\r\nHost: foreword\r\nConnection: close\r\nContent-Length: {len(said)}\r\n"
    )
    again = True
    while True:
        doing = "the daemon did not answer in time"
        answer, body, length = b"", b"", -1
        try:
            line.sendall(f"{head}X-Until: {until:.6f}\r\n\r\n".encode("ascii") + said)
            # Not until the line is closed: the daemon has something left to write down when it has answered.
            while len(body) != length:
                part = line.recv(1 << 16)
                if not part:
                    raise ConnectionResetError("the daemon's answer was cut off")
                answer += part
                start, end, body = answer.partition(b"\r\n\r\n")
                if end:
                    length = int(start.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
        except ConnectionError:
            # One that was just ending; the next is asked, once, unless it had begun to answer.
            if answer or not again:
                raise
            again = False
            line, until = reached(folder, until, cold)
            continue
        if start[9:12] != b"200":
            raise ValueError("the daemon refused: " + body[:200].decode("utf-8", "replace"))
        return body


def note(folder, host, event, cause):
    line = "\t".join((strftime("%Y-%m-%dT%H:%M:%SZ", gmtime()), host, event, " ".join(cause.split())[:300])) + "\n"
    make(folder)
    if posix.stat(folder).st_uid != posix.getuid():
        return
    file = folder + b"/failures.log"
    descriptor = posix.open(file, posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_NOFOLLOW, 0o600)
    posix.write(descriptor, line.encode("utf-8", "replace"))
    if posix.fstat(descriptor).st_size > LARGEST_FAILURES:
        posix.replace(file, file + b".1")


def main(host, event):
    folder = b""
    signal(SIGALRM, too_late)
    try:
        folder = run_folder(posix.environ)
        body = carry(host, event, folder)
        setitimer(ITIMER_REAL, 0)
        while body:
            body = body[posix.write(1, body) :]
    except BaseException as error:  # noqa: BLE001 - a hook must never break its host, whatever it was
        try:
            setitimer(ITIMER_REAL, 0)
            note(folder, host, event, str(error) or type(error).__name__)
        except BaseException:  # noqa: BLE001, S110 - the disk is full, say; `foreword doctor` sees that by itself
            pass
    posix._exit(0)
