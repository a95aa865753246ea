"""Conversations as examples for training, before they take the form that a library reads.

An example has the messages as the server was sent them, the tools that it was offered, and for each answer whether it
is worth learning."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from passnet_core.records import Verdict
from passnet_core.records.trajectories import Message, OfferedTool, Role, Trajectory, Turn
from passnet_core.solvers.llm.chat import offered
from passnet_core.solvers.llm.conversation import CUT_OFF
from passnet_core.solvers.llm.tools import NOT_DONE, NUDGE, TOOLS, calls_in, told_results
from passnet_core.solvers.llm.wire import readable
from passnet_core.training.rewards import NO_REWARD

FINISH = "finish"


@dataclass(frozen=True)
class TrainingMessage:
    """A message of an example. learn: whether it is an answer of the model that is worth learning. said: whether the
    model could have given it as it stands here, under the protocol of this example.

    reward: of an answer whose bundle was evaluated, the share of subgraphs on which it was accepted, and 0 if it
    cheats on one. speedup: that of the same bundle, as in Score. None: nothing was evaluated."""

    message: Message
    learn: bool = False
    said: bool = False
    reward: float | None = None
    speedup: float | None = None

    @property
    def answers(self) -> bool:
        """Whether the model said it."""
        return self.message.role is Role.MODEL


@dataclass(frozen=True)
class TrainingExample:
    """A conversation, or the beginning of one. tools: those offered by the server's protocol; empty where the messages
    explain them. trajectory: where it comes from."""

    trajectory: Trajectory
    steps: tuple[TrainingMessage, ...]
    tools: tuple[OfferedTool, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(step.message for step in self.steps)

    @property
    def learnt(self) -> int:
        """How many answers are worth learning."""
        return sum(step.learn for step in self.steps)

    @property
    def masked(self) -> int:
        """How many answers are not."""
        return sum(step.answers and not step.learn for step in self.steps)


def example_of(trajectory: Trajectory, at_least: float = 1.0) -> TrainingExample:
    """The example that a conversation makes.

    An answer is not worth learning if its bundle was accepted on less than the share `at_least` of the subgraphs, if
    the judge rejected what it checked, if a call in it could not be executed or was garbled, if it called no tool, if
    it ended a conversation whose best bundle falls short of the same share, or if it was made under another protocol
    than the last answer: a model that was offered tools and did not call them may go on in plain text, and only one of
    the two can be what a chat template shows."""
    end = trajectory.ending
    short = end is None or end.accepted < max(at_least, 1e-9) * end.total
    with_tools = offers(trajectory)
    messages = [message for turn in trajectory.turns for message in (*turn.said, turn.answer)]
    of_turns = iter(zip(trajectory.turns, with_tools, strict=True))
    steps = []
    for message in readable([*messages, *_last_results(trajectory, with_tools)]):
        if message.role is not Role.MODEL:
            steps.append(TrainingMessage(message))
            continue
        turn, with_tool = next(of_turns)
        said = message == turn.answer and with_tool == with_tools[-1]
        steps.append(
            TrainingMessage(
                message,
                said=said,
                learn=said and not is_mistake(turn, at_least) and not (short and _finishes(turn)),
                reward=reward_of_turn(turn),
                speedup=turn.score.speedup if turn.score else None,
            )
        )
    tools = trajectory.opening.tools or tuple(map(offered, TOOLS))
    return TrainingExample(trajectory, tuple(steps), tools if with_tools and with_tools[-1] else ())


def _last_results(trajectory: Trajectory, with_tools: Sequence[bool]) -> tuple[Message, ...]:
    """The results of the last answer's calls, which no request tells any more."""
    if not trajectory.turns:
        return ()
    last, in_text = trajectory.turns[-1], not with_tools[-1]
    calls = calls_in(last.answer.text) if in_text else last.answer.calls
    if not calls or len(calls) != len(last.results):
        return ()
    return told_results(calls, last.results, in_text=in_text, nudge=NUDGE)


def offers(trajectory: Trajectory) -> tuple[bool, ...]:
    """Whether each turn's request offered the tools. Where an older record does not say, it did unless the answers call
    tools in plain text only."""
    turns = trajectory.turns
    called = any(turn.answer.calls for turn in turns)
    in_text = not called and any(calls_in(turn.answer.text) for turn in turns)
    return tuple(not in_text if turn.offered is None else turn.offered for turn in turns)


def is_mistake(turn: Turn, at_least: float = 1.0) -> bool:
    """Whether the judge or the tools turned down what the model did in this turn; see example_of."""
    if not turn.results or any(result == CUT_OFF or result.startswith(NOT_DONE) for result in turn.results):
        return True
    if turn.score is not None:
        return turn.score.accepted < max(at_least, 1e-9) * turn.score.total
    judged = dict(turn.verdicts or ())
    rejected = sum(count for verdict, count in judged.items() if not verdict.accepted and verdict not in NO_REWARD)
    return rejected > (1 - at_least) * sum(judged.values())


def _finishes(turn: Turn) -> bool:
    return any(call.name == FINISH for call in (*turn.answer.calls, *calls_in(turn.answer.text)))


def reward_of_turn(turn: Turn) -> float | None:
    """See TrainingMessage."""
    if turn.score is None or not turn.score.total:
        return None
    cheats = any(verdict is Verdict.CHEAT for verdict, _ in turn.verdicts or ())
    return 0.0 if cheats else turn.score.accepted / turn.score.total


def one_call_per_turn(example: TrainingExample) -> TrainingExample:
    """The example with an answer for each call, and its result after it: some templates render only the first call.

    The words and the reasoning stay with the first call."""
    steps: list[TrainingMessage] = []
    waiting: list[TrainingMessage] = []
    for step in example.steps:
        calls = step.message.calls
        if waiting and step.message.role is Role.TOOL:
            steps += [waiting.pop(0), step]
            continue
        steps += waiting
        waiting = []
        if len(calls) < 2:
            steps.append(step)
            continue
        waiting = [
            replace(step, message=replace(step.message, calls=(call,)))
            if number == 0
            else replace(step, message=Message(Role.MODEL, calls=(call,)))
            for number, call in enumerate(calls)
        ]
    return replace(example, steps=(*steps, *waiting))


def until_learnt(example: TrainingExample) -> TrainingExample:
    """The example without what follows the last answer that is worth learning."""
    last = max((number for number, step in enumerate(example.steps) if step.learn), default=-1)
    return replace(example, steps=example.steps[: last + 1])


def by_turns(example: TrainingExample) -> Iterator[TrainingExample]:
    """An example for each answer that is worth learning, which ends with it, and in which no other is."""
    for number, step in enumerate(example.steps):
        if step.learn:
            before = tuple(replace(each, learn=False) for each in example.steps[:number])
            yield replace(example, steps=(*before, step))


def unmasked(example: TrainingExample) -> TrainingExample:
    """The example with every answer to be learnt that the model could have given in this protocol."""
    return replace(example, steps=tuple(replace(step, learn=step.said) for step in example.steps))
