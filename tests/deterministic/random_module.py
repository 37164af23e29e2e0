import random
print(random.random(), random.gauss(0, 1), random.sample(range(1000), 5), random.Random().random(), random.getstate()[1][:3])
random.shuffle(deck := list(range(52)))
print(deck, random.SystemRandom().random(), random.choices("abc", k=9))
