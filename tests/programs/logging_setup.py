import io
import logging
import logging.handlers

stream = io.StringIO()
root = logging.getLogger("app")
root.setLevel(logging.DEBUG)
root.propagate = False
handler = logging.StreamHandler(stream)
handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(funcName)s:%(lineno)d:%(message)s"))
root.addHandler(handler)
child = logging.getLogger("app.db")


def work():
    child.debug("details %d of %s", 3, "it")
    child.info("plain 100%")
    child.warning("dict %(a)s", {"a": 1})
    root.error("failed", extra={"code": 7})
    child.log(25, "custom level")


work()
handler.setLevel(logging.ERROR)
child.warning("dropped")
child.critical("kept")
root.removeHandler(handler)
print(stream.getvalue())
print(child.getEffectiveLevel(), logging.getLevelName(30), logging.getLevelName("ERROR"), child.parent.name, child.isEnabledFor(10), logging.getLogger("app") is root, child.hasHandlers())


class Only(logging.Filter):
    def filter(self, record):
        record.who = "filter"
        return "secret" not in record.getMessage()


memory = logging.handlers.MemoryHandler(10, flushLevel=logging.ERROR, target=handler)
handler.setLevel(0)
handler.setFormatter(logging.Formatter("{levelname:>8} {who} {message}", style="{"))
memory.addFilter(Only())
root.addHandler(memory)
stream.truncate(0)
stream.seek(0)
root.info("one")
root.info("a secret")
print(repr(stream.getvalue()))
root.error("flushes")
print(stream.getvalue())
logging.basicConfig(filename="log.txt", format="%(asctime)s %(message)s", datefmt="%Y", force=True)
logging.warning("to the file")
logging.shutdown()
text = open("log.txt").read()
print(text[4:], text[:2])
