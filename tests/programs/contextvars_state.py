import contextvars

user = contextvars.ContextVar("user", default="nobody")
depth = contextvars.ContextVar("depth")


def show(label):
    print(label, user.get(), depth.get("unset"))


show("start")
token = user.set("ann")
show("set")
context = contextvars.copy_context()


def inside():
    user.set("bob")
    depth.set(1)
    show("inside")
    return user.get()


print(context.run(inside))
show("outside")
print(context[user], context.get(depth), user in context, len(list(context)) >= 2, token.var is user, token.old_value is contextvars.Token.MISSING)
user.reset(token)
show("reset")
for bad in (lambda: user.reset(token), lambda: depth.get(), lambda: context.run(context.run, print)):
    try:
        bad()
    except (RuntimeError, LookupError) as error:
        print(type(error).__name__, str(error)[:42].split(" at 0x")[0].split("<")[0])
