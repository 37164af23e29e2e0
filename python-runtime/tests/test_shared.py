"""What multiprocessing shares, and what a program finds where threads and processes would be."""

import multiprocessing
import os
import queue
import time
import types
import unittest
from multiprocessing import managers

from guest import GuestCase  # noqa: F401  puts the driver's folder on the path

import _slm_alone
import _slm_shared
import _slm_values


class Shared(unittest.TestCase):
    def test_a_lock_that_is_held_is_an_error(self):
        for kind in (0, 1):
            lock = _slm_shared.SemLock(kind, 1, 1, "name", True)
            with lock:
                self.assertTrue(lock._is_mine() and lock._is_zero())
                if kind == 0:
                    self.assertTrue(lock.acquire())
                    lock.release()
                else:
                    self.assertFalse(lock.acquire(False))
                    self.assertRaisesRegex(RuntimeError, "would wait for ever", lock.acquire)
                    start = time.monotonic()
                    self.assertFalse(lock.acquire(True, 0.01))
                    self.assertLess(0.009, time.monotonic() - start)
            self.assertEqual((lock._get_value(), lock._count()), (1, 0))
            self.assertRaises((AssertionError, ValueError), lock.release)

    def test_queues(self):
        shared = _slm_shared.Queue(2, ctx=None)
        shared.put(1), shared.put_nowait(2)
        self.assertTrue(shared.full())
        self.assertRaises(queue.Full, shared.put, 3, timeout=0.01)
        self.assertEqual((shared.get(), shared.get_nowait()), (1, 2))
        self.assertRaises(queue.Empty, shared.get, timeout=0.01)
        shared.close()
        shared.join_thread()
        self.assertRaisesRegex(ValueError, "is closed", shared.put, 1)
        simple = _slm_shared.SimpleQueue(ctx=None)
        simple.put("x")
        self.assertEqual((simple.get(), simple.empty()), ("x", True))

    def test_pipes_hand_on_copies(self):
        one, other = _slm_shared.Pipe()
        sent = {"a": [1]}
        one.send(sent)
        self.assertTrue(other.poll())
        got = other.recv()
        self.assertEqual(got, sent)
        self.assertIsNot(got, sent)
        other.send_bytes(b"bytes")
        self.assertEqual(one.recv_bytes(), b"bytes")
        self.assertFalse(one.poll(0.01))
        self.assertRaisesRegex(RuntimeError, "would wait for ever", one.recv)
        one.close()
        self.assertRaises(EOFError, other.recv)
        self.assertRaises(OSError, one.send, 1)
        reader, writer = _slm_shared.Pipe(duplex=False)
        self.assertRaises(OSError, reader.send, 1)
        writer.send(2)
        self.assertEqual(_slm_shared.wait([reader]), [reader])

    def test_values(self):
        value = _slm_values.Value("i", 3)
        with value.get_lock():
            value.value += 1
        self.assertEqual((value.value, repr(value)), (4, "<Synchronized wrapper for 4>"))
        self.assertEqual(_slm_values.Value("d").value, 0.0)
        self.assertFalse(hasattr(_slm_values.Value("i", lock=False), "get_lock"))
        self.assertRaises(OverflowError, setattr, value, "value", 1 << 40)
        self.assertRaisesRegex(TypeError, "type codes", _slm_values.Value, int)

    def test_arrays(self):
        shared = _slm_values.Array("d", [1, 2, 3])
        shared[0] = 9
        shared[1:] = (7, 8)
        self.assertEqual((shared[:], list(shared), len(shared)), ([9.0, 7.0, 8.0], [9.0, 7.0, 8.0], 3))
        self.assertRaises(ValueError, shared.__setitem__, slice(0, 2), (1,))
        with shared:
            self.assertEqual(_slm_values.Array("i", 2)[:], [0, 0])
        text = _slm_values.Array("c", 4)
        text.value = b"ab"
        self.assertEqual(text.value, b"ab")
        self.assertRaises(ValueError, setattr, text, "value", b"abcde")

    def test_shared_memory(self):
        shared = _slm_values.SharedMemory(create=True, size=4)
        other = _slm_values.SharedMemory(shared.name)
        shared.buf[1] = 5
        self.assertEqual((bytes(other.buf), other.size), (b"\0\5\0\0", 4))
        self.assertRaises(FileExistsError, _slm_values.SharedMemory, shared.name, True, 4)
        shared.close(), other.close()
        shared.unlink()
        self.assertRaises(FileNotFoundError, _slm_values.SharedMemory, shared.name)
        self.assertRaises(FileNotFoundError, shared.unlink)

    def test_managers_make_plain_objects(self):
        class Plain(managers.SyncManager):
            start, register = _slm_shared.start_manager, classmethod(_slm_shared.register)

        Plain.register("dict", dict)
        Plain.register("counter", lambda start=0: types.SimpleNamespace(count=start))
        manager = Plain(ctx=multiprocessing.get_context())
        self.assertRaisesRegex(AssertionError, "not yet started", manager.dict)
        with manager:
            self.assertEqual((manager.dict(a=1), manager.counter(start=5).count), ({"a": 1}, 5))
        self.assertRaises(managers.ProcessError, manager.start)
        self.assertNotIn("counter", managers.SyncManager._registry)


class Alone(unittest.TestCase):
    def test_programs_are_not_found(self):
        for command, text in (
            (["ls", "-l"], "only Python.*'ls'"),
            ("git status", "only Python.*'git'"),
            (b"ls", "'ls'"),
            ("pip install x", "pip cannot"),
            (["/usr/bin/python3", "-m", "pip", "install", "x"], "pip cannot"),
            ([], "only Python"),
            (5, "only Python"),
        ):
            self.assertRegex(str(_slm_alone.refused(command)), text)
            self.assertIsInstance(_slm_alone.refused(command), FileNotFoundError)
        self.assertEqual(_slm_alone.system("clear"), 0)
        self.assertRaises(FileNotFoundError, _slm_alone.system, "ls")

    def test_a_missing_name_tells_the_reason_and_is_missing(self):
        module = types.ModuleType("os")
        module.__getattr__ = _slm_alone.absent("os", "no processes", frozenset(("fork",)))
        self.assertFalse(hasattr(module, "fork"))
        with self.assertRaisesRegex(AttributeError, "^module 'os' has no attribute 'fork': no processes$"):
            module.fork()
        with self.assertRaisesRegex(AttributeError, "^module 'os' has no attribute 'other'$"):
            module.other()

    def test_no_refusal_takes_the_place_of_what_windows_has(self):
        # Programs ask for these to find out whether they run on a system with processes.
        names = {name for _, names in _slm_alone._ABSENT.values() for name in names.split()}
        self.assertFalse({"system", "popen", "getpid"} & names)
        self.assertTrue(names & set(dir(os)))

    def test_waiting_for_nobody_is_an_error(self):
        self.assertRaisesRegex(RuntimeError, "would wait for ever", _slm_alone.deadlock, _slm_alone.DEADLOCK, None)
        self.assertRaisesRegex(RuntimeError, "ThreadPoolExecutor", _slm_alone.start_thread, print, ())


if __name__ == "__main__":
    unittest.main()
