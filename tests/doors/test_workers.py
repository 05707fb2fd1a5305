"""Threads that work for the daemon: who worked last works next, and nothing that was asked of them is lost."""

from __future__ import annotations

import threading
from concurrent.futures import wait

import pytest

from foreword.serve.workers import Workers


def test_who_worked_last_works_next() -> None:
    workers = Workers(4)
    together, go_on = threading.Barrier(4), threading.Event()

    def meet() -> int:
        together.wait(10)
        return threading.get_ident()

    # All four are there, or the next jobs would have nobody else to go to.
    assert len({one.result(10) for one in [workers.submit(meet) for _ in range(4)]}) == 4
    first = workers.submit(threading.get_ident).result(10)
    assert {workers.submit(threading.get_ident).result(10) for _ in range(20)} == {first}
    held = workers.submit(go_on.wait, 10)
    assert workers.submit(threading.get_ident).result(10) != first, "while it is held up, another works"
    go_on.set()
    assert held.result(10)
    workers.shutdown()


def test_what_is_too_much_for_them_waits_in_order_and_is_done_before_they_go() -> None:
    workers, go_on = Workers(1), threading.Event()
    done: list[int] = []
    jobs = [workers.submit(go_on.wait, 10), *(workers.submit(done.append, number) for number in range(50))]
    assert not done
    threading.Timer(0.05, go_on.set).start()
    workers.shutdown()
    assert done == list(range(50))
    assert all(one.done() for one in jobs)
    with pytest.raises(RuntimeError, match="have gone"):
        workers.submit(done.append, 51)


def test_an_error_is_raised_where_the_answer_is_waited_for_and_ends_nobody() -> None:
    workers = Workers(1)
    failed = workers.submit(int, "x")
    with pytest.raises(ValueError, match="invalid literal"):
        failed.result(10)
    assert workers.submit(int, "7").result(10) == 7
    workers.shutdown()


def test_what_is_cancelled_before_its_turn_is_not_done() -> None:
    workers, go_on = Workers(1), threading.Event()
    done: list[str] = []
    held = workers.submit(go_on.wait, 10)
    unwanted, wanted = workers.submit(done.append, "unwanted"), workers.submit(done.append, "wanted")
    assert unwanted.cancel()
    go_on.set()
    wait([held, wanted], 10)
    assert done == ["wanted"]
    later = Workers(1)
    stopped = threading.Event()
    held, left = later.submit(stopped.wait, 10), later.submit(done.append, "left")
    threading.Timer(0.05, stopped.set).start()
    later.shutdown(cancel_futures=True)
    assert left.cancelled()
    assert done == ["wanted"]
    workers.shutdown()


def test_many_who_ask_at_once_are_each_answered_once() -> None:
    workers = Workers(4)
    answers: list[int] = []
    lock = threading.Lock()

    def ask(number: int) -> None:
        for step in range(200):
            answer = workers.submit(sum, (number * 1000, step)).result(10)
            with lock:
                answers.append(answer)

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert sorted(answers) == [number * 1000 + step for number in range(8) for step in range(200)]
    workers.shutdown()


def test_a_thread_that_cannot_be_started_costs_nobody_else_his_turn() -> None:
    workers = Workers(1)
    before = threading.stack_size(1 << 46)  # more than any machine has room for
    try:
        with pytest.raises(RuntimeError, match="thread"):
            workers.submit(print)
    finally:
        threading.stack_size(before)
    assert workers.submit(lambda: 7).result(timeout=10) == 7
    workers.shutdown()
