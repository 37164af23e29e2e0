"""Executors and pools that run their tasks in turn."""

import contextvars
import itertools
import logging
import unittest
from concurrent import futures
from concurrent.futures import process, thread

from guest import GuestCase  # noqa: F401  puts the driver's folder on the path

import _slm_pools
from _slm_pools import InterpreterPoolExecutor, ProcessPoolExecutor, ThreadPoolExecutor

EXECUTORS = ThreadPoolExecutor, ProcessPoolExecutor, InterpreterPoolExecutor


class Executors(unittest.TestCase):
    def each(self):
        for cls in EXECUTORS:
            with self.subTest(cls=cls.__name__):
                yield cls

    def test_tasks_run_at_submit_in_their_order(self):
        for cls in self.each():
            ran = []
            with cls(2) as executor:
                handed = [executor.submit(ran.append, n) for n in range(4)]
                self.assertEqual(ran, [0, 1, 2, 3])
                self.assertTrue(all(future.done() for future in handed))
                self.assertEqual(set(futures.as_completed(handed)), set(handed))
                self.assertEqual(futures.wait(handed, timeout=0), (set(handed), set()))
                self.assertFalse(handed[0].cancel())

    def test_map(self):
        for cls in self.each():
            with cls() as executor:
                self.assertEqual(list(executor.map(pow, (2, 3), (5, 2), timeout=1, chunksize=2)), [32, 9])
                results = executor.map(int, ("1", "x", "2"))
                self.assertEqual(next(results), 1)
                self.assertRaises(ValueError, next, results)

    def test_what_a_task_raises_comes_out_of_its_future(self):
        def ends():
            raise SystemExit(3)

        for cls in self.each():
            with cls(1) as executor:
                self.assertIsInstance(executor.submit(int, "x").exception(), ValueError)
                self.assertRaises(SystemExit, executor.submit(ends).result)

    def test_a_task_may_hand_in_another_and_wait_for_it(self):
        for cls in self.each():
            with cls(1) as executor:
                outer = executor.submit(lambda: executor.submit(int, "5").result() + 1)
                self.assertEqual(outer.result(timeout=0), 6)

    def test_callbacks_are_called(self):
        with ThreadPoolExecutor() as executor:
            seen = []
            executor.submit(int, "7").add_done_callback(lambda future: seen.append(future.result()))
            self.assertEqual(seen, [7])

    def test_after_shutdown_nothing_is_taken(self):
        for cls in self.each():
            executor = cls(1)
            executor.shutdown(wait=False, cancel_futures=True)
            self.assertRaisesRegex(RuntimeError, "after shutdown", executor.submit, int)

    def test_the_initializer_runs_once_before_the_first_task(self):
        for cls in self.each():
            ran = []
            with cls(3, initializer=lambda *args: ran.append(args), initargs=(1, 2)) as executor:
                self.assertEqual(ran, [])
                executor.submit(ran.append, "task"), executor.submit(ran.append, "task")
            self.assertEqual(ran, [(1, 2), "task", "task"])

    def test_an_initializer_that_fails_breaks_the_pool(self):
        for cls, error in ((ThreadPoolExecutor, thread.BrokenThreadPool), (ProcessPoolExecutor, process.BrokenProcessPool)):
            executor = cls(1, initializer=int, initargs=("x",))
            with self.assertLogs("concurrent.futures", logging.CRITICAL):
                self.assertIsInstance(executor.submit(int).exception(), error)
            self.assertRaises(error, executor.submit, int)

    def test_arguments_are_checked(self):
        for cls in self.each():
            self.assertRaises(ValueError, cls, 0)
            self.assertRaises(TypeError, cls, initializer=1)
        self.assertRaises(ValueError, ProcessPoolExecutor, max_tasks_per_child=0)
        self.assertRaises(ValueError, ProcessPoolExecutor().map, int, "1", chunksize=0)
        self.assertEqual(ThreadPoolExecutor(5)._max_workers, 5)

    def test_context_variables_stay_with_the_worker(self):
        variable = contextvars.ContextVar("variable", default="unset")
        token = variable.set("caller's")
        self.addCleanup(variable.reset, token)
        with ThreadPoolExecutor(1, initializer=variable.set, initargs=("worker's",)) as executor:
            self.assertEqual(executor.submit(variable.get).result(), "worker's")
            self.assertEqual(executor.submit(lambda: executor.submit(variable.get).result()).result(), "worker's")
            executor.submit(variable.set, "a task's")
        self.assertEqual(variable.get(), "caller's")


class Pools(unittest.TestCase):
    def setUp(self):
        # The library's own methods look these classes up in their module, where `install` puts ours.
        from multiprocessing import pool

        for name in ("Pool", "ThreadPool", "IMapIterator", "IMapUnorderedIterator"):
            self.addCleanup(setattr, pool, name, getattr(pool, name))
            setattr(pool, name, getattr(_slm_pools, name))

    def each(self, *args):
        for cls in (_slm_pools.Pool, _slm_pools.ThreadPool):
            with self.subTest(cls=cls.__name__):
                yield cls(*args)

    def test_every_way_to_hand_in(self):
        for pool in self.each(4):
            with pool:
                self.assertEqual(pool.map(abs, range(-5, 0)), [5, 4, 3, 2, 1])
                self.assertEqual(pool.map(abs, [-1, -2, -3], chunksize=2), [1, 2, 3])
                self.assertEqual(pool.map(abs, []), [])
                self.assertEqual(pool.map_async(abs, iter((-1, 2))).get(timeout=0), [1, 2])
                self.assertEqual(pool.starmap(pow, [(2, 3), (3, 2)]), [8, 9])
                self.assertEqual(pool.starmap_async(pow, [(2, 3)]).get(), [8])
                self.assertEqual(pool.apply(int, ("11",), {"base": 2}), 3)
                self.assertEqual(pool.apply_async(int, ("4",)).get(), 4)
                self.assertEqual(list(pool.imap(abs, [-1, -2, -3])), [1, 2, 3])
                self.assertEqual(list(pool.imap(abs, [-1, -2, -3], chunksize=2)), [1, 2, 3])
                self.assertEqual(sorted(pool.imap_unordered(abs, [-1, -2, -3], chunksize=2)), [1, 2, 3])

    def test_errors_come_out_where_the_result_is_asked_for(self):
        for pool in self.each():
            result = pool.apply_async(int, ("x",))
            self.assertTrue(result.ready())
            self.assertFalse(result.successful())
            self.assertRaises(ValueError, result.get)
            self.assertRaises(ValueError, pool.map, int, ["1", "x"])
            results = pool.imap(int, ["1", "x", "2"])
            self.assertEqual(next(results), 1)
            self.assertRaises(ValueError, next, results)
            self.assertEqual(next(results), 2)
            self.assertRaises(StopIteration, next, results)

    def test_callbacks(self):
        for pool in self.each():
            good, bad = [], []
            pool.apply_async(int, ("1",), callback=good.append, error_callback=bad.append)
            pool.apply_async(int, ("x",), callback=good.append, error_callback=bad.append)
            pool.map_async(int, "23", callback=good.append)
            self.assertEqual((good, [type(error) for error in bad]), ([1, [2, 3]], [ValueError]))

    def test_imap_reads_its_input_as_results_are_asked_for(self):
        for pool in self.each():
            self.assertEqual(list(itertools.islice(pool.imap(abs, itertools.count(-3)), 5)), [3, 2, 1, 0, 1])

            def input():
                yield 1
                raise KeyError("input")

            results = pool.imap(abs, input())
            self.assertEqual(next(results), 1)
            self.assertRaises(KeyError, next, results)

    def test_join_runs_what_imap_put_off(self):
        for pool in self.each():
            ran = []
            results = pool.imap_unordered(ran.append, range(3))
            self.assertEqual(ran, [])
            self.assertRaisesRegex(ValueError, "still running", pool.join)
            pool.close()
            pool.join()
            self.assertEqual(ran, [0, 1, 2])
            self.assertEqual(list(results), [None] * 3)

    def test_what_has_ended_takes_nothing(self):
        for pool in self.each():
            with pool:
                ran = []
                pool.imap(ran.append, range(3))
            pool.join()
            self.assertEqual(ran, [], "terminated")
            self.assertRaisesRegex(ValueError, "not running", pool.map, abs, [1])
            self.assertRaisesRegex(ValueError, "not running", pool.apply_async, abs, (1,))

    def test_arguments_are_checked(self):
        self.assertRaises(ValueError, _slm_pools.Pool, 0)
        self.assertRaises(TypeError, _slm_pools.Pool, 1, 5)
        self.assertRaises(ValueError, _slm_pools.Pool, maxtasksperchild=0)
        ran = []
        _slm_pools.Pool(3, ran.append, ("once",))
        self.assertEqual(ran, ["once"])


if __name__ == "__main__":
    unittest.main()
