"""The witness's side of a reference bench: answers what a RemoteReferenceBench asks."""

import traceback
from collections.abc import Callable, Mapping

import torch

from passnet_core.errors import BadInput
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol import encoding, framing
from passnet_core.judge.protocol.clients import Computing
from passnet_core.judge.protocol.messages import CandidateFault, Returned
from passnet_core.judge.protocol.reference_bench import BenchPlan, ReferenceBench
from passnet_core.records import Device, from_json, to_json


class ReferenceBenchServer:
    """The witness's side: answers what BenchAtWitness asks."""

    def __init__(self, witness: Computing, device: Device) -> None:
        self.witness = witness
        self.device = device
        self.bench: ReferenceBench | None = None

    def answer(self, request: framing.WireMessage) -> framing.WireMessage:
        """Raises CandidateFault where what the witness computes fails, and what torch raises where memory is short."""
        steps: Mapping[str, Callable[[framing.WireMessage], framing.WireMessage | None]] = {
            "begin": self._begin,
            "draw": self._draw,
            "exchange": lambda request: self._there.exchange(),
            "refer": lambda request: framing.WireMessage({"said": self._there.refer(exact=request.fields["exact"])}),
            "taken": self._taken,
            "control": lambda request: framing.WireMessage({"said": self._there.control()}),
            "compile": lambda request: self._there.compile(),
            "judge": self._judge,
        }
        try:
            with torch.no_grad():
                return steps[request.fields["step"]](request) or framing.WireMessage({})
        except (CandidateFault, MemoryError, torch.cuda.OutOfMemoryError):
            raise
        except BadInput as error:
            return framing.WireMessage({"unfit": str(error)})
        except Exception:  # a bug of the judge: it must not pass for one of the subgraph
            return framing.WireMessage({"bug": traceback.format_exc()[-8000:]})

    @property
    def _there(self) -> ReferenceBench:
        assert self.bench is not None
        return self.bench

    def _begin(self, request: framing.WireMessage) -> None:
        self.bench = LocalReferenceBench(from_json(BenchPlan, request.fields["plan"]), self.witness, self.device)

    def _draw(self, request: framing.WireMessage) -> None:
        self._there.draw(request.fields["drawing"], request.fields["shapes"])

    def _taken(self, request: framing.WireMessage) -> framing.WireMessage:
        places, tensors = framing.pack_inputs(self._there.taken())
        return framing.WireMessage({"inputs": places}, tuple(tensors))

    def _judge(self, request: framing.WireMessage) -> framing.WireMessage:
        told = request.fields["actual"]
        actual: Returned | None = None
        if told is not None:
            there = [each.to(self.device.value) for each in request.tensors]
            actual = encoding.unpacked(told, there)
        return framing.WireMessage({"judged": to_json(self._there.judge(actual, fresh=request.fields["fresh"]))})
