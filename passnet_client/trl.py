"""The judge's service for TRL 1.16: a reward function, and conversations as an environment, both for GRPOTrainer.

    judge = JudgeClient()
    rows = Dataset.from_list(prompt_rows(judge, split="train"))
    GRPOTrainer(model, judged_reward(judge), train_dataset=rows, ...)

    rows = Dataset.from_list(prompt_rows(judge, split="train", protocol="tools"))
    GRPOTrainer(model, environment_factory=lambda: JudgedConversation(judge), train_dataset=rows, ...)

A reward of None is no reward: TRL leaves such a completion out of its group's mean, and gives it the advantage 0. Since
it adds up what several reward functions return, one beside this would still reward a completion that has none here."""

from collections.abc import Callable, Sequence
from typing import Any

from passnet_client.judge_client import JudgeClient, JudgeError, JudgeSession

Reward = Callable[..., list[float | None]]
ENDED = "The conversation has ended."
NOT_BEGUN = "Rows of an environment need a column task with the task's name."
REFUSED = (401, 404, 413, 422)
"""The statuses of requests that are wrong, and would be the next time."""


def prompt_rows(judge: JudgeClient, split: str = "", protocol: str = "text") -> list[dict[str, Any]]:
    """The prompts of all tasks, or of one split, with the columns that are needed here. protocol: "text" for the reward
    function, whose completions write calls in plain text; "tools" for the environment. Raises JudgeError."""
    return [{"prompt": each["messages"], "task": each["id"]} for each in judge.prompts(split, protocol)]


def judged_reward(judge: JudgeClient | None = None, *, at_once: int = 16, **how: Any) -> Reward:
    """A reward function: the default reward of each completion, on the task that the column task names.

    A completion is the text of an answer, or its messages. judge: by default at PASSNET_JUDGE_URL. at_once: requests in
    progress. how: further fields of the service's POST /evaluate; a column stage says how to judge, unless it is here.
    What it returns raises JudgeError if the service refuses a request that is wrong, as for an unknown task."""
    client = judge or JudgeClient()

    def judge_reward(
        completions: Sequence[Any],
        task: Sequence[str],
        stage: Sequence[str] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        asked = [
            {"task": name, **_answer(completion), **({"stage": stage[number]} if stage else {}), **how}
            for number, (name, completion) in enumerate(zip(task, completions, strict=True))
        ]
        answers = client.evaluate_all(asked, at_once)
        for each in answers:
            if isinstance(each, JudgeError) and each.status in REFUSED:
                raise each
        rewards = [None if isinstance(each, JudgeError) else each["reward"] for each in answers]
        if log_extra is not None:
            log_extra("judged", [_said(each) for each in answers])
        if log_metric is not None:
            log_metric("judge/no_reward", sum(each is None for each in rewards) / max(1, len(rewards)))
        return rewards

    return judge_reward


def _answer(completion: str | Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The field of a request that has the model's answer."""
    if isinstance(completion, str):
        return {"text": completion}
    return {"messages": [each for each in completion if each["role"] == "assistant"]}


def _said(answer: dict[str, Any] | JudgeError) -> str:
    """Each verdict once, or why there is none."""
    if isinstance(answer, JudgeError):
        return str(answer)
    return ", ".join(dict.fromkeys(each["verdict"] for each in answer["parts"])) or answer["problem"]


class JudgedConversation:
    """An environment for environment_factory: its methods are the tools of a conversation, and it owns the reward.

    judge: by default at PASSNET_JUDGE_URL. how: further fields of the service's POST /sessions. A row needs a column
    task, and may have a prompt, as prompt_rows() makes it; without one the model is told all in the user's message."""

    def __init__(self, judge: JudgeClient | None = None, **how: Any) -> None:
        self._judge, self._how = judge or JudgeClient(), how
        self._session: JudgeSession | None = None
        self._lost: JudgeError | None = None

    def reset(self, task: str = "", prompt: Any = None, **columns: Any) -> str | None:
        """Begin a conversation about the task of a row, and return what its prompt lacks. Raises ValueError without a
        task, and JudgeError if the request is wrong. If the service fails, the rollout goes on and has no reward."""
        if not task:
            raise ValueError(NOT_BEGUN)
        self._end()
        try:
            self._session = self._judge.session(task, **self._how)
        except JudgeError as error:
            if error.status in REFUSED:
                raise
            self._lost = error
            return None
        return None if prompt else "\n\n".join(each["content"] for each in self._session.messages)

    def get_reward(self) -> float | None:
        """The reward of the conversation, which ends. None is no reward."""
        reward = None if self._session is None else self._session.final_reward
        self._end()
        return reward

    def write_file(self, name: str, code: str) -> str:
        """Writes a file of the bundle, and replaces an existing one. A file that defines pattern() is a pass; passes
        are applied in the order in which they were first written. All other files are helpers.

        Args:
            name: a file name, such as fused_gelu.py
            code: the whole file
        """
        return self._call("write_file", name=name, code=code)

    def patch_file(self, name: str, old: str, new: str) -> str:
        """Replaces one passage of a file.

        Args:
            name: a file name, such as fused_gelu.py
            old: the passage to replace, which must occur exactly once
            new: the text that replaces it
        """
        return self._call("patch_file", name=name, old=old, new=new)

    def delete_file(self, name: str) -> str:
        """Removes a file from the bundle.

        Args:
            name: a file name, such as fused_gelu.py
        """
        return self._call("delete_file", name=name)

    def check(self) -> str:
        """Applies the static rules and matches the passes on every subgraph. Fast, and needs no GPU."""
        return self._call("check")

    def evaluate(self) -> str:
        """Judges values, and on a GPU time, on every subgraph. Only these results count."""
        return self._call("evaluate")

    def explain(self, subgraph: str) -> str:
        """Reports everything that the last check or evaluation found on one subgraph.

        Args:
            subgraph: its name, such as float16/0/bert_op12
        """
        return self._call("explain", subgraph=subgraph)

    def inductor_code(self, subgraph: str) -> str:
        """Shows the code that TorchInductor generates for one subgraph, and how many kernels it launches.

        Args:
            subgraph: its name, such as float16/0/bert_op12
        """
        return self._call("inductor_code", subgraph=subgraph)

    def read_guide(self, page: str) -> str:
        """Shows a page of the guide.

        Args:
            page: the page's name
        """
        return self._call("read_guide", page=page)

    def finish(self) -> str:
        """Ends the conversation. The best evaluated bundle counts, not the last."""
        return self._call("finish")

    def _call(self, tool: str, **arguments: str) -> str:
        """What the tool answers. TRL tells a model of an error that is raised, and goes on."""
        if self._session is None:
            raise self._lost or ValueError(NOT_BEGUN)
        if self._session.finished:
            return ENDED
        answer = self._session.step(calls=[{"name": tool, "arguments": arguments}])
        text: str = answer["results"][0]["text"]
        return text

    def _end(self) -> None:
        session, self._session = self._session, None
        self._lost = None
        if session is not None:
            try:
                session.close()
            except JudgeError:
                pass  # the service ends what nobody uses
