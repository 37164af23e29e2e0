"""The image's recipe, as far as it runs without the image: the folder wasm at the top of the repository."""

import ast
import importlib
import pathlib
import tempfile

from guest import RUNTIME, GuestCase

TEXT = "".join((RUNTIME.parent / "wasm" / name).read_text("utf-8") for name in ("memory.py", "preload.py"))


class Preload(GuestCase):
    def setUp(self):
        super().setUp()
        self.names = {"__name__": "preload"}
        exec(compile(TEXT, "<preload>", "exec"), self.names)

    def test_the_driver_is_loaded_in_an_order_that_its_imports_allow(self):
        order = self.names["STAND_INS"] + self.names["DRIVER"]
        self.assertEqual({*order, self.names["EARLY"]}, {path.stem for path in RUNTIME.glob("_slm_*.py")})
        for place, name in enumerate(order):
            tree = ast.parse((RUNTIME / f"{name}.py").read_text("utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    needed = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    needed = [node.module]
                else:
                    continue
                self.assertEqual([n for n in needed if n.startswith("_slm_") and n not in order[:place]], [], name)

    def test_the_standard_library_lists_name_modules_once(self):
        names = self.names["LIBRARY"] + self.names["LAZY"] + self.names["RARER"] + self.names["PACKAGES"]
        self.assertEqual(len(names), len(set(names)))
        for name in self.names["LIBRARY"]:
            importlib.import_module(name)

    def test_an_open_descriptor_is_named(self):
        check = self.names["check_descriptors"]
        with tempfile.NamedTemporaryFile() as file:
            fd = file.fileno()
            with self.assertRaisesRegex(OSError, rf"{fd} \(file, 0 bytes, held by .*{pathlib.Path(file.name).name}"):
                check(fd - 3, fd + 1)
            check(fd - 2, fd + 1)  # one of the guest's folders
        check(fd - 3, fd + 1)
