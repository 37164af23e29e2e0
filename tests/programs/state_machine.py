from enum import Enum


class State(Enum):
    IDLE = "idle"
    RUNNING = "running"
    DONE = "done"


class Machine:
    transitions = {}

    def __init__(self):
        self.state, self.log = State.IDLE, []

    @classmethod
    def on(cls, source, event, target):
        def register(action):
            cls.transitions[source, event] = (target, action)
            return action
        return register

    def fire(self, event, **data):
        try:
            target, action = self.transitions[self.state, event]
        except KeyError:
            raise RuntimeError(f"cannot {event} while {self.state.value}") from None
        self.log.append((self.state.name, event, action(self, **data)))
        self.state = target


@Machine.on(State.IDLE, "start", State.RUNNING)
def start(machine, speed=1):
    return f"speed {speed}"


@Machine.on(State.RUNNING, "stop", State.DONE)
@Machine.on(State.RUNNING, "pause", State.IDLE)
def halt(machine):
    return len(machine.log)


m = Machine()
m.fire("start", speed=5)
m.fire("pause")
try:
    m.fire("stop")
except RuntimeError as error:
    print(error, error.__suppress_context__, type(error.__context__).__name__)
m.fire("start")
m.fire("stop")
print(m.state, *m.log, sep="\n")
try:
    m.fire("start", bogus=1)
except RuntimeError as error:
    print(error)
try:
    Machine().fire("start", bogus=1)
except TypeError as error:
    print(error)
