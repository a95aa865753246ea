"""Conversations with the judge's service as a taskset for verifiers 0.4 (its v1 interface).

    vf-eval passnet-verifiers -m MODEL --client.base-url URL --env.taskset.split train --no-push

The module passnet_verifiers gives it that name. The tools are those of the service. The reward is that of the best
bundle, and what it is made of are metrics.

A rollout without a reward is an error: its trace has ok = False and no score, and retries of verifiers apply to it by
the type TaskError. Drop it, since verifiers adds up what is not there as 0."""

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import verifiers.v1 as vf  # type: ignore[import-not-found]
from pydantic import Field
from verifiers.v1.harnesses.null import NullHarness  # type: ignore[import-not-found]

from passnet_client.judge_client import PATIENCE_S, JudgeClient, JudgeError, JudgeSession, shares

__all__ = ["NullHarness", "PassNetEnv", "PassNetTaskset"]  # what verifiers looks up: a chat with tools and no shell


class Unrewarded(Exception):
    """Nothing can be said of a rollout, through no fault of its own."""


class RolloutState(vf.State):
    """What the tools tell the task. conversation: the service's state of it. reward: as if it ended now; None is no
    reward. fault: why the service failed; else empty."""

    conversation: dict[str, Any] = {}
    reward: float | None = None
    fault: str = ""


class PassNetTaskData(vf.TaskData):
    """task: its name. tools: as the service describes them, in OpenAI's chat format."""

    task: str
    tools: list[dict[str, Any]]


class PassNetToolsConfig(vf.ToolsetConfig):
    """judge_url: empty for PASSNET_JUDGE_URL. A token is read from PASSNET_JUDGE_TOKEN. patience_s: how long a request
    is repeated while the service is busy or cannot be reached, in seconds."""

    judge_url: str = ""
    patience_s: float = PATIENCE_S

    def judge(self) -> JudgeClient:
        return JudgeClient(self.judge_url, patience_s=self.patience_s)


class PassNetTaskConfig(vf.TaskConfig):
    """stage: verify or measure."""

    tools: PassNetToolsConfig = PassNetToolsConfig()
    stage: str = "verify"


class PassNetTasksetConfig(vf.TasksetConfig):
    """split: of the corpus; empty for all. tasks: their names; empty for all of the split."""

    task: PassNetTaskConfig = PassNetTaskConfig()
    split: str = ""
    tasks: list[str] = []


class PassNetTools(vf.Toolset[PassNetToolsConfig, RolloutState]):
    """The tools of one conversation, which verifiers serves in a process of their own."""

    TOOL_PREFIX = None

    async def setup_task(self, task: PassNetTaskData) -> None:
        self._described = [each["function"] for each in task.tools]
        self._session: JudgeSession | None = None
        self._fault = ""
        self._one_at_a_time = asyncio.Lock()

    def register(self, mcp: Any) -> None:
        for tool in self._described:
            mcp.add_tool(self._with_state(self._tool(tool)), name=tool["name"], description=tool["description"])

    def _tool(self, tool: dict[str, Any]) -> Callable[..., Any]:
        """A function whose parameters are those of the tool."""

        async def called(**arguments: str) -> str:
            async with self._one_at_a_time:
                return await asyncio.to_thread(self._call, tool["name"], arguments)

        called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    annotation=Annotated[str, Field(description=each["description"])],
                )
                for name, each in tool["parameters"]["properties"].items()
            ],
            return_annotation=str,
        )
        return called

    def _call(self, tool: str, arguments: dict[str, str]) -> str:
        """What the tool answers. A fault is told in the state, which verifiers leaves as it was if a tool raises."""
        if self._session is None:
            opening = {"id": self.state.conversation["id"], "messages": [], "tools": []}
            self._session = JudgeSession(self.config.judge(), {**opening, "state": self.state.conversation})
        session, text = self._session, ""
        try:
            text = session.step(calls=[{"name": tool, "arguments": arguments}])["results"][0]["text"]
        except JudgeError as error:
            self._fault = text = str(error)
        # all of it, since a call that began earlier may have read an older state
        self.state.conversation, self.state.reward, self.state.fault = session.state, session.final_reward, self._fault
        return text


class PassNetTask(vf.Task[PassNetTaskData, RolloutState, PassNetTaskConfig]):
    """A task of the corpus, with its conversation, its reward and its metrics."""

    @property
    def key(self) -> str:
        return self.data.task

    @classmethod
    def toolsets(cls, config: PassNetTaskConfig) -> list[vf.Toolset]:
        return [PassNetTools(config.tools)]

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        client = self.config.tools.judge()
        session = await asyncio.to_thread(client.session, self.data.task, stage=self.config.stage)
        trace.state.conversation, trace.state.reward = session.state, session.final_reward

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        client, state = self.config.tools.judge(), trace.state
        if not state.conversation["evaluations"] and not state.fault:
            await asyncio.to_thread(self._judge_text, client, state, trace.last_reply)
        with contextlib.suppress(JudgeError):  # the service ends what nobody uses
            await asyncio.to_thread(client.ask, "DELETE", f"/sessions/{trace.state.conversation['id']}")

    def _judge_text(self, client: JudgeClient, state: RolloutState, text: str) -> None:
        """Judge what a model wrote in text instead of calling tools."""
        try:
            answer = client.evaluate(self.data.task, text=text, stage=self.config.stage)
        except JudgeError as error:
            state.fault = str(error)
            return
        judged = int(answer["bundle_digest"] is not None)
        state.conversation = {**state.conversation, "evaluations": judged, "best": answer}
        state.reward = answer["reward"]

    @vf.stop
    async def conversation_ended(self, trace: vf.Trace) -> bool:
        """Ends the rollout at finish, and where the service fails."""
        return bool(trace.state.conversation["finished"] or trace.state.fault)

    @vf.reward
    async def judged(self, trace: vf.Trace) -> float:
        """The reward of the best bundle, 0 if none was evaluated. Raises Unrewarded."""
        state = trace.state
        if state.fault or state.reward is None:
            raise Unrewarded(state.fault or "No bundle was right, and one of them could not be judged.")
        return float(state.reward)

    @vf.metric
    async def parts(self, trace: vf.Trace) -> dict[str, float]:
        """How often it evaluated, and of the best bundle, as shares of the subgraphs: on which it is accepted, loads,
        matches and cheats; and the mean share of the input draws on which its outputs are right."""
        found = trace.state.conversation
        best = found["best"] or {"accepted": 0, "total": 1, "parts": []}
        return {"evaluations": found["evaluations"], **shares(best)}


class PassNetTaskset(vf.Taskset[PassNetTask, PassNetTasksetConfig]):
    """The tasks of the service's corpus."""

    def load(self) -> Iterator[PassNetTask]:
        """Yield the tasks, each with the first messages of its conversation. Raises JudgeError."""
        client = self.config.task.tools.judge()
        for name in self.config.tasks or [each["id"] for each in client.tasks(self.config.split)]:
            detail = client.task(name)
            told = {
                role: "\n\n".join(each["content"] for each in detail["messages"] if each["role"] == role)
                for role in ("system", "user")
            }
            data = PassNetTaskData(
                name=name, task=name, prompt=told["user"], system_prompt=told["system"] or None, tools=detail["tools"]
            )
            yield PassNetTask(data, self.config.task)


class PassNetEnvConfig(vf.EnvConfig):
    """agent: the policy. Its program runs no code of a model, so that it needs no container."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class PassNetEnv(vf.Env[PassNetEnvConfig]):
    """One model, one conversation."""

    async def run(self, task: PassNetTask, agents: vf.Agents) -> None:
        await agents.agent.run(task)


if __name__ == "__main__":  # verifiers runs a module to serve its tools
    PassNetTools.run()
