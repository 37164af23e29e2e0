"""What `multiprocessing` shares between processes, in the only process there is: locks, queues, pipes, managers.

Where the library's own Python does it on top of a C part that is missing here, the part stands in (`SemLock`, the bytes
of a pipe); else the class does. Depends on `_slm_alone` and `_slm_values`. `install` is called once, before the snapshot.
"""

import collections
import importlib
import io
import multiprocessing
import queue
import sys
import time
import types
from multiprocessing import connection, context, heap, managers, process

import _slm_alone as _alone
import _slm_values as _values

_RECURSIVE = 0


class SemLock:
    """`_multiprocessing.SemLock`: a counter, and whose it is."""

    SEM_VALUE_MAX = 2**31 - 1

    def __init__(self, kind, value, maxvalue, name, unlink):
        self.kind, self.maxvalue, self.name, self.handle = kind, maxvalue, None, id(self)
        self._value, self._held = value, 0

    def acquire(self, block=True, timeout=None):
        if self.kind == _RECURSIVE and self._held:
            self._held += 1
            return True
        if not self._value:
            if not block:
                return False
            if timeout is None:
                raise RuntimeError(_alone.WAITING)
            time.sleep(max(timeout, 0))
            return False
        self._value -= 1
        self._held += 1
        return True

    def release(self):
        if self.kind == _RECURSIVE:
            if not self._held:
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self._held > 1:
                self._held -= 1
                return
        elif self._value >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        self._held -= 1
        self._value += 1

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *error):
        self.release()

    def _count(self):
        return self._held

    def _is_mine(self):
        return self._held > 0

    def _is_zero(self):
        return self._value == 0

    def _get_value(self):
        return self._value

    def _after_fork(self):
        pass


def sem_unlink(name):
    """`_multiprocessing.sem_unlink`: no lock has a name here."""


class Queue(queue.Queue):
    """`multiprocessing.Queue` and `JoinableQueue`, which hand on the objects themselves."""

    def __init__(self, maxsize=0, *, ctx=None):
        super().__init__(maxsize)
        self._closed = False

    def put(self, obj, block=True, timeout=None):
        if self._closed:
            raise ValueError(f"Queue {self!r} is closed")
        super().put(obj, block, timeout)

    def get(self, block=True, timeout=None):
        if self._closed:
            raise ValueError(f"Queue {self!r} is closed")
        return super().get(block, timeout)

    def close(self):
        self._closed = True

    def join_thread(self):
        if not self._closed:
            raise AssertionError(f"Queue {self!r} not closed")

    def cancel_join_thread(self):
        pass


class SimpleQueue(queue.SimpleQueue):
    """`multiprocessing.SimpleQueue`."""

    def __new__(cls, *, ctx=None):
        return super().__new__(cls)

    def __init__(self, *, ctx=None):
        pass

    def get(self):
        return super().get()

    def put(self, obj):
        super().put(obj)

    def close(self):
        pass


class Connection(connection._ConnectionBase):
    """One end of a pipe: bytes that were sent wait in the other's inbox."""

    def __init__(self, inbox, outbox):
        super().__init__(id(self) & 0x7FFFFFFF, inbox is not None, outbox is not None)
        self._inbox, self._outbox = inbox, outbox

    def _close(self):
        if self._outbox is not None:
            self._outbox.append(None)

    def _send_bytes(self, buf):
        self._outbox.append(bytes(buf))

    def _recv_bytes(self, maxsize=None):
        if not self._inbox:
            raise RuntimeError(_alone.WAITING)
        message = self._inbox[0]
        if message is None:
            raise EOFError
        if maxsize is not None and len(message) > maxsize:
            return None
        self._inbox.popleft()
        return io.BytesIO(message)

    def _poll(self, timeout):
        if not self._inbox and timeout is None:
            raise RuntimeError(_alone.WAITING)
        if not self._inbox and timeout > 0:
            time.sleep(timeout)
        return bool(self._inbox)


def Pipe(duplex=True):
    """`multiprocessing.Pipe`."""
    one, other = collections.deque(), collections.deque()
    if duplex:
        return Connection(one, other), Connection(other, one)
    return Connection(one, None), Connection(None, one)


def wait(object_list, timeout=None):
    """`multiprocessing.connection.wait`, for ends of pipes."""
    ready = [each for each in object_list if each._inbox]
    if not ready:
        if timeout is None:
            raise RuntimeError(_alone.WAITING)
        time.sleep(max(timeout, 0))
    return ready


def track(*resource):
    """Stands in for what notes a resource to be freed when its process is gone."""


def start_process(self):
    """Stands in for a process's `start`."""
    raise RuntimeError(_alone.PROCESSES)


def start_manager(self, initializer=None, initargs=()):
    """Stands in for a manager's `start`: it has no process, and what it makes are plain objects."""
    if self._state.value != managers.State.INITIAL:
        raise managers.ProcessError("Already started server")
    if initializer is not None:
        initializer(*initargs)
    self._state.value = managers.State.STARTED
    self.shutdown = types.MethodType(stop_manager, self)


def stop_manager(self):
    """Stands in for a manager's `shutdown`."""
    self._state.value = managers.State.SHUTDOWN


def connect_manager(self):
    """Stands in for a manager's `connect`."""
    raise OSError(_alone.NETWORK)


def register(cls, typeid, callable=None, *args, **options):
    """Stands in for a manager's `register`: the method that makes an object makes it here."""
    cls._registry = dict(cls._registry) if "_registry" not in vars(cls) else cls._registry
    cls._registry[typeid] = (callable, *args)

    def make(self, /, *args, **kwargs):
        if self._state.value != managers.State.STARTED:
            raise AssertionError("server not yet started")
        return callable(*args, **kwargs)

    make.__name__ = typeid
    setattr(cls, typeid, make)


def _import_with(parts, names):
    """Imports modules of the library that need C parts which are missing here. The parts are there meanwhile only: others
    conclude from them that there are processes."""
    sys.modules.update(parts)
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        for name in parts:
            del sys.modules[name]


def install():
    """Puts these classes in the place of the library's."""
    semaphores = types.ModuleType("_multiprocessing")
    semaphores.SemLock, semaphores.sem_unlink = SemLock, sem_unlink
    tracker = types.ModuleType("multiprocessing.resource_tracker", "Nothing here outlives its process.")
    tracker.register = tracker.unregister = tracker.ensure_running = track
    sys.modules[tracker.__name__] = multiprocessing.resource_tracker = tracker
    parts = {"_multiprocessing": semaphores, "_posixshmem": types.ModuleType("_posixshmem")}
    names = "synchronize", "shared_memory", "queues", "sharedctypes"
    _, shared, queues, sharedctypes = _import_with(parts, [f"multiprocessing.{name}" for name in names])
    shared.SharedMemory = _values.SharedMemory
    queues.Queue = queues.JoinableQueue = Queue
    queues.SimpleQueue = SimpleQueue
    connection.Pipe, connection.wait, heap.Arena = Pipe, wait, _values.Arena
    for name in ("Value", "Array", "RawValue", "RawArray"):
        setattr(sharedctypes, name, getattr(_values, name))
    process.BaseProcess.start = start_process
    manager = managers.BaseManager
    manager.start, manager.connect, manager.register = start_manager, connect_manager, classmethod(register)
    manager.get_server = connect_manager
    for typeid, (make, *_) in list(managers.SyncManager._registry.items()):
        if make is not None:
            managers.SyncManager.register(typeid, make)
    context.BaseContext.Manager = start_plain_manager


def start_plain_manager(self):
    """`multiprocessing.Manager`."""
    manager = managers.SyncManager(ctx=self.get_context())
    manager.start()
    return manager
