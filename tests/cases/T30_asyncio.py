# T30: event loops: refused, or stopped like any wait
# expect: error | timeout | crashed
import asyncio
asyncio.run(asyncio.sleep(3600))
print("FAIL: slept an hour")
