"""The witness's side of a reference bench."""

import math
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.placement import placed
from passnet_core.graphs.source import emit, parse
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol import encoding, framing
from passnet_core.judge.protocol.messages import REFUSED, CandidateFault, Returned
from passnet_core.judge.protocol.reference_bench import BenchPlan, Computing, TellingDraws
from passnet_core.records import Device, from_json, to_json

MOST_ON_CPU = 1 << 16
"""Up to so many elements of inputs, input draws are chosen on the CPU. A choice is tens of thousands of operations. A
GPU takes as long for small ones as launching them does, and several times as long if judges take turns on it."""


class ReferenceBenchServer:
    """Answers the requests of a RemoteReferenceBench with a bench in this process.

    on_cpu: opens a witness on the CPU that has prepared the same, from eager's source as it is placed there."""

    def __init__(self, witness: Computing, device: Device, on_cpu: Callable[[str], Computing]) -> None:
        self.witness = witness
        self.device = device
        self.on_cpu = on_cpu
        self.bench: LocalReferenceBench | None = None

    def answer(self, request: framing.WireMessage) -> framing.WireMessage:
        """Answer one request. Raises CandidateFault if the witness cannot compute, torch's error if memory runs out."""
        steps: Mapping[str, Callable[[framing.WireMessage], framing.WireMessage | None]] = {
            "begin": self._begin,
            "draw": lambda request: self._opened.draw(request.fields["drawing"], request.fields["shapes"]),
            "redraw": lambda request: self._opened.redraw(request.fields["kept"]),
            "refer": lambda request: framing.WireMessage({"said": self._opened.refer(exact=request.fields["exact"])}),
            "taken": self._taken,
            "telling": self._telling,
            "control": lambda request: framing.WireMessage({"said": self._opened.control()}),
            "compile": lambda request: self._opened.compile(),
            "judge": self._judge,
        }
        try:
            with torch.no_grad():
                return steps[request.fields["step"]](request) or framing.WireMessage({})
        except (CandidateFault, MemoryError, torch.cuda.OutOfMemoryError):
            raise
        except BadInput as error:
            return framing.WireMessage({"unfit": str(error)})
        except Exception as error:  # a bug in the judge, which must not be blamed on the subgraph
            if REFUSED in str(error):
                raise CandidateFault("runtime", f"On a GPU, an operation refuses its values ({REFUSED}).") from error
            return framing.WireMessage({"bug": traceback.format_exc()[-8000:]})

    @property
    def _opened(self) -> LocalReferenceBench:
        assert self.bench is not None
        return self.bench

    def _begin(self, request: framing.WireMessage) -> None:
        self.bench = LocalReferenceBench(from_json(BenchPlan, request.fields["plan"]), self.witness, self.device)

    def _taken(self, request: framing.WireMessage) -> framing.WireMessage:
        entries, tensors = framing.pack_inputs(self._opened.taken())
        return framing.WireMessage({"inputs": entries}, tuple(tensors))

    def _actual(self, request: framing.WireMessage) -> Returned:
        """What a call of the candidate returned, on this device."""
        tensors = [each.to(self.device.value) for each in request.tensors]
        return encoding.unpacked(request.fields["actual"], tensors)

    def _telling(self, request: framing.WireMessage) -> framing.WireMessage:
        source, shapes = request.fields["source"], request.fields["shapes"]
        found = self._told_on_cpu(source, shapes) or self._opened.telling(source, shapes)
        return framing.WireMessage({"telling": to_json(found)})

    def _told_on_cpu(self, source: str, shapes: Sequence[Sequence[int]]) -> TellingDraws | None:
        """The choice of input draws, made on the CPU for another device. None: these are too many elements, or eager
        does not run there."""
        if self.device is Device.CPU or sum(map(math.prod, shapes)) > MOST_ON_CPU:
            return None
        here = emit(placed(parse(source), Device.CPU.value))
        with _one_thread():
            try:
                bench = LocalReferenceBench(self._opened.plan, self.on_cpu(here))
                bench.draw("typical", shapes)
                bench.refer(exact=True)
            except (CandidateFault, BadInput):
                return None
            return bench.telling(here, shapes)

    def _judge(self, request: framing.WireMessage) -> framing.WireMessage:
        actual = None if request.fields["actual"] is None else self._actual(request)
        return framing.WireMessage({"judged": to_json(self._opened.judge(actual))})


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute with one thread meanwhile: in other numbers of threads, sums round otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
