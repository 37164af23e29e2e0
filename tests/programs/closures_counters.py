def make_account(balance):
    history = []

    def deposit(amount):
        nonlocal balance
        if amount <= 0:
            raise ValueError(f"cannot deposit {amount}")
        balance += amount
        history.append(("deposit", amount))
        return balance

    def withdraw(amount):
        nonlocal balance
        if amount > balance:
            raise ValueError("insufficient funds")
        balance -= amount
        history.append(("withdraw", amount))
        return balance

    return deposit, withdraw, lambda: list(history)


deposit, withdraw, history = make_account(100)
print(deposit(50), withdraw(30), history())
for action, amount in ((withdraw, 1000), (deposit, -1)):
    try:
        action(amount)
    except ValueError as error:
        print("refused:", error)
print(deposit.__closure__ is not None, [c.cell_contents for c in history.__closure__], deposit.__code__.co_freevars)


def unbound():
    print(value)
    value = 1


try:
    unbound()
except UnboundLocalError as error:
    print(type(error).__name__, error)


def late():
    def use():
        return name
    try:
        use()
    except NameError as error:
        print(error)
    name = "now"
    return use()


print(late())
