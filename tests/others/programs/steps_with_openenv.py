"""Plays episodes with OpenEnv's client against a server of the environment, in another thread."""

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn  # type: ignore[import-not-found,unused-ignore]
from openenv import GenericEnvClient  # type: ignore[import-not-found]
from openenv.core.env_server import create_fastapi_app  # type: ignore[import-not-found]
from told import error_of, order, tell  # type: ignore[import-not-found]

from passnet_client import JudgeClient, JudgeError
from passnet_client.openenv import (
    PassNetAction,
    PassNetClient,
    PassNetEnvironment,
    PassNetObservation,
    app,
)

NOWHERE = "http://127.0.0.1:9"


@contextlib.contextmanager
def serving(application: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
    listening = threading.Event()
    startup = server.startup

    async def announced(*given: Any, **more: Any) -> None:
        await startup(*given, **more)
        listening.set()

    server.startup = announced  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert listening.wait(600)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


def episode(env: Any, code: str | None) -> dict[str, Any]:
    """Write a pass, unless it is None, evaluate it, and finish; then what each step gave."""
    first = env.reset(task="add-relu")
    actions = [] if code is None else [("write_file", {"name": "a.py", "code": code}), ("evaluate", {})]
    steps = []
    for tool, arguments in (*actions, ("finish", "{}")):
        seen = env.step(PassNetAction(tool=tool, arguments=arguments))
        evaluation = seen.observation.result["evaluation"]
        steps.append(
            {
                "tool": seen.observation.result["name"],
                "said": seen.observation.messages[0]["content"],
                "reward": seen.reward,
                "observed": seen.observation.reward,
                "done": seen.done,
                "evaluated": evaluation and evaluation["reward"],
            }
        )
    state = env.state()
    return {
        "roles": [each["role"] for each in first.observation.messages],
        "tools": [each["function"]["name"] for each in first.observation.tools],
        "begun": [first.reward, first.done],
        "steps": steps,
        "state": {**state.model_dump(), "best": None},
    }


def in_text(env: Any, text: str) -> list[Any]:
    """Say all at once, and return the reward, whether the episode is over, and the reward of the evaluation."""
    first = env.reset(task="add-relu", protocol="text")
    seen = env.step(PassNetAction(text=text))
    return [first.observation.tools, seen.reward, seen.done, seen.observation.result["evaluation"]["reward"]]


def main() -> None:
    asked = order()
    os.environ["PASSNET_JUDGE_URL"] = asked["url"]
    found: dict[str, Any] = {"episodes": {}}
    with serving(app()) as url:
        with PassNetClient(url).sync() as env:
            for name, code in asked["codes"].items():
                found["episodes"][name] = episode(env, code)
            found["in text"] = {name: in_text(env, text) for name, text in asked["texts"].items()}
            found["too late"] = error_of(env.step, PassNetAction(tool="check"))
            found["no task"] = error_of(env.reset)
            found["unknown task"] = error_of(env.reset, task="no-such-task")
        # as a client sees it that knows nothing of this environment
        with GenericEnvClient(url).sync() as env:
            env.reset(task="add-relu")
            env.step({"tool": "write_file", "arguments": {"name": "a.py", "code": asked["codes"]["right"]}})
            env.step({"tool": "evaluate"})
            last = env.step({"tool": "finish"})
            found["generic"] = [last.reward, last.done, env.state()["reward_if_ended"]]

    def unreachable() -> PassNetEnvironment:
        return PassNetEnvironment(JudgeClient(NOWHERE, patience_s=0))

    application = create_fastapi_app(unreachable, PassNetAction, PassNetObservation)
    with serving(application) as url, PassNetClient(url).sync() as env:
        found["unreachable"] = error_of(env.reset, task="add-relu")
    try:
        unreachable().reset(task="add-relu")
    except JudgeError as error:
        found["status"] = error.status
    tell(**found)


if __name__ == "__main__":
    main()
