from pathlib import Path

root = Path("project")
for name in ("src/app.py", "src/util/text.py", "src/util/data.json", "docs/index.md", "README.md"):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {path.stem}\n")

for path in sorted(root.rglob("*.py")):
    print(path.relative_to(root).as_posix(), path.stat().st_size, path.suffix)
print(sorted(p.name for p in root.iterdir() if p.is_dir()))
print(sum(1 for p in root.glob("**/*") if p.is_file()), "files")
readme = root / "README.md"
print(readme.with_suffix(".txt").name, readme.read_text().strip(), readme.exists())
readme.rename(root / "docs" / "README.md")
print(sorted(p.name for p in (root / "docs").iterdir()))
print(Path.home().is_dir(), Path("~").expanduser() == Path.home(), Path.cwd())
