import heapq
import itertools
import random


class Simulation:
    def __init__(self, seed):
        self.now, self.queue, self.order, self.random, self.log = 0.0, [], itertools.count(), random.Random(seed), []

    def at(self, delay, action, *args):
        heapq.heappush(self.queue, (self.now + delay, next(self.order), action, args))

    def run(self, until):
        while self.queue and self.queue[0][0] <= until:
            self.now, _, action, args = heapq.heappop(self.queue)
            action(*args)


class Bank(Simulation):
    def __init__(self, seed, tellers):
        super().__init__(seed)
        self.free, self.waiting, self.served, self.delays = tellers, [], 0, []
        self.at(0, self.arrive, 1)

    def arrive(self, number):
        self.waiting.append((number, self.now))
        self.at(self.random.randint(1, 8), self.arrive, number + 1)
        self.serve()

    def serve(self):
        while self.free and self.waiting:
            number, since = self.waiting.pop(0)
            self.free -= 1
            self.delays.append(self.now - since)
            self.at(self.random.randint(5, 15), self.leave, number)

    def leave(self, number):
        self.free += 1
        self.served += 1
        self.log.append((self.now, number))
        self.serve()


for tellers in (1, 2, 3):
    bank = Bank(42, tellers)
    bank.run(200)
    print(tellers, bank.served, len(bank.waiting), round(sum(bank.delays) / len(bank.delays), 3), max(bank.delays), bank.log[:3])
