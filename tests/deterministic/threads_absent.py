import threading, time
print(threading.current_thread(), threading.get_ident(), threading.main_thread().ident)
try:
    threading.Timer(0.1, print).start()
except RuntimeError as e:
    print(e)
