"""Executors and pools that run their tasks in turn, each when it is handed in, with the names and manners of the
library's own: what a task raised comes out where its result is asked for.

Depends on nothing else of the driver's. `install` puts them in the library's place, once, before the snapshot.
"""

import contextvars
import os
import sys
import types
from concurrent import futures
from concurrent.futures import _base, process, thread
from multiprocessing import pool


class Worker:
    """The context in which an executor's tasks run, as those of a thread of its own would: what they set in context
    variables stays there."""

    def __init__(self):
        self._context, self._busy = contextvars.Context(), False

    def run(self, function, *args, **kwargs):
        # A task may hand in another, and no context can be entered twice.
        if self._busy:
            return self._context.copy().run(function, *args, **kwargs)
        self._busy = True
        try:
            return self._context.run(function, *args, **kwargs)
        finally:
            self._busy = False


class InTurn(_base.Executor):
    """An executor that runs a task at once in `submit`."""

    _broken_error = _base.BrokenExecutor
    _most = None

    def __init__(self, max_workers=None, initializer=None, initargs=()):
        if max_workers is None:
            max_workers = min(32, (os.cpu_count() or 1) + 4)
        elif max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._max_workers, self._initializer, self._initargs = max_workers, initializer, initargs
        self._worker, self._broken, self._shutdown = None, False, False

    def submit(self, fn, /, *args, **kwargs):
        if self._broken:
            raise self._broken_error(self._broken)
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = _base.Future()
        future.set_running_or_notify_cancel()
        if self._worker is None and not self._begin():
            future.set_exception(self._broken_error(self._broken))
            return future
        try:
            result = self._worker.run(fn, *args, **kwargs)
        except BaseException as exc:
            future.set_exception(exc)
        else:
            future.set_result(result)
        return future

    def _begin(self):
        """Makes the worker, and says whether it can be used."""
        self._worker = Worker()
        if self._initializer is None:
            return True
        try:
            self._worker.run(self._initializer, *self._initargs)
        except BaseException:
            _base.LOGGER.critical("Exception in initializer:", exc_info=True)
            self._broken = "A worker's initializer failed, the pool is not usable anymore"
            return False
        return True

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._shutdown = True


class ThreadPoolExecutor(InTurn):
    """`concurrent.futures.ThreadPoolExecutor`."""

    _broken_error = thread.BrokenThreadPool

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        super().__init__(max_workers, initializer, initargs)
        self._thread_name_prefix = thread_name_prefix


class InterpreterPoolExecutor(ThreadPoolExecutor):
    """`concurrent.futures.InterpreterPoolExecutor`, whose tasks share everything with their caller."""


class ProcessPoolExecutor(InTurn):
    """`concurrent.futures.ProcessPoolExecutor`, whose tasks share everything with their caller."""

    _broken_error = process.BrokenProcessPool

    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        if max_tasks_per_child is not None:
            if not isinstance(max_tasks_per_child, int):
                raise TypeError("max_tasks_per_child must be an integer")
            if max_tasks_per_child <= 0:
                raise ValueError("max_tasks_per_child must be >= 1")
        super().__init__(os.cpu_count() or 1 if max_workers is None else max_workers, initializer, initargs)

    def map(self, fn, *iterables, chunksize=1, **options):
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        return super().map(fn, *iterables, **options)

    def kill_workers(self):
        self._shutdown = True

    terminate_workers = kill_workers


class Tasks:
    """A pool's queue of tasks, which runs what is put into it. `imap`'s tasks run when their results are asked for, so
    that its input may be endless."""

    def __init__(self, results):
        self._results, self._worker, self._later = results, Worker(), []

    def put(self, entry):
        tasks, set_length = entry
        if set_length is None:
            for task in tasks:
                self.run(*task)
        else:
            iterator = set_length.__self__
            iterator.begin(self, tasks)
            self._later.append(iterator)

    def run(self, job, index, function, args, options):
        try:
            ended = True, self._worker.run(function, *args, **options)
        except Exception as exc:
            ended = False, exc
        if job in self._results:
            self._results[job]._set(index, ended)

    def finish(self):
        """Runs what was put off."""
        while self._later:
            iterator = self._later.pop(0)
            while iterator.step():
                pass

    def drop(self):
        """Forgets what was put off."""
        for iterator in self._later:
            iterator.begin(self, None)
        self._later.clear()


class _Lazily:
    """Runs a task when its result is asked for and not there."""

    _taken = 0

    def begin(self, tasks, waiting):
        self._tasks, self._waiting = tasks, waiting

    def step(self):
        """Runs the next task, and says whether there was one."""
        if self._waiting is None or self._length is not None:
            return False
        task = next(self._waiting, None)
        if task is None:
            self._set_length(self._taken)
            return False
        self._taken += 1
        self._tasks.run(*task)
        return True

    def next(self, timeout=None):
        while not self._items and self.step():
            pass
        return super().next(timeout)

    __next__ = next


class IMapIterator(_Lazily, pool.IMapIterator):
    """What `Pool.imap` returns."""


class IMapUnorderedIterator(_Lazily, pool.IMapUnorderedIterator):
    """What `Pool.imap_unordered` returns: the results in the order of the tasks, which is one of those allowed."""


class Pool(pool.Pool):
    """`multiprocessing.Pool`, whose tasks share everything with their caller."""

    _taskqueue = _change_notifier = None

    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        self._state = pool.INIT
        if processes is None:
            processes = os.cpu_count() or 1
        if processes < 1:
            raise ValueError("Number of processes must be at least 1")
        if maxtasksperchild is not None and (not isinstance(maxtasksperchild, int) or maxtasksperchild <= 0):
            raise ValueError("maxtasksperchild must be a positive int or None")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._ctx, self._cache, self._processes = context, {}, processes
        self._pool = [None] * processes  # the size of chunks follows from it
        self._taskqueue = Tasks(self._cache)
        if initializer is not None:
            self._taskqueue._worker.run(initializer, *initargs)
        self._state = pool.RUN

    def close(self):
        if self._state == pool.RUN:
            self._state = pool.CLOSE

    def terminate(self):
        self._state = pool.TERMINATE
        self._taskqueue.drop()

    def join(self):
        if self._state == pool.RUN:
            raise ValueError("Pool is still running")
        self._taskqueue.finish()

    def __del__(self):
        pass


class ThreadPool(Pool):
    """`multiprocessing.pool.ThreadPool`."""

    def __init__(self, processes=None, initializer=None, initargs=()):
        super().__init__(processes, initializer, initargs)


def install():
    """Puts these classes in the place of the library's, under its names."""
    interpreter = types.ModuleType("concurrent.futures.interpreter", InterpreterPoolExecutor.__doc__)
    sys.modules[interpreter.__name__] = futures.interpreter = interpreter
    for module, classes in (
        (thread, (ThreadPoolExecutor,)),
        (process, (ProcessPoolExecutor,)),
        (interpreter, (InterpreterPoolExecutor,)),
        (pool, (IMapIterator, IMapUnorderedIterator, Pool, ThreadPool)),
    ):
        for cls in classes:
            cls.__module__ = module.__name__
            setattr(module, cls.__name__, cls)
    for cls in (ThreadPoolExecutor, ProcessPoolExecutor, InterpreterPoolExecutor):
        setattr(futures, cls.__name__, cls)
    if "InterpreterPoolExecutor" not in futures.__all__:
        futures.__all__ += type(futures.__all__)(("InterpreterPoolExecutor",))
    # joblib runs in turn by itself where there are no processes, but warns of a backend that was asked for by name.
    from joblib import parallel

    for name in ("loky", "multiprocessing"):
        parallel.register_parallel_backend(name, parallel.ThreadingBackend)
