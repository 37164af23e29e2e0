"""The event loop without a selector, and cells that await."""

import asyncio
import contextvars
import unittest
from unittest import mock

from guest import GuestCase

import _slm_loop
from _slm_loop import EventLoop


class Loop(unittest.TestCase):
    """A loop whose time is what was slept, so that a busy machine changes no order."""

    def setUp(self):
        self.loop, self.now = EventLoop(), 0.0
        self.addCleanup(self.loop.close)
        self.loop.time = lambda: self.now
        patched = mock.patch.object(_slm_loop.time, "sleep", self.sleep)
        patched.start()
        self.addCleanup(patched.stop)

    def sleep(self, seconds):
        self.now += seconds

    def run_(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def test_what_sleeps_wakes_in_the_order_of_its_time(self):
        woken = []

        async def sleeper(seconds):
            await asyncio.sleep(seconds)
            woken.append(seconds)
            return seconds

        async def main():
            return await asyncio.gather(*map(sleeper, (0.03, 0.01, 0.02)))

        self.assertEqual(self.run_(main()), [0.03, 0.01, 0.02])
        self.assertEqual(woken, [0.01, 0.02, 0.03])
        self.assertAlmostEqual(self.now, 0.03)

    def test_a_wait_that_nothing_can_end_is_an_error_that_names_who_waits(self):
        cell = "async def waits_for_ever():\n    await asyncio.Event().wait()\n"
        space = {"asyncio": asyncio}
        exec(compile(cell, "<cell 3>", "exec"), space)
        task = self.loop.create_task(space["waits_for_ever"](), name="one")
        with self.assertRaisesRegex(RuntimeError, "would wait for ever.* Waiting: one in waits_for_ever, cell 3, line 2$"):
            self.run_(task)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            self.run_(task)

    def test_of_many_that_wait_some_are_named(self):
        async def main():
            await asyncio.gather(*(asyncio.Event().wait() for _ in range(9)))

        with self.assertRaisesRegex(RuntimeError, "; 7 more$"):
            self.run_(main())
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.run_(asyncio.sleep(0))

    def test_an_empty_loop_does_not_run_for_ever(self):
        with self.assertRaisesRegex(RuntimeError, "wake it$"):
            self.loop.run_forever()
        self.assertFalse(self.loop.is_running())

    def test_run_forever_ends_at_stop(self):
        seen = []
        self.loop.call_later(0.01, seen.append, "later")
        self.loop.call_soon_threadsafe(seen.append, "soon")
        self.loop.call_later(0.02, self.loop.stop)
        self.loop.run_forever()
        self.assertEqual(seen, ["soon", "later"])

    def test_a_time_limit_ends_a_wait(self):
        async def main():
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.01)
            return "after"

        self.assertEqual(self.run_(main()), "after")

    def test_networks_processes_and_files_are_refused_with_the_reason(self):
        async def each():
            for refused, kind, text in (
                (lambda: asyncio.open_connection("example.org", 80), OSError, "no network"),
                (lambda: asyncio.start_server(print, port=80), OSError, "no network"),
                (lambda: self.loop.getaddrinfo("example.org", 80), OSError, "no network"),
                (lambda: asyncio.create_subprocess_exec("ls", "-l"), FileNotFoundError, "only Python.*'ls'"),
                (lambda: asyncio.create_subprocess_shell("pip install x"), FileNotFoundError, "pip cannot be run here"),
            ):
                with self.assertRaisesRegex(kind, text):
                    await refused()

        self.run_(each())
        for refused in (lambda: self.loop.add_reader(0, print), lambda: self.loop.add_signal_handler(2, print)):
            self.assertRaises(NotImplementedError, refused)

    def test_the_default_executor_is_shut_down(self):
        class Executor(asyncio.base_events.concurrent.futures.ThreadPoolExecutor):
            ended = False

            def shutdown(self, wait=True, **options):
                self.ended = True
                super().shutdown(wait, **options)

        executor = Executor(1)
        self.loop.set_default_executor(executor)
        self.run_(self.loop.shutdown_default_executor())
        self.assertTrue(executor.ended)
        with self.assertRaisesRegex(RuntimeError, "Executor shutdown has been called"):
            self.loop.run_in_executor(None, int)


class Awaiting(GuestCase):
    """Cells with an `await` of their own."""

    def setUp(self):
        super().setUp()
        loop = EventLoop()
        asyncio.set_event_loop(loop)
        _slm_loop._session = None
        self.addCleanup(setattr, _slm_loop, "_session", None)
        self.addCleanup(asyncio.set_event_loop, None)
        self.addCleanup(loop.close)
        self.assertOk("import asyncio")

    def test_the_last_expression_is_awaited(self):
        self.assertEqual(self.result("await asyncio.sleep(0, 'value')"), {"text/plain": "'value'"})
        self.assertEqual(self.result("x = await asyncio.sleep(0, 4)\nx + 1"), {"text/plain": "5"})
        self.assertEqual(self.assertOk("await asyncio.sleep(0)"), [])
        self.assertEqual(self.namespace["x"], 4)

    def test_every_form_of_await(self):
        self.assertOk(
            "async def numbers():\n    for n in range(3):\n        yield n\n"
            "seen = [n async for n in numbers()]\n"
            "async for n in numbers():\n    seen.append(n)\n"
            "async with asyncio.timeout(1):\n    seen.append(await asyncio.sleep(0, 'inside'))\n"
        )
        self.assertEqual(self.namespace["seen"], [0, 1, 2, 0, 1, 2, "inside"])

    def test_a_cell_that_awaits_nothing_has_no_running_loop(self):
        self.assertFails("asyncio.get_running_loop()", "RuntimeError")
        self.assertOk("async def main():\n    return 1\nassert asyncio.run(main()) == 1")

    def test_what_awaits_nothing_has_the_loop_in_a_cell_that_awaits(self):
        self.assertOk("before = asyncio.get_running_loop()\nawait asyncio.sleep(0)\nassert before is asyncio.get_running_loop()")
        self.assertFails("await (c := asyncio.sleep(0))\nasyncio.run(c)", "RuntimeError")

    def test_tasks_live_on_into_the_next_cell_that_awaits(self):
        self.assertOk(
            "done = []\nasync def work():\n    await asyncio.sleep(0.01)\n    done.append(1)\n"
            "task = asyncio.create_task(work())\nawait asyncio.sleep(0)"
        )
        self.assertOk("asyncio.run(asyncio.sleep(0))")  # leaves no loop set
        self.assertOk("await task\nassert done == [1]")

    def test_an_error_has_the_frames_of_the_cell_alone(self):
        error = self.assertFails("async def f():\n    1 / 0\nawait f()", "ZeroDivisionError")
        self.assertEqual(error["line"], 2)
        self.assertNotIn("_slm", error["traceback"])
        self.assertNotIn("asyncio", error["traceback"])

    def test_a_cell_that_nothing_can_wake_ends_and_cleans_up(self):
        error = self.assertFails("try:\n    await asyncio.Event().wait()\nfinally:\n    cleaned = 1", "RuntimeError")
        self.assertIn("Waiting: cell in <module>", error["message"])
        self.assertEqual((error["line"], self.namespace["cleaned"]), (2, 1))
        self.assertOk("await asyncio.sleep(0)")

    def test_a_loop_stopped_by_the_cell_does_not_end_the_session(self):
        self.assertFails("asyncio.get_running_loop().stop()\nawait asyncio.sleep(1)", "RuntimeError")
        self.assertEqual(self.result("await asyncio.sleep(0, 1)"), {"text/plain": "1"})

    def test_a_loop_closed_by_a_cell_is_replaced(self):
        self.assertOk("asyncio.get_event_loop().close()")
        self.assertEqual(self.result("await asyncio.sleep(0, 1)"), {"text/plain": "1"})
        self.assertOk("asyncio.get_event_loop().close()")

    def test_exit_is_an_exit(self):
        status, frames = self.cell("await asyncio.sleep(0)\nraise SystemExit(3)")
        self.assertEqual((status, frames), (1, [{"kind": "exit", "code": 3}]))

    def test_context_variables_stay_set(self):
        self.namespace["variable"] = contextvars.ContextVar("variable")
        self.assertOk("variable.set('set')\nawait asyncio.sleep(0)")
        self.assertEqual(self.result("variable.get()"), {"text/plain": "'set'"})

    def test_await_where_it_cannot_be_is_a_syntax_error(self):
        self.assertFails("def f():\n    await thing()", "SyntaxError")
        self.assertFails("lambda: await thing()", "SyntaxError")
        self.assertFails("class C:\n    await thing()", "SyntaxError")

    def test_a_future_statement_holds_for_cells_that_await(self):
        self.assertOk("from __future__ import annotations\nawait asyncio.sleep(0)")
        self.assertOk("async def f(x: undefined): pass\nawait f(1)")


if __name__ == "__main__":
    unittest.main()
