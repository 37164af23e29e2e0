import logging
import sys

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
logger = logging.getLogger("app")
logger.debug("not shown")
logger.info("started with %d items", 3)
try:
    {}["missing"]
except KeyError:
    logger.error("lookup failed", exc_info=False)

handler = logging.FileHandler("app.log")
handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y"))
worker = logging.getLogger("app.worker")
worker.addHandler(handler)
worker.warning("low space")
print(len(open("app.log").read().split()))
