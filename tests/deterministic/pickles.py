import pickle, copyreg, random
print(pickle.dumps({"s": {"a", "b", "c"}, "r": random.random()}).hex(), hash(frozenset({"k", "l"})))
