"""Stand-ins for a terminal, a user, a disk and a network."""

import cmd
import contextlib
import io
import os
import pdb
import sys
import tempfile
import unittest
from unittest import mock

import _slm_desktop as desktop


class Desktop(unittest.TestCase):
    def empty(self):
        """The standard input as it is in the guest."""
        stdin = open(os.devnull)
        self.addCleanup(stdin.close)
        for patch in (mock.patch.object(desktop, "_stdin", stdin), mock.patch.object(sys, "stdin", stdin)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_input_says_why_there_is_none(self):
        self.empty()
        with contextlib.redirect_stdout(io.StringIO()) as out, self.assertRaisesRegex(EOFError, "standard input is empty") as caught:
            desktop.input("Name: ")
        self.assertIsNone(caught.exception.__context__)
        self.assertEqual(out.getvalue(), "Name: ")
        with self.assertRaisesRegex(EOFError, "--file"):
            desktop.getpass()

    def test_a_stream_of_the_programs_own_is_read(self):
        with mock.patch.object(sys, "stdin", io.StringIO("5\nsecret\n")), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(desktop.input("n? "), "5")
            with contextlib.redirect_stderr(io.StringIO()) as err:
                self.assertEqual(desktop.getpass("Key: "), "secret")
            self.assertEqual(err.getvalue(), "Key: ")
            with self.assertRaisesRegex(EOFError, "when reading a line"):
                desktop.input()

    def test_breakpoints_are_told_and_passed(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            desktop._breakpoint()
            desktop._set_trace()
        first, second = err.getvalue().splitlines()
        self.assertRegex(first, r"^breakpoint\(\) in .*test_desktop.py, line \d+: there is no terminal here")
        self.assertIn("pdb.set_trace()", second)

    def test_loops_of_commands_end_with_their_input(self):
        self.empty()

        class Stubborn(cmd.Cmd):
            def default(self, line):
                return False

        with mock.patch.object(cmd.Cmd, "onecmd", desktop._command), contextlib.redirect_stdout(io.StringIO()):
            cmd.Cmd().cmdloop()
            Stubborn().cmdloop()
            with mock.patch.object(cmd.Cmd, "do_bye", lambda self, rest: True, create=True):
                own = cmd.Cmd(stdin=io.StringIO("x\nbye\n"), stdout=io.StringIO())
                own.use_rawinput = False
                own.cmdloop()
        self.assertIn("Unknown syntax: x", own.stdout.getvalue())

    def test_a_debugger_without_a_person_lets_the_program_run(self):
        self.empty()
        space = {}
        with mock.patch.object(pdb.Pdb, "_cmdloop", desktop._goes_on), contextlib.redirect_stderr(io.StringIO()) as err, \
                contextlib.redirect_stdout(io.StringIO()):
            pdb.run("x = 1\ny = x + 1", space)
            try:
                1 / 0
            except ZeroDivisionError:
                pdb.post_mortem()
        self.assertEqual(space["y"], 2)
        self.assertIn("pdb: there is no terminal here", err.getvalue())

    def test_a_user_and_no_terminal(self):
        with mock.patch.dict(os.environ, clear=True):
            self.assertEqual(desktop.getuser(), "user")
            os.environ["USER"] = "ann"
            self.assertEqual(desktop.getuser(), "ann")
        with self.assertRaises(OSError):
            desktop.get_terminal_size()
        self.assertEqual(desktop.libc_ver(), ("", ""))

    def test_what_is_left_is_found_by_trying(self):
        limit = 123_456_789

        def ftruncate(fd, size):
            if size > limit:
                raise OSError("full")

        with mock.patch.object(os, "ftruncate", ftruncate):
            self.assertEqual(desktop._longest(0), limit)
            limit = 0
            self.assertEqual(desktop._longest(0), 0)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(desktop, "_KEPT", (folder,)), \
                mock.patch.object(desktop, "_longest", lambda fd: 1000):
            with open(os.path.join(folder, "a"), "w") as file:
                file.write("x" * 24)
            self.assertEqual(tuple(desktop.disk_usage(folder)), (1024, 24, 1000))
            with self.assertRaises(FileNotFoundError):
                desktop.disk_usage(os.path.join(folder, "no"))
