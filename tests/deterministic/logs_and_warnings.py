import logging, warnings, sys
logging.basicConfig(format="%(asctime)s %(relativeCreated)d %(process)d %(thread)d %(message)s", stream=sys.stdout)
logging.warning("one")
warnings.warn("two")
logging.error("three %s", object())
