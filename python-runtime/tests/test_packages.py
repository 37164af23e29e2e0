"""What the guest says of wheels, on an ordinary CPython."""

import importlib.util
import json
import marshal
import os
import pathlib
import sys
import tempfile
import types
import unittest
import zipfile

try:
    import packaging.requirements
    import packaging.version
except ImportError:  # pip has its own
    from pip._vendor import packaging
    from pip._vendor.packaging import requirements, version

    sys.modules.update({"packaging": packaging, "packaging.requirements": requirements, "packaging.version": version})

RUNTIME = pathlib.Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("packages_of_guest", RUNTIME / "packages.py")
packages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(packages)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def wheel(self, name, version, *requires, files=(), metadata=None, file=None):
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        text += "".join(f"Requires-Dist: {line}\n" for line in requires)
        with zipfile.ZipFile(os.path.join(self.folder, file or f"{name}-{version}-py3-none-any.whl"), "w") as archive:
            for path, content in files:
                archive.writestr(path, content)
            archive.writestr(f"{name}-{version}.dist-info/METADATA", metadata or text)

    def check(self, *requested, inside=()):
        known = [types.SimpleNamespace(name=name, version=version, requires=list(rest)) for name, version, *rest in inside]
        checked = packages.Check(self.folder, known)
        checked.walk(requested)
        return sorted(checked.needed), checked.missing, checked.wrong


class Checking(Case):
    def test_what_is_needed_is_walked_and_the_rest_is_not(self):
        self.wheel("app", "1.0", "dep>=1", "numpy", "never; python_version < '3'", "extra_only; extra == 'more'")
        self.wheel("dep", "1.5", "App")
        self.wheel("stray", "1.0")
        found = self.check("app", inside=[("numpy", "2.5.2")])
        self.assertEqual(found, (["app", "dep"], [], []))
        _, missing, _ = self.check("App[more]", inside=[("numpy", "2.5.2")])
        self.assertEqual(missing, ["extra_only"])

    def test_extras_of_what_is_inside_are_walked(self):
        self.wheel("quick", "1.0")
        inside = [("pandas", "3.0", "numpy", "quick>=1; extra == 'performance'")]
        self.assertEqual(self.check("pandas", inside=inside), ([], [], []))
        self.assertEqual(self.check("pandas[performance]", inside=inside), (["quick"], [], []))

    def test_what_does_not_go_together_is_told_once(self):
        self.wheel("app", "1.0", "numpy>3", "dep<1", "evil @ https://h/evil.whl", "not a requirement (")
        self.wheel("dep", "1.5")
        _, missing, wrong = self.check("app", "app>=2", inside=[("numpy", "2.5.2")])
        self.assertEqual(missing, [])
        for told in (
            "app 1.0 needs numpy>3, and 2.5.2 is inside and stays",
            "app 1.0 needs dep<1, and 1.5 is chosen",
            "app 1.0 needs evil @ https://h/evil.whl, which is an address; only packages of the index are taken",
            "app>=2 is asked for, and 1.0 is chosen",
        ):
            self.assertEqual(wrong.count(told), 1, wrong)
        self.assertIn("which cannot be read", "".join(wrong))

    def test_a_wheel_that_lies_about_itself_is_told(self):
        self.wheel("app", "1.0", metadata="Name: other\nVersion: 1.0\n")
        self.wheel("old", "1.0", metadata="Name: old\nVersion: 2.0\n")
        self.wheel("none", "1.0", metadata="\n")
        with open(os.path.join(self.folder, "broken-1.0-py3-none-any.whl"), "w") as file:
            file.write("no archive")
        _, _, wrong = self.check("app")
        self.assertEqual(len(wrong), 4, wrong)
        self.assertTrue(all("is no sound wheel" in told for told in wrong), wrong)

    def test_newer_versions_are_told_but_not_those_for_trying_out(self):
        self.wheel("app", "1.0")
        work, packages.WORK = packages.WORK, self.folder
        old = packages.Check.__init__.__defaults__
        packages.Check.__init__.__defaults__ = (self.folder, ())
        try:
            told = json.loads(packages.check(["app"], {"app": ["0.9", "2.0", "3.0rc1", "nonsense"], "other": ["9"]}))
        finally:
            packages.WORK, packages.Check.__init__.__defaults__ = work, old
        self.assertEqual(told["older"], [["app", "1.0", "2.0"]])


class Compiling(Case):
    def test_modules_become_bytecode_that_needs_no_look_at_its_source(self):
        files = [
            ("app/__init__.py", "x = 6 * 7\n"),
            ("top.py", "y = 1\n"),
            ("app/broken.py", "def (:\n"),
            ("app/data.txt", "no module"),
            ("app-1.0.data/purelib/more.py", "z = 1\n"),
            ("app-1.0.data/scripts/tool.py", "s = 1\n"),
        ]
        self.wheel("app", "1.0", files=files)
        self.wheel("zother", "1.0", files=[("top.py", "another's = 1\n")])
        out = os.path.join(self.folder, "compiled.zip")
        packages.compile_all(self.folder, out)
        tag = sys.implementation.cache_tag
        with zipfile.ZipFile(out) as archive:
            expected = {f"app/__pycache__/__init__.{tag}.pyc", f"__pycache__/top.{tag}.pyc", f"__pycache__/more.{tag}.pyc"}
            self.assertEqual(set(archive.namelist()), expected)
            compiled = archive.read(f"app/__pycache__/__init__.{tag}.pyc")
        self.assertEqual(compiled[:8], importlib.util.MAGIC_NUMBER + b"\1\0\0\0", "hash-based and unchecked")
        code, names = marshal.loads(compiled[16:]), {}
        exec(code, names)
        self.assertEqual((names["x"], code.co_filename), (42, "/usr/local/lib/packages/app/__init__.py"))


if __name__ == "__main__":
    unittest.main()
