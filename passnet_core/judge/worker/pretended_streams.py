"""CUDA streams and events that a bundle finds where there is no GPU.

What is launched on the caller's stream runs at once. What is launched on another stream runs when somebody is made to
wait for it, and not at all in a call in which nobody is: on a GPU it may be late. Nor does it run if that stream has
not waited for the caller's since the call began, whose work still writes the inputs."""

import contextlib
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import torch

Work = Callable[[], None]

ELAPSED_MS = 0.01
"""The time between two events: no time without a GPU means anything."""
times_asked = [0]
"""How often a bundle asked for the time between two events."""


class Stream(contextlib.AbstractContextManager["Stream"]):
    """A CUDA stream. begun: the last call in which it has waited for what the caller's stream did before that call."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.cuda_stream = self.stream_id = self.device_index = 0
        self.device = torch.device("cuda", 0)
        self.begun = 0
        self.pending: deque[Work] = deque()
        self.done = 0
        """How much was queued before what is pending."""
        _streams.add(self)

    @property
    def length(self) -> int:
        return self.done + len(self.pending)

    def wait_stream(self, stream: Any) -> None:
        self.wait_event(stream.record_event())

    def wait_event(self, event: Any) -> None:
        if self is caller:
            event.synchronize()
            return
        self.pending.append(event.synchronize)
        self.begun = max(self.begun, event.begun)

    def synchronize(self) -> None:
        self.run(self.length)

    def record_event(self, event: Any = None) -> Any:
        made = event or Event()
        made.record(self)
        return made

    def query(self) -> bool:
        self.synchronize()
        return True

    def launch(self, work: Work) -> None:
        """Run this when its turn comes, if ever."""
        if self is caller:
            work()
        elif self.begun == caller.begun:
            self.pending.append(work)

    def run(self, until: int) -> None:
        """Do what was queued first, as far as it is not done."""
        while self.done < until:
            self.done += 1
            self.pending.popleft()()

    def forget(self) -> None:
        """Leave undone what nobody has waited for."""
        self.done = self.length
        self.pending.clear()

    def __enter__(self) -> "Stream":
        _entered.append(self)
        return self

    def __exit__(self, *_error: object) -> None:
        _left()


class Event:
    """A CUDA event: a place in a stream."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.cuda_event = 0
        self.begun = 0
        self.stream: Stream | None = None
        self.place = 0

    def record(self, stream: Any = None) -> None:
        chosen: Stream = stream or current()
        self.stream, self.place, self.begun = chosen, chosen.length, chosen.begun

    def wait(self, stream: Any = None) -> None:
        (stream or current()).wait_event(self)

    def synchronize(self) -> None:
        if self.stream is not None:
            self.stream.run(self.place)

    def query(self) -> bool:
        self.synchronize()
        return True

    def elapsed_time(self, end_event: Any) -> float:
        self.synchronize()
        end_event.synchronize()
        times_asked[0] += 1
        return ELAPSED_MS


class Entered(contextlib.AbstractContextManager[None]):
    """torch.cuda.stream(…): what is launched meanwhile goes there. None: where it went before."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream or current()

    def __enter__(self) -> None:
        _entered.append(self.stream)

    def __exit__(self, *_error: object) -> None:
        _left()


_streams: "weakref.WeakSet[Stream]" = weakref.WeakSet()
_entered: list[Stream] = []
caller = Stream()


def current() -> Stream:
    """The stream on which is launched now."""
    return _entered[-1] if _entered else caller


def begin() -> None:
    """A call begins: other streams know nothing of what the caller's stream did before."""
    end()
    caller.begun += 1


def end() -> None:
    """A call ends: nothing runs any more for which nobody has waited."""
    _entered.clear()
    for each in list(_streams):
        each.forget()


def synchronize(_device: Any = None) -> None:
    """Wait for all streams."""
    for each in list(_streams):
        each.synchronize()


def _left() -> None:
    if _entered:
        _entered.pop()
