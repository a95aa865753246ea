"""The candidate by its plans: its host code records them, and another process, which has none of it, executes them.

The candidate's worker is the planner here. It never has inputs that matter, or outputs; of the inputs it gets the
weights alone, if the bundle prepares them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.judge.protocol.messages import (
    CandidateFault,
    Executed,
    Fills,
    Given,
    Launches,
    Loaded,
    Preparation,
    Watched,
)
from passnet_core.judge.stages import census
from passnet_core.judge.stages.findings import Census, Decided, Verification
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import LAUNCHED, Bundle, Evidence, Verdict

TOPIC = "plans"
MOST_PLANS = 64
"""How many plans one call of the graph may need."""


@dataclass(frozen=True)
class RecordedPlan:
    """A plan in the form of plan/record.py, its constants, and what was seen while it was recorded."""

    body: Mapping[str, Any]
    constants: tuple[torch.Tensor, ...]
    launches: Launches

    def differs(self, other: "RecordedPlan") -> bool:
        """Whether another recording is another plan."""
        return self.body != other.body or not all(map(torch.equal, self.constants, other.constants))


class PlannedCandidate:
    """Answers like the candidate's worker. inputs: the names of the subgraph's inputs. start: starts the worker
    of a role. on_card: a GPU executes the plans, in a process of this bundle's."""

    def __init__(
        self,
        bundle: Bundle,
        loaded: Loaded,
        inputs: Sequence[str],
        planner: WorkerProcess,
        start: Callable[[str, Bundle | None], WorkerProcess],
        *,
        on_card: bool = False,
    ) -> None:
        self.on_card = on_card
        self.bundle, self.loaded, self.inputs, self.planner, self._start = bundle, loaded, inputs, planner, start
        self.names = {each.replacement: f"the replacement of {each.name}" for each in reversed(loaded.passes)}
        self.plans: dict[str, RecordedPlan] = {}
        """By the questions of the executor, in their order."""
        self._executor: WorkerProcess | None = None
        self._compiler: WorkerProcess | None = None
        self._preparation: Preparation | None = None
        self._inputs: Sequence[Any] = ()
        self._prepared = False
        """Whether the planner has prepared the weights among these inputs, if the bundle does."""

    @property
    def executor(self) -> WorkerProcess:
        """The process that has the kernels, loaded alone."""
        if self._executor is None:
            self._executor = self._with_kernels("executor")
        return self._executor

    @property
    def compiler(self) -> WorkerProcess:
        """One like it, which compiles while that one executes."""
        if self._compiler is None:
            self._compiler = self._with_kernels("compiler")
        return self._compiler

    def _with_kernels(self, who: str) -> WorkerProcess:
        worker = self._start(who, self.bundle if self.on_card else None)
        worker.load_kernels(self.bundle, self.loaded)
        return worker

    def prepare(self, name: str, preparation: Preparation) -> None:
        """As the worker's."""
        self._preparation, self._prepared = preparation, False
        self.executor.prepare(name, preparation)
        if preparation.weights:
            self.planner.prepare(name, preparation)

    def give(self, inputs: Sequence[Any]) -> None:
        """As the worker's."""
        self._inputs, self._prepared = inputs, False
        self.executor.give(inputs)

    def execute(
        self, name: str, seed: int | None, *, noisy: bool = False, sampled: bool = False, most_s: float | None = None
    ) -> Executed:
        """As the worker's, once there is a plan for whatever the graph calls."""
        self._prepare_weights(name)
        for _ in range(MOST_PLANS):
            found = self.executor.execute(name, seed, noisy=noisy, sampled=sampled, most_s=most_s)
            if isinstance(found, Executed):
                return found
            self._learn(found)
        raise CandidateFault("plan", f"one call of it needs more than {MOST_PLANS}.")

    def launch_at(self, name: str, forms: Sequence[Given]) -> tuple[str, ...]:
        """As the worker's, once there is a plan for whatever the graph calls. The plans serve for nothing else."""
        before = dict(self.plans)
        try:
            for _ in range(MOST_PLANS):
                found = self.executor.launch_at(name, forms)
                if not isinstance(found, str):
                    return found
                self._learn(found)
            return ()
        finally:
            self.plans = before

    def _learn(self, asked: str) -> None:
        """Let the executor have the plan that it asked for."""
        self.plans[asked] = self._planned(asked)
        self.executor.learn(asked, self.plans[asked].body, self.plans[asked].constants)

    def warm_up(self, name: str, fills: Fills, seconds: float) -> None:
        """As the worker's."""
        while (wanted := self.executor.warm_up(name, fills, seconds)) is not None:
            self._learn(wanted)

    def weigh(self, name: str, fills: Fills, weights: int) -> None:
        """Have the weights prepared that timed calls draw from this seed."""
        (drawn,) = self.executor.recall("", fills, weights, [0])
        self._inputs, self._prepared = [each.value for each in drawn.outputs], False
        self._prepare_weights(name)

    def watched(self, executed: Executed) -> Watched:
        """What the replacement functions did in a call."""
        used = [self.plans[each] for each in executed.used if each in self.plans]
        return Watched(tuple(each.launches for each in used), tuple(each.body for each in used))

    @property
    def configurations(self) -> int:
        """How many configurations the autotuner of any launch chooses among, at most."""
        try:
            steps = [step for plan in self.plans.values() for step in plan.body.get("steps", ())]
            return max((len(step["choices"]) for step in steps if "choices" in step), default=1)
        except TypeError:
            # the planner has told it in another form
            return 1

    def recorded_anew(self) -> Census | None:
        """Record every plan once more, in another order and at other addresses. None: all are as before."""
        for asked, before in reversed(self.plans.items()):
            again = self._planned(asked)
            if again.differs(before):
                who = self.names.get(str(before.body.get("function")), "a replacement")
                reason = (
                    f"{who[:1].upper()}{who[1:]} does something else when it is called again with arguments of the same"
                    f" form: {_difference(before.body, again.body)}."
                )
                return Census(Verdict.CHEAT, reason, (), (Evidence(TOPIC, reason),))
        return None

    def _prepare_weights(self, name: str) -> None:
        """Have the planner prepare the weights among the inputs, if the bundle does. Plans depend on them."""
        weights = self._preparation.weights if self._preparation else ()
        if weights and not self._prepared:
            self.planner.give([each if spec in weights else 0 for spec, each in zip(self.inputs, self._inputs)])
            self.planner.pack(name)
            for asked in [each for each in self.plans if "prepared" in each]:
                self._learn(asked)
        self._prepared = True

    def _planned(self, asked: str) -> RecordedPlan:
        """Record a plan. Raises Decided if it shows work that is not the kernels'."""
        try:
            key, signature = json.loads(asked)
        except ValueError as error:
            raise CandidateFault("protocol", "It asked for a plan in an unknown form.") from error
        found = RecordedPlan(*self.planner.plan(str(key), signature))
        foreign = census.foreign_work(self.bundle, [found.launches], self.names)
        if foreign:
            reason = f"It is not computed by the bundle's own kernels alone: {foreign[0]}."
            evidence = Evidence(LAUNCHED, "\n".join(dict.fromkeys(foreign)))
            raise Decided(Verification(Verdict.LIBRARY, reason, None, (), (evidence,)))
        return found


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The first part in which two plans differ, in words."""
    for name, words in (("made", "memory"), ("constants", "constants"), ("returned", "results")):
        if before.get(name) != after.get(name):
            return f"it has other {words}"
    first, second = list(before.get("steps", ())), list(after.get("steps", ()))
    if len(first) != len(second):
        return f"it makes {len(first)} steps, then {len(second)}"
    place = next(index for index, pair in enumerate(zip(first, second)) if pair[0] != pair[1])
    return f"step {place + 1} of {len(first)} is another"
