import ast

tree = ast.parse("x = 1 + 2 * y\nif x > 3:\n    print('big', end='')\n")
print(ast.dump(ast.Constant(5)), ast.dump(ast.parse("1").body[0]))
print(ast.unparse(tree), [type(node).__name__ for node in ast.walk(tree)][:8])


class Fold(ast.NodeTransformer):
    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return ast.copy_location(ast.Constant(eval(compile(ast.Expression(node), "", "eval"))), node)
        return node


print(ast.unparse(Fold().visit(ast.parse("a = 2 * 3 + b * (4 - 1)"))))


class Names(ast.NodeVisitor):
    def __init__(self):
        self.used, self.assigned = set(), set()

    def visit_Name(self, node):
        (self.assigned if isinstance(node.ctx, ast.Store) else self.used).add(node.id)


names = Names()
names.visit(ast.parse("a = b + c\nfor d in e: f(d)"))
print(sorted(names.used), sorted(names.assigned))
print(ast.literal_eval("[1, {'a': (2.5, None)}, -3, b'x', {1}]"), eval(compile(ast.parse("1 + 1", mode="eval"), "x", "eval")), ast.get_source_segment("a = [1, 2]", ast.parse("a = [1, 2]").body[0].value))
for bad in ("f()", "1 +", "[1, x]", "a b"):
    try:
        ast.literal_eval(bad)
    except (ValueError, SyntaxError) as error:
        print(repr(bad), type(error).__name__, str(error).split(" (")[0].split(": ")[0])
namespace = {}
exec(compile("def made(n):\n    return n * k\nk = 7", "<made>", "exec"), namespace)
print(namespace["made"](6), namespace["made"].__code__.co_filename, eval("a + 1", {"a": 1}, {"a": 2}), ast.unparse(ast.parse("lambda x, *y: f'{x!r:>{y}}'")))
