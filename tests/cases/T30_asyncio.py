# T30: event loops that wait, with a timer and without one, and that never come to rest
# expect: timeout
import asyncio
asyncio.run(asyncio.sleep(3600))
print("FAIL: slept an hour")
# --- turn ---
# expect: timeout
import asyncio
async def spin():
    while True:
        await asyncio.sleep(0)
async def main():
    async with asyncio.timeout(None):
        await asyncio.gather(*(spin() for _ in range(100)))
try:
    asyncio.run(main())
finally:
    print("FAIL: ended")
# --- turn ---
# expect: error
# raises: RuntimeError
import asyncio
asyncio.get_event_loop().run_forever()
