# S32: every way to a network; none is asked for an address off this machine
# expect: ok
# prints: HELD: create
import socket
def url():
    import urllib.request
    return urllib.request.urlopen("http://127.0.0.1:1/", timeout=1)
def ftp():
    import ftplib
    return ftplib.FTP("127.0.0.1", timeout=1)
for name, f in {"create": lambda: socket.create_connection(("127.0.0.1", 1), 1), "server": lambda: socket.create_server(("127.0.0.1", 0)), "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM), "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW), "by name": lambda: socket.gethostbyname("localhost"),
                "from fd": lambda: socket.socket(fileno=5).recv(1), "url": url, "ftp": ftp, "interfaces": lambda: socket.if_nameindex()}.items():
    try:
        print("FAIL:", name, f())
    except Exception as e:
        print("HELD:", name, type(e).__name__)
