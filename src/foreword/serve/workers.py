"""Threads that work for the daemon. Who worked last works next: its connection to the store has the pages and the
statements of the last turn at hand, and its memory is still in the processor's cache. A usual pool goes round."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Done = TypeVar("_Done")
_Job = tuple[Future[Any], Callable[[], Any]]


class Workers(Executor):
    """At most so many threads, made when they are needed; what is too much for them waits in order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        # Each has its own letter box, so that it can be told who works next.
        self._idle: list[SimpleQueue[_Job | None]] = []
        self._waiting: deque[_Job] = deque()
        self._closing = False

    def submit(self, job: Callable[_Given, _Done], /, *args: _Given.args, **named: _Given.kwargs) -> Future[_Done]:
        future: Future[_Done] = Future()
        asked: _Job = (future, lambda: job(*args, **named))
        with self._lock:
            if self._closing:
                raise RuntimeError("The workers have gone.")
            if self._idle:
                self._idle.pop().put(asked)
            elif len(self._threads) < self._most:
                box: SimpleQueue[_Job | None] = SimpleQueue()
                box.put(asked)
                name = f"foreword_{len(self._threads)}"
                thread = threading.Thread(target=self._work, args=(box,), name=name, daemon=True)
                thread.start()
                self._threads.append(thread)
            else:
                self._waiting.append(asked)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """What was submitted is done first, unless it is cancelled."""
        with self._lock:
            self._closing = True
            if cancel_futures:
                for future, _ in self._waiting:
                    future.cancel()
                self._waiting.clear()
            while self._idle:
                self._idle.pop().put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _work(self, box: SimpleQueue[_Job | None]) -> None:
        while (asked := box.get()) is not None:
            future, job = asked
            if not future.set_running_or_notify_cancel():
                self._next(box)
                continue
            try:
                result = job()
            except BaseException as error:  # noqa: BLE001 - it is raised where the job's answer is waited for
                self._next(box)
                future.set_exception(error)
            else:
                # Before it tells: who hears of it may have the next job at once, and this one is to do it.
                self._next(box)
                future.set_result(result)
                del result
            del asked, future, job

    def _next(self, box: SimpleQueue[_Job | None]) -> None:
        with self._lock:
            if self._waiting:
                box.put(self._waiting.popleft())
            elif self._closing:
                box.put(None)
            else:
                self._idle.append(box)
