# What is logged goes to stderr, and the program ends well.
import logging

logging.basicConfig(level=logging.INFO)
log = logging.getLogger(__name__)
print("name", __name__)
for step in ("load", "clean", "fit"):
    log.info("step %s", step)
    print("done", step)
log.warning("finished with %d warnings", 1)
