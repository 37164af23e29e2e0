"""Streams: nothing printed is lost, and a cell cannot leave the next one without them."""

import os
import sys

from guest import GuestCase


class Streams(GuestCase):
    def test_print_reaches_the_descriptor_before_it_returns(self):
        self.namespace["look"] = lambda: self.written(1)
        self.assertOk("print('a', end='')\nfirst = look()\nprint('ж\\n', 'b')\nsecond = look()")
        self.assertEqual(self.namespace["first"], b"a")
        self.assertEqual(self.namespace["second"].decode(), "ж\n b\n")
        self.namespace["look"] = lambda: self.written(2)
        self.assertOk("import sys\nsys.stderr.write('e')\nthird = look()")
        self.assertEqual(self.namespace["third"], b"e")

    def test_a_big_print_is_one_write(self):
        size = 1 << 20
        before = os.fstat(1).st_size
        self.assertOk(f"print('x' * {size})")
        self.assertEqual(os.fstat(1).st_size - before, size + 1)

    def test_what_python_calls_them(self):
        self.assertOk("import sys\nsaw = [(s.name, s.mode, s.encoding, s.errors, s.fileno(), s.isatty()) "
                      "for s in (sys.stdout, sys.stderr)]\nsame = sys.stdout is sys.__stdout__")
        self.assertEqual(self.namespace["saw"], [("<stdout>", "w", "utf-8", "surrogateescape", 1, False),
                                                 ("<stderr>", "w", "utf-8", "backslashreplace", 2, False)])
        self.assertTrue(self.namespace["same"])

    def test_bytes_and_surrogates(self):
        self.assertOk("import sys\nsys.stdout.buffer.write(b'\\xff\\x00')\nsys.stdout.buffer.flush()\nprint('\\udc80')")
        self.assertEqual(self.written(1), b"\xff\x00\x80\n")
        self.assertOk("print('\\ud800', file=sys.stderr)")
        self.assertEqual(self.written(2), b"\\ud800\n")
        self.assertFails("print('\\ud800')", "UnicodeEncodeError")

    def test_the_next_cell_has_working_streams(self):
        for source in ("sys.stdout.close()", "sys.stdout = None", "del sys.stdout", "sys.stdout.detach()",
                       "sys.stdout.buffer.close()", "sys.stdout = open('/dev/null', 'w'); sys.stdout.close()",
                       "sys.stderr = None; sys.stdout = None", "sys.stderr.close()",
                       "import io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer); sys.stdout.close()"):
            with self.subTest(source):
                self.written(1)
                self.assertOk(f"import sys\n{source}")
                self.assertFails(f"import sys\n{source}\n1/0", "ZeroDivisionError")
                self.assertOk("print('back')\nprint('here', file=sys.stderr)")
                self.assertEqual((self.written(1), self.written(2)), (b"back\n", b"here\n"))

    def test_a_stream_closed_with_its_descriptor_is_back_when_the_descriptor_is(self):
        for name, fd in (("stdout", 1), ("stderr", 2)):
            with self.subTest(name):
                kept = os.dup(fd)
                try:
                    self.assertOk(f"import os, sys\nsys.{name}.close()\nos.close({fd})")
                finally:
                    os.dup2(kept, fd)
                    os.close(kept)
                self.assertOk(f"print('back', file=sys.{name})")
                self.assertEqual(self.written(fd), b"back\n")

    def test_a_cells_own_stream_stays_in_the_session(self):
        self.assertOk("import io, sys\nsys.stdout = mine = io.StringIO()\nprint('one')")
        self.assertIs(sys.stdout, sys.__stdout__)
        self.assertOk("print('two')")
        self.assertEqual(self.result("mine.getvalue()"), {"text/plain": r"'one\ntwo\n'"})
        self.assertEqual(self.written(1), b"")
        self.assertOk("sys.stdout = sys.__stdout__\nprint('three')")
        self.assertEqual(self.written(1), b"three\n")

    def test_a_writer_without_flush_and_a_flush_that_raises(self):
        self.assertOk("class W:\n    def write(self, s): log.append(s)\nlog = []\nimport sys\nsys.stdout = W()")
        self.assertOk("print('kept', end='')")
        self.assertEqual(self.namespace["log"], ["kept", ""])
        self.assertOk("class F(W):\n    def flush(self): raise KeyboardInterrupt\n"
                      "    closed = property(lambda s: 1/0)\nsys.stdout = sys.stderr = F()")
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertOk("sys.stdout = sys.__stdout__; print('fine')")
        self.assertEqual(self.written(1), b"fine\n")

    def test_methods_replaced_on_our_own_stream_last_between_cells_only_for_cells(self):
        self.assertOk("import sys\nlog = []\nsys.stdout.write = log.append\n"
                      "def bad(): raise KeyboardInterrupt\nsys.stdout.flush = bad")
        self.assertOk("print('x', end='')")
        self.assertEqual((self.namespace["log"], self.written(1)), (["x", ""], b""))
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertOk("sys.stdout = sys.__stdout__\nprint('y')")
        self.assertEqual(self.written(1), b"y\n")

    def test_files_left_open_in_variables_are_written_out(self):
        path = os.path.join(self.enterContext(__import__("tempfile").TemporaryDirectory()), "f")
        self.assertOk(f"f = open({path!r}, 'w')\nf.write('rows')\nb = open({path!r} + 'b', 'wb')\nb.write(b'more')")
        self.assertEqual((os.path.getsize(path), os.path.getsize(path + "b")), (4, 4))
        self.assertOk("f.close(); b.close()")

    def test_input_is_at_its_end(self):
        kept, fd = os.dup(0), os.open(os.devnull, os.O_RDONLY)
        stdin, sys.stdin = sys.stdin, open(0, closefd=False)
        try:
            os.dup2(fd, 0)
            self.assertFails("input('password: ')", "EOFError")
        finally:
            os.dup2(kept, 0)
            os.close(kept)
            os.close(fd)
            sys.stdin = stdin
        self.assertEqual(self.written(1), b"password: ")
