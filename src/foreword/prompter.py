"""The door for a Python program that calls a model itself: what to put beside a message, and what was said.

The engine runs in the program's own process, on a thread of its own; no daemon is needed, and other processes may have
the same home open.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote

from foreword.classify import classify
from foreword.engine import Foreword
from foreword.errors import ForewordError
from foreword.model import Ask, Audience, Event, Origin, SessionKind
from foreword.serve import address, trail
from foreword.settings import ServeSettings, load

_MOST_CONVERSATIONS = 1024
_NAME = "python"
# A fork waits for what is being written, but for no disk that hangs.
_FORK_WAIT_S = 2.0


class Prompter:
    """One for a process, made after any fork; safe to use from several threads. Nothing here raises, and nothing keeps
    the program waiting past `serve.deadline_ms` (`serve.cold_deadline_ms` while the home is being opened): what goes
    wrong or comes too late is silence, and a line that `foreword doctor` shows.

    `agent` is whose memories these are: agents do not see one another's, so a program that serves several people gives
    each an agent of their own, here or with each call. `session` names one conversation, such as a thread's id.
    """

    def __init__(self, agent: str = _NAME, *, home: str | Path | None = None) -> None:
        self._agent = agent
        self._home = home
        self._begin()
        if hasattr(os, "register_at_fork"):
            # A server may fork after this was made: neither threads nor an open home survive that. And a fork in the
            # middle of SQLite's work would leave its locks taken in the child for good.
            me = weakref.ref(self)
            os.register_at_fork(
                before=partial(_hold_still, me),
                after_in_parent=partial(_go_on, me),
                after_in_child=partial(_begin_again, me),
            )

    def _begin(self) -> None:
        self._engine: Foreword | None = None
        self._patience = ServeSettings()
        self._lock = threading.Lock()
        self._at_work = threading.Lock()
        self._held_still = False
        # What was given with the message that has no answer yet: a model is called several times in a turn.
        self._given: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        # One thread: what is said after a message is kept after it, and nobody waits for the disk.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="foreword")
        self._worker.submit(self._quietly, "open", self._opened)

    def heard(self, message: object, *, session: str, agent: str = "") -> str:
        """What belongs beside this message, "" for nothing; the message is kept. For the same message it gives the same
        until the answer is told. A message may be a string, or a list of parts: their words count."""
        serve = self._patience
        patience_ms = serve.deadline_ms if self._engine else serve.cold_deadline_ms
        until = time.monotonic() + patience_ms / 1000
        try:
            text, place = _words(message), self._place(session, agent)
            with self._lock:
                known = self._given.get(place)
            if known and known[0] == text:
                return known[1]
            if not text.strip():
                return ""
            asked = self._worker.submit(self._brief, text, place, until)
            self._worker.submit(self._quietly, "heard", lambda: self._record(text, place, Origin.OWNER))
            try:
                given = asked.result(timeout=until - time.monotonic())
            except TimeoutError:
                asked.cancel()
                self._note("heard", f"nothing was found within {patience_ms} ms")
                return ""
            with self._lock:
                self._given[place] = (text, given)
                self._given.move_to_end(place)
                if len(self._given) > _MOST_CONVERSATIONS:
                    self._given.popitem(last=False)
            return given
        except Exception as error:  # noqa: BLE001 - a door: memory must never break the program it serves
            self._note("heard", trail.cause(error))
            return ""

    def said(self, answer: object, *, session: str, agent: str = "") -> None:
        """Keep the answer, which ends the turn; one without words, such as a call of a tool, does not. Returns at once:
        it is on disk when `close` has returned or the program has ended in its own time."""
        try:
            text, place = _words(answer), self._place(session, agent)
            if not text.strip():
                return
            with self._lock:
                self._given.pop(place, None)
            self._worker.submit(self._quietly, "said", lambda: self._record(text, place, Origin.AGENT))
        except Exception as error:  # noqa: BLE001 - a door: memory must never break the program it serves
            self._note("said", trail.cause(error))

    def close(self) -> None:
        """Wait until all is kept. What is heard afterwards is answered with silence."""
        self._worker.shutdown()
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def __enter__(self) -> Prompter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # on the worker's thread

    def _opened(self) -> Foreword:
        """One that failed is tried again with the next call."""
        if self._engine is None:
            loaded = load()
            self._patience = loaded.settings.serve
            self._engine = Foreword.open(self._home, settings=loaded)
        return self._engine

    def _brief(self, text: str, place: tuple[str, str], until: float) -> str:
        agent, session = place
        ask = Ask(text, session=session, agent=agent, channel=_NAME, holds_session=True)
        with self._at_work:
            engine = self._opened()
            return engine.brief(ask, deadline_ms=max((until - time.monotonic()) * 1000, 0.0)).text

    def _record(self, text: str, place: tuple[str, str], origin: Origin) -> None:
        agent, session = place
        self._opened().record(Event(text, session=session, agent=agent, channel=_NAME, origin=origin))

    def _quietly(self, event: str, work: Callable[[], object]) -> None:
        try:
            with self._at_work:
                work()
        except Exception as error:  # noqa: BLE001 - nobody waits for this, and the next message must be heard
            self._note(event, trail.cause(error))

    # anywhere

    def _place(self, session: str, agent: str) -> tuple[str, str]:
        """Whatever is in a name, it is the owner's own conversation. A key with a word such as `group` in it would be
        somebody else's: then its digest stands for it."""
        agent = agent or self._agent
        head = f"agent:{quote(agent, safe='')}:"
        key = head + quote(session, safe="")
        known = classify(key)
        own = known.kind in (SessionKind.FALLBACK, SessionKind.MAIN_SESSION) and known.audience is Audience.PRIVATE
        if not own:
            key = f"{head}{_NAME}-{hashlib.blake2b(session.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"
        return agent, key

    def _note(self, event: str, cause: str) -> None:
        with suppress(OSError, ForewordError):
            here = address.address(os.environ, self._home)
            here.make()
            trail.note_failure(here.failures, _NAME, event, cause)


def _hold_still(prompter: weakref.ref[Prompter]) -> None:
    if (living := prompter()) is not None:
        living._held_still = living._at_work.acquire(timeout=_FORK_WAIT_S)


def _go_on(prompter: weakref.ref[Prompter]) -> None:
    if (living := prompter()) is not None and living._held_still:
        living._held_still = False
        living._at_work.release()


def _begin_again(prompter: weakref.ref[Prompter]) -> None:
    if (living := prompter()) is not None:
        living._begin()


def _words(message: object) -> str:
    """The words of a message as the model libraries have it: a text, a part with a text, or a list of both."""
    if isinstance(message, str):
        return message
    if isinstance(message, Mapping):
        return _words(message.get("text"))
    if isinstance(message, Sequence) and not isinstance(message, bytes | bytearray):
        return "\n".join(filter(None, map(_words, message)))
    return ""
