import logging
import sys

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)-8s %(name)s: %(message)s")
log = logging.getLogger("bank")


class InsufficientFunds(Exception):
    def __init__(self, needed, available):
        super().__init__(f"need {needed:.2f}, have {available:.2f}")
        self.shortfall = needed - available


class Account:
    _next = 1000

    def __init__(self, owner, balance=0.0):
        self.owner, self._balance, self.history = owner, balance, []
        self.number = Account._next
        Account._next += 1

    @property
    def balance(self):
        return self._balance

    def _record(self, kind, amount):
        self.history.append((kind, amount, self._balance))
        log.info("%s %s %.2f -> %.2f", self.owner, kind, amount, self._balance)

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("deposits are positive")
        self._balance += amount
        self._record("deposit", amount)

    def withdraw(self, amount):
        if amount > self._balance:
            raise InsufficientFunds(amount, self._balance)
        self._balance -= amount
        self._record("withdraw", amount)

    def transfer(self, other, amount):
        self.withdraw(amount)
        other.deposit(amount)

    def __str__(self):
        return f"#{self.number} {self.owner}: {self.balance:,.2f}"


ann, bob = Account("Ann", 1500), Account("Bob")
ann.transfer(bob, 250.75)
try:
    bob.withdraw(1_000_000)
except InsufficientFunds as error:
    log.warning("refused: %s (short of %.2f)", error, error.shortfall)
try:
    bob.deposit(-5)
except ValueError:
    log.error("bad deposit", exc_info=sys.exc_info()[0] is None)
log.debug("not shown")
for account in (ann, bob):
    print(account, account.history)
