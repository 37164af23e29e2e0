# S03: no sockets
# expect: ok
# prints: HELD:
import socket
for f in (lambda: socket.socket(), lambda: socket.socketpair(), lambda: socket.getaddrinfo("localhost", 1),
          lambda: socket.fromfd(3, socket.AF_INET, socket.SOCK_STREAM)):
    try:
        print("FAIL:", f())
    except Exception as e:
        print("HELD:", type(e).__name__, getattr(e, "errno", None))
