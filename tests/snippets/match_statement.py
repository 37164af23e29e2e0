from dataclasses import dataclass

@dataclass
class Move:
    dx: int
    dy: int

def run(command):
    match command:
        case {"action": "move", "by": [int(dx), int(dy)]}:
            return Move(dx, dy)
        case ["go", ("north" | "south") as direction, *rest]:
            return f"{direction} and {len(rest)} more"
        case Move(dx=0, dy=0):
            return "nowhere"
        case Move(dx, dy) if dx == dy:
            return "diagonal"
        case str() | bytes() as text:
            return f"text of {len(text)}"
        case None:
            return "nothing"
        case _:
            return "unknown"

for command in ({"action": "move", "by": [1, 2]}, ["go", "north", 1, 2], Move(0, 0), Move(3, 3), b"abc", None, 4.5):
    print(run(command))
