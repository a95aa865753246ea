"""CUDA streams and events that a bundle finds where there is no GPU.

What is launched on the caller's stream runs at once. What is launched on another stream runs when somebody is made to
wait for it, and no earlier, even if a call ends meanwhile: on a GPU it may be late. It never runs if that stream has
not waited for the caller's since the call began, whose work still writes the inputs, and uses the memory of the calls
before. That memory may be lent again on the stream on which it was allocated, unless a tensor in it is recorded to be
used on the caller's."""

import contextlib
import functools
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import torch

Work = Callable[[], None]

ELAPSED_MS = 0.01
"""The time between two events: no time without a GPU means anything."""
MOST_PENDING = 256
"""How much that nobody waits for a stream keeps from call to call."""
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

    def launch(self, work: Work, made: int | None = None) -> None:
        """Run this when its turn comes, if ever. made: the address of the memory that was allocated for it, if it needs
        nothing else."""
        if self is caller:
            work()
        elif self.begun == caller.begun:
            self.pending.append(work)
        elif made is not None:
            self.pending.append(functools.partial(self._fill, work, made))

    def _fill(self, work: Work, made: int) -> None:
        """Fill memory, unless the caller's stream may still use it for what lay there before."""
        if self.begun == caller.begun or made in _recorded:
            work()
        else:
            _unrecorded[made] = work

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
        if _entered:
            _entered.pop()


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
        self.stream.__enter__()

    def __exit__(self, *_error: object) -> None:
        self.stream.__exit__()


_streams: "weakref.WeakSet[Stream]" = weakref.WeakSet()
_entered: list[Stream] = []
_recorded: set[int] = set()
"""The addresses of memory that was recorded in this call to be used on the caller's stream."""
_unrecorded: dict[int, Work] = {}
"""What would fill memory that was not, by address."""
caller = Stream()


def current() -> Stream:
    """The stream on which is launched now."""
    return _entered[-1] if _entered else caller


def begin() -> None:
    """A call begins: other streams know nothing of what the caller's stream did before."""
    end()
    caller.begun += 1
    for each in list(_streams):
        if len(each.pending) > MOST_PENDING:
            each.forget()


def end() -> None:
    """A call ends. What nobody has waited for stays undone."""
    _entered.clear()
    _recorded.clear()
    _unrecorded.clear()


def record(tensor: torch.Tensor, stream: Any) -> None:
    """Tensor.record_stream: a stream uses a tensor's memory."""
    if stream is caller:
        with torch._C.DisableTorchFunction():
            address = tensor.untyped_storage().data_ptr()
        _recorded.add(address)
        _unrecorded.pop(address, lambda: None)()


def synchronize(_device: Any = None) -> None:
    """Wait for all streams."""
    for each in list(_streams):
        each.synchronize()
