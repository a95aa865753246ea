"""A burst of timed calls: callables of one worker that take turns, each call on inputs of its own, all from one seed.

The worker is told the seed and the number of rounds, makes all calls, and answers once. Nobody can know the inputs of a
call before the burst begins, and the referee knows them all from the same seed. Before and after each call the worker
sends a mark, a single byte, and waits for nothing: the referee notes by its own clock when the marks come."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

SLOTS = 3
"""How many sets of input tensors take turns. No set keeps its content: each call draws new content into one."""
REPEATED = 1 / 8
"""The share of calls whose content is that of the same callable's previous call, at another place: who remembers
results by address, or by content, computes the wrong thing or gains nothing."""


@dataclass(frozen=True)
class PlannedCall:
    """function: the index of the callable. seed: of the content of its inputs. slot: of their place."""

    function: int
    seed: int
    slot: int


def planned(seed: int, functions: int, rounds: int) -> list[PlannedCall]:
    """The calls of a burst, in order: in each round, each of so many callables is called once, in random order.

    No two callables get the same content: what one has computed lies in memory that the other may be given."""
    return list(_planned(random.Random(seed), functions, rounds))


def _planned(chance: random.Random, functions: int, rounds: int) -> Iterator[PlannedCall]:
    last: dict[int, int] = {}
    slot = 0
    for _ in range(rounds):
        for function in chance.sample(range(functions), functions):
            if function not in last or chance.random() >= REPEATED:
                last[function] = chance.getrandbits(62)
            slot = (slot + chance.randrange(1, SLOTS)) % SLOTS
            yield PlannedCall(function, last[function], slot)


MARK = b"\x01"
"""What a worker sends right before and right after each call. No reply begins with this byte (protocol/framing.py)."""


@dataclass(frozen=True)
class Burst:
    """What a worker answers to a burst, call by call in the order of planned().

    claimed_us: microseconds of the call alone, by the worker's clock. digests: output_digest.digest of what it
    returned. kept_bytes: the bytes of the outputs that the worker keeps until its next burst. marks_us: when the marks
    came, by the referee's clock, two for each call. waited_us: microseconds from the request to the answer, by the same
    clock."""

    claimed_us: tuple[float, ...]
    digests: tuple[int, ...]
    kept_bytes: int
    marks_us: tuple[float, ...]
    waited_us: float

    @property
    def calling_us(self) -> list[float]:
        """Microseconds between the two marks of each call."""
        return [after - before for before, after in zip(self.marks_us[0::2], self.marks_us[1::2])]

    @property
    def between_us(self) -> list[float]:
        """Microseconds from the end of each call to the beginning of the next, for all but the last call: its outputs
        are copied and their digest begun, and the next inputs are drawn."""
        return [after - before for before, after in zip(self.marks_us[1::2], self.marks_us[2::2])]
