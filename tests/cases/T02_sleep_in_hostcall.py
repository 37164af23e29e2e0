# T02: a sleep ends at the wall limit, although neither epochs nor fuel fire inside a host call
# expect: timeout
import time
time.sleep(3600)
print("FAIL: slept to the end")
