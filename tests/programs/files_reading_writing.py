import io
import os

with open("poem.txt", "w", encoding="utf-8") as file:
    print(file.write("first line\n"), file.tell(), file.writable(), file.readable(), file.name, file.mode, file.encoding)
    file.writelines(["second é\n", "third\n", "last without newline"])
    print("printed", 1, 2, sep="|", end="!\n", file=file)
with open("poem.txt", encoding="utf-8") as file:
    print(file.readline(), file.read(6), file.readlines(), file.read() == "", end="|\n")
    file.seek(0)
    print([line.rstrip("\n") for line in file], file.closed)
print(file.closed, sum(1 for _ in open("poem.txt")), os.path.getsize("poem.txt"))
with open("poem.txt", "r+b") as file:
    file.seek(6)
    file.write(b"LINE")
    file.seek(-5, os.SEEK_END)
    print(file.read(), file.tell())
    file.truncate(11)
print(open("poem.txt").read(), open("poem.txt", "rb").read(5))
with open("poem.txt", "a") as file:
    file.write("appended")
with open("crlf.txt", "w", newline="\r\n") as file:
    file.write("a\nb\n")
print(open("crlf.txt", "rb").read(), open("crlf.txt").read(), repr(open("crlf.txt", newline="").read()), open("poem.txt").read().split("\n"))
for call in (lambda: open("nope.txt"), lambda: open("poem.txt", "x"), lambda: open("poem.txt", "q"), lambda: open("poem.txt", "rb").write(b""), lambda: open("poem.txt", "w").read(), lambda: open("."), lambda: open("a\0b"), lambda: file.read(), lambda: open("crlf.txt", "rb", encoding="utf-8"), lambda: open("nofolder/x", "w")):
    try:
        call()
    except (OSError, ValueError) as error:
        print(type(error).__name__, error.strerror if isinstance(error, OSError) and error.strerror else error)
text = io.StringIO("one\ntwo\n")
print(text.readline(), list(text), text.getvalue(), io.BytesIO(b"abc").read(2), io.TextIOWrapper(io.BytesIO(b"x\r\ny"), newline=None).read())
buffered = io.BufferedReader(io.BytesIO(b"0123456789"), 4)
print(buffered.peek(2)[:2], buffered.read(3), buffered.read1(10), io.DEFAULT_BUFFER_SIZE > 0)
