"""python -m tests.benchmarks.plan_calls prints how long a plan takes on a GPU in a tight loop, beside eager and
Inductor on the same small tensor: microseconds a call, the best of several loops."""

import time
from collections.abc import Callable, Iterator

import torch

from tests.gpu.made_plans import COUNT, learned, made, place, plan, scaled

CALLS, LOOPS = 3000, 9


def best_us(call: Callable[[], object]) -> float:
    for _ in range(200):
        call()
    found = []
    for _ in range(LOOPS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        torch.cuda.synchronize()
        found.append((time.perf_counter() - start) / CALLS * 1e6)
    return min(found)


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    x = torch.randn(COUNT, device="cuda")
    given, first, second, third = place("argument 0"), *(place(f"made {index}") for index in range(3))
    _, one = learned(plan([scaled(given, first)], first, [made()]), (x,))
    chain = [scaled(given, first), scaled(first, second), scaled(second, third)]
    _, three = learned(plan(chain, third, [made(), made(), made()]), (x,))

    def eager(a: torch.Tensor) -> torch.Tensor:
        return (a * 2 + 1) * 2 + 1

    compiled = torch.compile(eager)
    yield "eager, torch.square", lambda: torch.square(x)
    yield "plan of one launch", lambda: one(x)
    yield "eager, four operations", lambda: eager(x)
    yield "plan of three launches", lambda: three(x)
    yield "Inductor, compiled, one kernel", lambda: compiled(x)


def main() -> None:
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {COUNT} numbers in single precision")
    with torch.no_grad():
        for name, call in calls():
            print(f"{name:32}{best_us(call):8.1f} us")


if __name__ == "__main__":
    main()
