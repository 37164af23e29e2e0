"""Lines of IPython's in a cell."""

from guest import GuestCase


class Magic(GuestCase):
    def test_lines_that_set_up_a_notebook_are_passed_over(self):
        frames = self.assertOk(
            "%matplotlib inline\nx = 1\nif x:\n    %config InlineBackend.figure_format = 'retina'\n%load_ext autoreload\n"
            "%autoreload 2\nx + 1\n")
        self.assertEqual(frames[0]["data"]["text/plain"], "2")
        self.assertEqual(self.written(2), b"")

    def test_a_text_that_looks_like_them_is_kept(self):
        self.assertEqual(
            self.result('%matplotlib inline\ns = """\n%matplotlib inline\n!pip install x\n"""\nlen(s)')["text/plain"],
            str(len("\n%matplotlib inline\n!pip install x\n")))

    def test_installing_is_passed_over_and_told(self):
        self.assertOk("try:\n    import json\nexcept ImportError:\n    !pip install -q json \\\n       more\nx = 1")
        self.assertEqual(self.namespace["x"], 1)
        self.assertIn(b"`!pip install -q json \\` is passed over: nothing can be installed", self.written(2))
        self.assertOk("%pip install rich\n!conda install -y numpy\n")
        self.assertEqual(self.written(2).count(b"\n"), 2)

    def test_what_is_measured_runs_once(self):
        self.assertOk("log = []\n%time log.append('a  b')\n%timeit -n 10 -r3 log.append(2)\n%time\n")
        self.assertEqual(self.namespace["log"], ["a  b", 2])
        self.assertOk("%%time\nlog.append(3)")
        self.assertEqual(self.namespace["log"], ["a  b", 2, 3])
        self.assertIn(b"`%timeit` measures nothing here", self.written(2))

    def test_lines_keep_their_numbers(self):
        error = self.assertFails("%matplotlib inline\n!pip install a \\\n b\n1/0", "ZeroDivisionError")
        self.assertEqual(error["line"], 4)
        self.assertIn('line 4, in <module>\n    1/0\n', error["traceback"])

    def test_others_are_refused_with_pythons_way(self):
        for source, way, line in (
            ("x = 1\n!ls -la", "os.listdir()", 2), ("files = !ls", "os.listdir()", 1), ("%cd /tmp", "os.chdir", 1),
            ("%%bash\nls", "write it in Python", 1), ("%%writefile a.py\nx = 1", "open(", 1), ("y = %sql select 1", "sqlite3", 1),
            ("!wget http://x", "--file", 1), ("print?", "help(print)", 1), ("import os\nos.path??", "help(os.path)", 2),
            ("!python script.py", "write it in Python", 1),
        ):
            with self.subTest(source):
                error = self.assertFails(source, "SyntaxError")
                self.assertIn(way, error["message"])
                self.assertEqual(error["line"], line)
                self.assertIn(source.split("\n")[line - 1], error["traceback"])

    def test_other_mistakes_are_told_as_ever(self):
        for source in ("x = 5 %", "x = (", "def f(:\n    pass", "if x\n  y", "x = 1\n  !pip install y", "\0", "'", "a b"):
            with self.subTest(source):
                try:
                    compile(source, "<cell 1>", "exec")
                except SyntaxError as exc:
                    kind, line = type(exc).__name__, exc.lineno
                except ValueError:
                    continue  # of a NUL, before 3.12
                error = self.assertFails(source, kind)
                self.assertEqual(error["line"], line)
                self.assertNotIn("During handling", error["traceback"])
        error = self.assertFails("x = 1\n  !pip install y", "IndentationError")
        self.assertIn("    !pip install y\n", error["traceback"])
