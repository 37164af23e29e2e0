import re
from typing import NamedTuple


class Token(NamedTuple):
    kind: str
    value: str
    column: int


RULES = [("NUMBER", r"\d+(\.\d*)?"), ("NAME", r"[A-Za-z_]\w*"), ("OP", r"[-+*/()=]"), ("SKIP", r"[ \t]+"), ("BAD", r".")]
MASTER = re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in RULES))


def tokens(text):
    for match in MASTER.finditer(text):
        kind = match.lastgroup
        if kind == "BAD":
            raise SyntaxError(f"unexpected {match.group()!r} at {match.start()}")
        if kind != "SKIP":
            yield Token(kind, match.group(), match.start())


class Parser:
    def __init__(self, text):
        self.tokens, self.at = list(tokens(text)), 0

    def peek(self):
        return self.tokens[self.at].value if self.at < len(self.tokens) else None

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def expression(self):
        value = self.term()
        while self.peek() in ("+", "-"):
            value = value + self.term() if self.take().value == "+" else value - self.term()
        return value

    def term(self):
        value = self.factor()
        while self.peek() in ("*", "/"):
            value = value * self.factor() if self.take().value == "*" else value / self.factor()
        return value

    def factor(self):
        token = self.take()
        if token.value == "(":
            value = self.expression()
            self.take()
            return value
        return -self.factor() if token.value == "-" else float(token.value)


print(list(tokens("x = 3.5*(y+2)")))
for text in ("1 + 2 * 3", "(1 + 2) * -3", "10 / 4 - 1", "2 * (3 + (4 - 5)) / 7"):
    print(text, "=", Parser(text).expression())
try:
    list(tokens("1 ? 2"))
except SyntaxError as error:
    print(error)
