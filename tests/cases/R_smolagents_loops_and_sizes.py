# R: limits that watch loops only (the kind of smolagents#2197, #2395, #2464; agent-framework#6601, #8176): work without a loop, and names that hide what they are
# expect: timeout
import functools
f = functools.reduce(lambda f, _: (lambda n: f(n) + f(n)), range(40), lambda n: n)
f(1)
