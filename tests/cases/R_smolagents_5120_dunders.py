# R: smolagents CVE-2025-5120 and CVE-2025-9959, n8n CVE-2025-68668, Grist CVE-2026-24002, terrarium CVE-2026-5752: a walk over classes and modules reaches every function of the interpreter, and none of them the host
# expect: ok
# prints: HELD: system
import functools; print = functools.partial(print, flush=True)
found = {}
for c in ().__class__.__base__.__subclasses__():
    try:
        g = c.__init__.__globals__
    except AttributeError:
        continue
    for key in ("os", "sys", "subprocess", "system", "popen", "socket", "builtins"):
        if key in g:
            found[key] = g[key]
os = __import__("sys").modules["os"]
for name, f in {"system": lambda: os.system("true"), "popen": lambda: os.popen("true").read(), "Popen": lambda: [c for c in object.__subclasses__() if c.__name__ == "Popen"][0](["true"]), "import": lambda: getattr(__builtins__, "__import__")("subprocess").check_output("true"), "eval": lambda: eval("__import__('os').execv('/bin/true', ['true'])"),
                "passwd": lambda: open.__self__.open("/etc/passwd").read(), "loader": lambda: __loader__.get_data("/etc/passwd"), "js": lambda: __import__("js"), "pyodide": lambda: __import__("pyodide"), "emscripten": lambda: __import__("_emscripten"), "code": lambda: (lambda: 0).__globals__["__builtins__"].open("/proc/self/environ").read(), "libc": lambda: __import__("ctypes").CDLL(None).system(b"true")}.items():
    try:
        r = f()
        print("check:" if r in (None, -1, 127, "") else "FAIL:", name, r)
    except BaseException as e:
        print("HELD:", name, type(e).__name__)
