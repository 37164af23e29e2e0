# S02: no path, user, process or machine of the host's
# expect: ok
# lacks: /root
# lacks: /home/
import getpass, os, platform, socket, sys, sysconfig, tempfile
for name, f in {"user": getpass.getuser, "login": lambda: os.getlogin(), "uid": lambda: os.getuid(), "pid": lambda: os.getpid(), "uname": lambda: os.uname(), "node": platform.node, "platform": platform.platform, "host": socket.gethostname, "passwd": lambda: __import__("pwd").getpwall(), "home": lambda: os.path.expanduser("~"), "executable": lambda: sys.executable,
                "prefix": lambda: sys.prefix, "argv": lambda: sys.argv, "orig_argv": lambda: sys.orig_argv, "path": lambda: sys.path, "tmp": tempfile.gettempdir, "cpus": lambda: os.cpu_count(), "load": lambda: os.getloadavg(), "groups": lambda: os.getgroups(), "terminal": lambda: os.get_terminal_size(), "ctermid": lambda: os.ctermid(), "vars": lambda: sysconfig.get_config_vars("prefix", "CC"), "environ": lambda: dict(os.environ), "tz": lambda: __import__("time").tzname}.items():
    try:
        print(name, str(f())[:300])
    except Exception as e:
        print("HELD:", name, type(e).__name__)
