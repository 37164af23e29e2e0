# M28: syntax trees built by hand, a million deep, or false
# expect: ok | error | memory | crashed | timeout
import functools; print = functools.partial(print, flush=True)
import ast
n = ast.Constant(1)
for _ in range(500_000):
    n = ast.UnaryOp(ast.USub(), n)
for tree in (ast.Expression(n), ast.Expression(ast.Name(1, ast.Load())), ast.Expression(ast.Constant(object())), ast.Expression(ast.Call(n, [], []))):
    try:
        compile(ast.fix_missing_locations(tree), "<tree>", "eval")
        print("compiled")
    except (RecursionError, MemoryError, TypeError, ValueError, SyntaxError) as e:
        print("HELD:", type(e).__name__)
# --- turn ---
# expect: ok | error | memory | crashed
import types
f = lambda: 0
c = f.__code__
# Code that no compiler made: it may do anything to this interpreter, and nothing beyond it.
exec(c.replace(co_code=bytes([100, 255] * 50 + [83, 0]), co_stacksize=1))
