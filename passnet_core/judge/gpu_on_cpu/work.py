"""Count what Triton's interpreter does, instead of the time that it takes."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

OPERATION_S, ELEMENT_S = 20e-6, 1e-8
"""What one operation of the interpreter takes on a usual machine, and each element of its result in addition."""


class TooMuchWork(Exception):
    """Kernels do more than they may."""


@dataclass
class InterpreterWork:
    """How much the interpreter has done. seconds: on a usual machine. most_s: how many it may be at most."""

    operations: int = 0
    elements: int = 0
    most_s: float = math.inf

    @property
    def seconds(self) -> float:
        return self.operations * OPERATION_S + self.elements * ELEMENT_S


@contextmanager
def counted(most_s: float = math.inf) -> Iterator[InterpreterWork]:
    """Count what the interpreter does meanwhile. most_s: raise TooMuchWork beyond so many seconds of work."""
    from triton.runtime.interpreter import TensorHandle

    work, check = InterpreterWork(most_s=most_s), TensorHandle.__post_init__

    def count(self: Any) -> None:
        check(self)
        work.operations += 1
        work.elements += self.data.size
        if work.seconds > work.most_s:
            raise TooMuchWork(f"it is more than {work.most_s:.0f} s of work")

    with mock.patch.object(TensorHandle, "__post_init__", count):
        yield work
