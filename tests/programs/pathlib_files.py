import os
import shutil
from pathlib import Path, PurePosixPath, PureWindowsPath

root = Path("project")
(root / "src" / "deep").mkdir(parents=True)
(root / "README.md").write_text("# Title\n\nText é\n", encoding="utf-8")
for n in range(3):
    (root / "src" / f"m{n}.py").write_text(f"x = {n}\n")
(root / "src" / "deep" / "data.bin").write_bytes(bytes(range(10)))
print(sorted(p.as_posix() for p in root.rglob("*")), sorted(p.name for p in root.glob("src/*.py")), [p.name for p in sorted((root / "src").iterdir())])
print((root / "README.md").read_text().splitlines(), (root / "src/deep/data.bin").stat().st_size, root.is_dir(), (root / "x").exists(), (root / "README.md").is_file())
p = Path("/a/b/../c/file.tar.gz")
print(p.name, p.stem, p.suffix, p.suffixes, p.parent, p.parts, p.with_suffix(".zip"), p.with_name("z"), p.with_stem("q"), p.is_absolute(), p / "/root", os.path.normpath(p))
print(Path("a/b").relative_to("a"), Path("a//b/./c"), Path("a") / "b" / "..", Path("a/b").joinpath("c", "d"), Path("x.py").match("*.py"), list(Path("a/b/c").parents), Path("."), Path(""), repr(Path("q")), Path("a") < Path("b"))
print(PureWindowsPath("C:\\Users\\x.txt").parts, PureWindowsPath("C:/a") == PureWindowsPath("c:\\A"), PurePosixPath("a\\b").name, PureWindowsPath("a/b").as_posix())
(root / "README.md").rename(root / "NEWS.md")
(root / "src" / "m0.py").unlink()
(root / "src" / "m0.py").unlink(missing_ok=True)
shutil.copytree(root, "copy")
shutil.rmtree(root)
print(root.exists(), sorted(os.listdir("copy")), sorted(os.listdir("copy/src")), (Path("copy") / "touch").touch(), os.path.exists("copy/touch"))
for bad in (lambda: Path("nope").read_text(), lambda: Path("copy").rmdir(), lambda: Path("copy").mkdir(), lambda: Path("copy").read_bytes(), lambda: Path("a").relative_to("b/c"), lambda: Path("a").with_suffix("x"), lambda: Path("copy/NEWS.md/x").write_text("")):
    try:
        bad()
    except (OSError, ValueError) as error:
        print(type(error).__name__, getattr(error, "strerror", "") or "", getattr(error, "filename", "") or "")
