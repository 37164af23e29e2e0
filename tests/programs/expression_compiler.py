# A tiny language: parse, compile to a stack machine, run.
import ast
import operator


class Compiler(ast.NodeVisitor):
    OPS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "div", ast.Mod: "mod", ast.Lt: "lt", ast.Gt: "gt", ast.Eq: "eq"}

    def __init__(self):
        self.code = []

    def emit(self, *instruction):
        self.code.append(list(instruction))
        return len(self.code) - 1

    def visit_Constant(self, node):
        self.emit("push", node.value)

    def visit_Name(self, node):
        self.emit("load", node.id)

    def visit_BinOp(self, node):
        self.visit(node.left)
        self.visit(node.right)
        self.emit(self.OPS[type(node.op)])

    def visit_Compare(self, node):
        self.visit(node.left)
        self.visit(node.comparators[0])
        self.emit(self.OPS[type(node.ops[0])])

    def visit_Assign(self, node):
        self.visit(node.value)
        self.emit("store", node.targets[0].id)

    def visit_While(self, node):
        start = len(self.code)
        self.visit(node.test)
        jump = self.emit("jump_unless", None)
        for statement in node.body:
            self.visit(statement)
        self.emit("jump", start)
        self.code[jump][1] = len(self.code)

    def visit_Call(self, node):
        self.visit(node.args[0])
        self.emit("print")

    def generic_visit(self, node):
        if not isinstance(node, (ast.Module, ast.Expr)):
            raise SyntaxError(f"line {node.lineno}: {type(node).__name__} is not in the language")
        super().generic_visit(node)


ACTIONS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.floordiv, "mod": operator.mod, "lt": operator.lt, "gt": operator.gt, "eq": operator.eq}


def run(code):
    stack, names, at, steps = [], {}, 0, 0
    while at < len(code):
        op, *argument = code[at]
        at, steps = at + 1, steps + 1
        match op, argument:
            case "push", [value]:
                stack.append(value)
            case "load", [name]:
                stack.append(names[name])
            case "store", [name]:
                names[name] = stack.pop()
            case "jump", [to]:
                at = to
            case "jump_unless", [to]:
                at = at if stack.pop() else to
            case "print", []:
                print("out:", stack.pop())
            case _:
                b, a = stack.pop(), stack.pop()
                stack.append(ACTIONS[op](a, b))
    return names, steps


compiler = Compiler()
compiler.visit(ast.parse("a = 0\nb = 1\nwhile b < 100:\n    print(b)\n    c = a + b\n    a = b\n    b = c\nprint(a % 7 - 2)"))
for number, instruction in enumerate(compiler.code[:6]):
    print(number, *instruction)
print(*run(compiler.code))
for bad in ("x = [1]", "def f(): pass", "y"):
    try:
        compiler = Compiler()
        compiler.visit(ast.parse(bad))
        run(compiler.code)
    except (SyntaxError, KeyError) as error:
        print(type(error).__name__, error)
