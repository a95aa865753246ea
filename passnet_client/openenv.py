"""Conversations with the judge's service as an OpenEnv environment: class, server and client, for openenv 0.10.

    uvicorn --factory passnet_client.openenv:app --port 8700

    with PassNetClient("http://127.0.0.1:8700").sync() as env:
        seen = env.reset(task="swiglu-gate")
        seen = env.step(PassNetAction(tool="evaluate"))

An action is one tool call, or with reset(protocol="text") what a model says, with calls in plain text or as JSON. Only
the last observation, of which done is true, has a reward, so that adding rewards up is right. None there is no reward,
and not 0: drop such an episode, and one in which the client raises an error, since the server answers with one if the
service fails."""

from typing import Any

from openenv.core import EnvClient  # type: ignore[import-not-found]
from openenv.core.client_types import StepResult  # type: ignore[import-not-found]
from openenv.core.env_server import (  # type: ignore[import-not-found]
    Action,
    Environment,
    Observation,
    State,
    create_app,
)
from pydantic import Field

from passnet_client.judge_client import JudgeClient, JudgeSession

MOST_AT_ONCE = 256
"""Episodes that one server holds."""
MESSAGE_WITHIN_S = 1200.0
"""How long a client waits for an observation by default, in seconds: longer than the service takes to judge."""
ENDED = "The episode has ended. Call reset() to begin another one."
NOT_BEGUN = 'There is no episode yet. Call reset(task="NAME") to begin one.'


class PassNetAction(Action):
    """A call of one of the tools that the first observation lists, or the text of an answer with calls in it."""

    tool: str = Field(default="", max_length=100, description="the tool's name, such as write_file")
    arguments: dict[str, Any] | str = Field(default={}, description="an object, or its JSON as a model wrote it")
    text: str | None = Field(default=None, description="instead of a tool: a model's answer with calls in text")


class PassNetObservation(Observation):
    """messages: what the model is told, in OpenAI's chat format: the prompt first, then the result of each call. tools:
    what may be called, on the first observation only. result: the service's answer to the call, with the evaluation if
    there was one; of several calls in a text, that to the last evaluation, or else to the last call."""

    messages: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] = []
    result: dict[str, Any] | None = None


class PassNetState(State):
    """reward_if_ended: the reward if the episode ended now, None is no reward; for episodes that are cut off. best: the
    evaluation of the best bundle so far."""

    task: str = ""
    finished: bool = False
    evaluations: int = 0
    files: dict[str, str] = {}
    reward_if_ended: float | None = None
    best: dict[str, Any] | None = None


class PassNetEnvironment(Environment):
    """One episode at a time: a conversation about a task. judge: by default at PASSNET_JUDGE_URL."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, judge: JudgeClient | None = None) -> None:
        super().__init__()
        self._judge = judge or JudgeClient()
        self._session: JudgeSession | None = None
        self._episode_id: str | None = None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task: str = "", **how: Any
    ) -> PassNetObservation:
        """Begin a conversation about a task. seed: without effect, since nothing is random. how: further fields of the
        service's POST /sessions, such as stage="measure". Raises ValueError without a task, and JudgeError."""
        if not task:
            raise ValueError(NOT_BEGUN)
        self.close()
        self._session = self._judge.session(task, **how)
        self._episode_id = episode_id or self._session.id
        return PassNetObservation(messages=self._session.messages, tools=self._session.tools)

    def step(self, action: PassNetAction, timeout_s: float | None = None, **how: Any) -> PassNetObservation:
        """Call a tool, or all that a text calls. Raises ValueError if no episode is under way, and JudgeError if the
        service fails."""
        session = self._running()
        if session.finished:
            raise ValueError(ENDED)
        if action.text is None:
            answer = session.step(calls=[{"name": action.tool, "arguments": action.arguments}])
        else:
            answer = session.step(text=action.text)
        results = answer["results"]
        return PassNetObservation(
            messages=answer["messages"],
            result=next((each for each in reversed(results) if each["evaluation"]), results[-1] if results else None),
            done=session.finished,
            reward=session.final_reward if session.finished else None,
        )

    @property
    def state(self) -> PassNetState:
        """Where the episode stands. Raises ValueError before the first one."""
        session = self._running()
        return PassNetState(
            episode_id=self._episode_id,
            step_count=session.state["steps"],
            task=session.state["task"],
            finished=session.finished,
            evaluations=session.state["evaluations"],
            files=session.state["files"],
            reward_if_ended=session.final_reward,
            best=session.state["best"],
        )

    def close(self) -> None:
        """End the conversation, if there is one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _running(self) -> JudgeSession:
        if self._session is None:
            raise ValueError(NOT_BEGUN)
        return self._session


class PassNetClient(EnvClient):
    """Calls a server of this environment. how: further arguments of OpenEnv's client."""

    def __init__(self, base_url: str, message_timeout_s: float = MESSAGE_WITHIN_S, **how: Any) -> None:
        super().__init__(base_url=base_url, message_timeout_s=message_timeout_s, **how)

    def _step_payload(self, action: PassNetAction) -> dict[str, Any]:
        payload: dict[str, Any] = action.model_dump()
        return payload

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        reward, done = payload["reward"], payload["done"]
        observation = PassNetObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> PassNetState:
        return PassNetState(**payload)


def app() -> Any:
    """The server, a FastAPI application, whose environments call the service at PASSNET_JUDGE_URL."""
    return create_app(
        PassNetEnvironment,
        PassNetAction,
        PassNetObservation,
        env_name="passnet",
        max_concurrent_envs=MOST_AT_ONCE,
        state_cls=PassNetState,
    )
