"""The lab's quick questions: in order, within their limit, dropped when nobody waits."""

import asyncio
import os
import time

import pytest
from lab_server import finished as finished  # skips where there is no lab

from remanence.web.worker import GONE, HTTPException, LATE, Worker


async def here():
    return False


async def gone():
    return True


@pytest.fixture
def worker():
    made = Worker(queue=3, limit=2.0, patience=0.2)
    yield made
    made.stop()


def test_after_one_that_took_too_long_the_queued_ones_are_answered(worker):
    async def too_long():
        try:
            await worker(here, time.sleep, 600)
        finally:
            worker.limit = 600.0  # a fresh process has all the time it needs

    async def ask():
        worker.limit = 600.0
        await worker(here, len, "")  # its process has begun
        worker.limit = 0.5
        queued = (worker(here, len, text) for text in ("ab", "abc", "abcd"))
        return await asyncio.gather(too_long(), *queued, return_exceptions=True)

    first, second, third, fourth = asyncio.run(ask())
    assert (first.detail, second, third) == (LATE[1], 2, 3) and fourth.status_code == 429


def test_a_question_that_nobody_waits_for_leaves_the_queue_and_the_process(worker, tmp_path):
    begun = tmp_path / "begun"

    async def ask():
        pid = await worker(here, os.getpid)
        running = asyncio.ensure_future(worker(gone, time.sleep, 600))
        await asyncio.sleep(0.02)
        queued = asyncio.ensure_future(worker(gone, begun.touch))
        said = await asyncio.gather(running, queued, return_exceptions=True)
        return pid, said, await worker(here, os.getpid)

    worker.limit = 600.0
    before, said, after = asyncio.run(ask())
    assert [one.detail for one in said] == [GONE[1]] * 2
    assert not begun.exists() and before != after


def test_the_first_question_is_let_go_to_its_end(worker):
    async def ask():
        first = asyncio.ensure_future(worker(gone, time.sleep, 1.0))
        await asyncio.sleep(0.02)
        return await asyncio.gather(first, worker(here, len, "ab"))

    worker.limit = 60.0
    assert asyncio.run(ask()) == [None, 2]


def test_a_refusal_comes_through_and_a_killed_process_is_replaced(worker):
    async def ask():
        with pytest.raises(ValueError, match="invalid literal"):
            await worker(here, int, "x")
        with pytest.raises(HTTPException, match=LATE[1]):
            await worker(here, os._exit, 1)
        return await worker(here, len, "ab")

    worker.limit = 600.0
    assert asyncio.run(ask()) == 2
