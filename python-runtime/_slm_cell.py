import sys, json, io, ast, builtins, __main__, _host, traceback
def start(s):
    d=json.loads(s); sys.argv=d["argv"]; __main__.__dict__.update(d["bind"])
    sys.stdout=io.TextIOWrapper(io.FileIO(1,"w",closefd=False),encoding="utf-8",write_through=True,errors="surrogateescape")
    sys.stderr=io.TextIOWrapper(io.FileIO(2,"w",closefd=False),encoding="utf-8",write_through=True,errors="backslashreplace")
class _F(Exception): pass
def run(src,n):
    try:
        t=ast.parse(src,f"<cell {n}>"); last=None
        if t.body and isinstance(t.body[-1],ast.Expr): last=ast.Expression(t.body.pop().value)
        exec(compile(t,f"<cell {n}>","exec"),__main__.__dict__)
        if last is not None:
            v=eval(compile(last,f"<cell {n}>","eval"),__main__.__dict__)
            if v is not None: _host.call(json.dumps({"kind":"result","data":{"text/plain":repr(v)}}).encode())
    except BaseException as e:
        _host.call(json.dumps({"kind":"error","type":type(e).__name__,"message":str(e),"line":None,"traceback":traceback.format_exc()}).encode())
        sys.excepthook=lambda *a: None
        raise _F from None
def finish():
    import atexit; atexit._run_exitfuncs()
