"""asyncio's event loop where there is nothing to wait for but time, and where a cell's own `await` runs.

The loop is asyncio's own without a selector: a wait is a sleep, which the host ends at the cell's deadline. When every
task waits and no timer is set nothing can ever happen, and the loop says so instead of waiting for it. Depends on
`_slm_alone`. `install` makes it the default loop, once, before the snapshot.
"""

import asyncio
import contextvars
import errno
import time
from asyncio import base_events, events, tasks

import _slm_alone as _alone

_MISSING = object()
_SHOWN = 3
#: Where coroutines, generators and asynchronous generators have their frame, and what they wait for.
_FRAMES, _AWAITED = ("cr_frame", "gi_frame", "ag_frame"), ("cr_await", "gi_yieldfrom", "ag_await")
#: The loop on which cells await. `asyncio.run` leaves none set, and its tasks must not be lost by that.
_session = None


_policy = getattr(events, "_get_event_loop_policy", None) or events.get_event_loop_policy


class Sleeper:
    """Stands in for a selector that watches no files."""

    def __init__(self, loop):
        self._loop = loop

    def select(self, timeout):
        if timeout is None:
            raise RuntimeError(stuck(self._loop))
        if timeout > 0:
            time.sleep(timeout)
        return ()


def stuck(loop):
    """What to say when nothing can wake the loop, with the tasks that wait."""
    text = "the event loop would wait for ever: no timer is set, and nothing else runs here that could wake it"
    waiting = sorted(map(place, tasks.all_tasks(loop)))
    if waiting:
        text += ". Waiting: " + "; ".join(waiting[:_SHOWN])
        if len(waiting) > _SHOWN:
            text += f"; {len(waiting) - _SHOWN} more"
    return text


def place(task):
    """A task's name, and the function and line of a cell at which it waits."""
    awaited, found = task.get_coro(), None
    while awaited is not None:
        frame, awaited = (_first(awaited, names) for names in (_FRAMES, _AWAITED))
        if frame is not None and frame.f_code.co_filename.startswith("<cell"):
            found = frame
    if found is None:
        return f"{task.get_name()} in {getattr(task.get_coro(), '__qualname__', task.get_coro())}"
    return f"{task.get_name()} in {found.f_code.co_name}, {found.f_code.co_filename[1:-1]}, line {found.f_lineno}"


def _first(value, names):
    return next((part for name in names if (part := getattr(value, name, None)) is not None), None)


class EventLoop(base_events.BaseEventLoop):
    """An event loop without files, sockets, signals and processes."""

    def __init__(self):
        super().__init__()
        self._selector = Sleeper(self)

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        """Nobody is asleep while another calls."""

    async def shutdown_default_executor(self, timeout=None):
        # The inherited one waits in a thread of its own.
        self._executor_shutdown_called = True
        if self._default_executor is not None:
            self._default_executor.shutdown(wait=True)

    async def subprocess_exec(self, protocol_factory, program, *args, **options):
        raise _alone.refused([program, *args])

    async def subprocess_shell(self, protocol_factory, cmd, **options):
        raise _alone.refused(cmd)


def _no_network(name):
    async def refuse(self, *args, **kwargs):
        raise OSError(errno.ENETUNREACH, _alone.NETWORK)

    refuse.__name__, refuse.__qualname__ = name, f"EventLoop.{name}"
    return refuse


def _no_files(name):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError(f"{name}() is not there: this event loop has no files, pipes or signals to watch")

    refuse.__name__, refuse.__qualname__ = name, f"EventLoop.{name}"
    return refuse


for _name in (
    "create_connection create_server create_datagram_endpoint create_unix_connection create_unix_server "
    "connect_accepted_socket getaddrinfo getnameinfo start_tls sendfile sock_accept sock_connect sock_recv "
    "sock_recv_into sock_recvfrom sock_recvfrom_into sock_sendall sock_sendfile sock_sendto"
).split():
    setattr(EventLoop, _name, _no_network(_name))
for _name in (
    "add_reader remove_reader add_writer remove_writer connect_read_pipe connect_write_pipe add_signal_handler "
    "remove_signal_handler"
).split():
    setattr(EventLoop, _name, _no_files(_name))
del _name


def current_loop(policy):
    """Stands in for the policy's `get_event_loop`: where no loop is set it gives the session's, which it makes when there
    is none. Until Python 3.13 there was always one, and programs that call
    `asyncio.get_event_loop().run_until_complete(…)` stand or fall with that."""
    global _session
    loop = policy._local._loop
    if loop is None or loop.is_closed():
        loop = _session
        if loop is None or loop.is_closed():
            loop = policy.new_event_loop()
        policy.set_event_loop(loop)
    _session = loop
    return loop


def install():
    """Makes this loop the one that asyncio starts, under the names of the one it has."""
    from asyncio import unix_events

    EventLoop.__module__ = "asyncio"
    for module, names in (
        (asyncio, ("EventLoop", "SelectorEventLoop")),
        (unix_events, ("EventLoop", "SelectorEventLoop", "_UnixSelectorEventLoop")),
    ):
        for name in names:
            setattr(module, name, EventLoop)
    policy = unix_events._DefaultEventLoopPolicy
    policy._loop_factory = EventLoop
    policy.get_event_loop = current_loop


def drive(cell):
    """Runs the coroutine of a cell with a top-level `await` on the session's loop, which lives on with its tasks.

    Returns what the coroutine returned, or raises what it raised, without the loop's frames. Context variables that
    the cell set stay set, as in a cell that awaits nothing.
    """
    loop, context, ended = current_loop(_policy()), contextvars.copy_context(), []

    async def outcome():
        try:
            ended.append((await cell, None))
        except BaseException as exc:
            ended.append((None, exc))

    task = loop.create_task(outcome(), name="cell", context=context)
    failure = None
    try:
        loop.run_until_complete(task)
    except BaseException as exc:
        failure = exc
    if failure is not None and not ended:
        # Nothing can wake the cell, or a callback ended the loop. Its `finally` blocks run now, not in a later cell.
        abandon(loop, task)
        raise failure.with_traceback(ended[0][1].__traceback__ if ended and ended[0][1] is not None else None)
    for variable, value in context.items():
        if variable.get(_MISSING) is not value:
            variable.set(value)
    value, failure = ended.pop()
    if failure is not None:
        raise failure
    return value


def abandon(loop, task):
    """Cancels a cell that cannot go on, and gives it a second to end."""
    task.cancel()
    try:
        loop.run_until_complete(asyncio.wait([task], timeout=1))
    except BaseException:
        pass
