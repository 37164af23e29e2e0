import random

random.seed(42)
print(random.random(), random.randint(1, 100), random.uniform(-1, 1), random.randrange(0, 100, 7), random.choice("abcdef"), random.getrandbits(70))
print(random.sample(range(100), 5), random.choices("abc", weights=[5, 1, 1], k=8), random.sample(["a", "b"], counts=[3, 2], k=4))
deck = list(range(10))
random.shuffle(deck)
print(deck, random.randbytes(6).hex())
print(random.gauss(0, 1), random.normalvariate(5, 2), random.expovariate(1.5), random.betavariate(2, 3), random.triangular(0, 10, 3))
print(random.gammavariate(2, 1), random.lognormvariate(0, 0.5), random.paretovariate(3), random.weibullvariate(1, 1.5), random.vonmisesvariate(0, 4))
for seed in (0, 1, "text", b"bytes", -7, 10 ** 30, None if False else 99):
    r = random.Random(seed)
    print(repr(seed), r.random(), r.randint(0, 10 ** 6), r.choice([1, 2, 3]))
r = random.Random(7)
state = r.getstate()
first = [r.random() for _ in range(3)]
r.setstate(state)
print(first == [r.random() for _ in range(3)], state[0], len(state[1]))
inside = sum(r.random() ** 2 + r.random() ** 2 <= 1 for _ in range(20_000))
print("pi about", 4 * inside / 20_000)
for bad in ("random.choice([])", "random.randint(5, 1)", "random.sample([1], 2)", "random.randrange(0)", "random.seed([1])"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__)
