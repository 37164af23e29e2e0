import json
from enum import Enum, auto


class Room(Enum):
    HALL = auto()
    KITCHEN = auto()
    GARDEN = auto()


EXITS = {Room.HALL: {"north": Room.KITCHEN}, Room.KITCHEN: {"south": Room.HALL, "east": Room.GARDEN}, Room.GARDEN: {"west": Room.KITCHEN}}
ITEMS = {Room.KITCHEN: ["knife", "bread"], Room.GARDEN: ["rose"]}


class Game:
    def __init__(self):
        self.room, self.bag, self.turns = Room.HALL, [], 0

    def do(self, line):
        self.turns += 1
        verb, *rest = line.lower().split()
        handler = getattr(self, f"do_{verb}", None)
        return handler(*rest) if handler else f"I don't know how to {verb!r}."

    def do_go(self, where=None):
        if where not in EXITS[self.room]:
            return f"You can't go {where}. Exits: {', '.join(EXITS[self.room])}"
        self.room = EXITS[self.room][where]
        return f"You are in the {self.room.name.lower()}. You see {ITEMS.get(self.room) or 'nothing'}."

    def do_take(self, thing):
        try:
            ITEMS[self.room].remove(thing)
        except (KeyError, ValueError):
            return f"There is no {thing} here."
        self.bag.append(thing)
        return f"Taken: {thing}."

    def do_save(self):
        return json.dumps({"room": self.room.name, "bag": self.bag, "turns": self.turns})


game = Game()
for line in ("go west", "go north", "take knife", "take spoon", "dance wildly", "go east", "take rose", "go up", "save"):
    print(">", line)
    print(game.do(line))
try:
    game.do("take")
except TypeError as error:
    print(error)
