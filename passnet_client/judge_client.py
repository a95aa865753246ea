"""A client of the judge's service, which needs Python and nothing else.

    judge = JudgeClient()  # PASSNET_JUDGE_URL and PASSNET_JUDGE_TOKEN, or http://127.0.0.1:8600
    answer = judge.evaluate("swiglu-gate", text=completion)
    if answer["reward"] is not None:
        ...

    keys = [judge.submit("swiglu-gate", text=each) for each in completions]  # none of them waits
    answers = [judge.answer_to(key) for key in keys]

    with judge.session("swiglu-gate") as session:
        calls = ask_a_model(session.messages, session.tools)
        step = session.step(calls=calls)

Answers are dictionaries with the fields of the service's OpenAPI document. A reward of None is no reward, and not 0:
the machine was at fault, or nothing can be said of the values."""

import concurrent.futures
import contextlib
import http.client
import json
import math
import os
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

URL = "http://127.0.0.1:8600"
VERSION = "v1"
"""Of the addresses that are called."""
PATIENCE_S = 300.0
"""How long a request is repeated while the service is busy or cannot be reached, in seconds."""
TIMEOUT_S = 900.0
"""How long to wait for one answer before asking again, in seconds."""
POLL_S = 30.0
"""How long the service may hold back an answer that is not there yet, in seconds."""
PROMPTS_AT_ONCE = 100
"""How many tasks are named in one address."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 10.0


class JudgeError(Exception):
    """The service did not answer. status: HTTP's, or 0 if it could not be reached. kind: the error's name.
    retry_after_s: when to ask again, if the service says so, or 0."""

    def __init__(self, status: int, kind: str, message: str, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.status, self.kind, self.retry_after_s = status, kind, retry_after_s


class _TimedOut(JudgeError):
    """The service took longer than the timeout of one request."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "TimedOut", message)


class JudgeClient:
    """Calls the service at `url`; safe to share between threads. token: empty for a service without tokens. Raises
    ValueError if url cannot be an address."""

    def __init__(
        self, url: str = "", token: str = "", *, patience_s: float = PATIENCE_S, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.url = (url or os.environ.get("PASSNET_JUDGE_URL", "") or URL).rstrip("/")
        if not _is_address(self.url):
            raise ValueError(f"{self.url!a} is not an address. The judge's service has one such as {URL}.")
        self._token = token or os.environ.get("PASSNET_JUDGE_TOKEN", "")
        self.patience_s, self.timeout_s = patience_s, timeout_s

    def evaluate(
        self, task: str, *, text: str | None = None, bundle: dict[str, Any] | None = None, key: str = "", **how: Any
    ) -> dict[str, Any]:
        """Judge a model's answer or a bundle on a task, and wait for what it is worth.

        bundle: {"passes": [{"name": ..., "code": ...}], "helpers": [...]}. how: further fields, as stage="measure", or
        an answer's `messages`, with tool calls, instead of its text.
        key: an idempotency key; one is made up, so that a repeated request is judged once. Raises JudgeError."""
        return self.ask("POST", "/evaluate", _evaluation(task, text, bundle, key, how))

    def submit(
        self, task: str, *, text: str | None = None, bundle: dict[str, Any] | None = None, key: str = "", **how: Any
    ) -> str:
        """Have the service judge without waiting for it, and return the key for answer_to(). The arguments are those
        of evaluate(). Raises JudgeError."""
        return str(self.ask("POST", "/evaluations", _evaluation(task, text, bundle, key, how))["key"])

    def answer_to(self, key: str, within_s: float = math.inf) -> dict[str, Any] | None:
        """The answer to what was submitted with this key, as of evaluate(); None: it was not there within so many
        seconds. Raises JudgeError; its status is 404 if the service does not know the key, as after it was started
        again before there was an answer: submit the same then."""
        until = time.monotonic() + within_s
        while True:
            wait_s = max(0.0, min(POLL_S, self.timeout_s / 2, until - time.monotonic()))
            found = self.ask("GET", f"/evaluations/{urllib.parse.quote(key)}?wait_s={wait_s:.3f}")
            if found["error"]:
                raise JudgeError(found["status"], found["error"]["kind"], found["error"]["message"])
            if found["answer"] is not None or time.monotonic() >= until:
                return found["answer"]

    def evaluate_all(self, requests: Sequence[dict[str, Any]], at_once: int = 16) -> list[dict[str, Any] | JudgeError]:
        """Judge many, `at_once` at a time. Each request has the arguments of evaluate(); the answers come in the same
        order, and a JudgeError stands in for one that failed."""

        def one(request: dict[str, Any]) -> dict[str, Any] | JudgeError:
            try:
                return self.evaluate(**request)
            except JudgeError as error:
                return error

        with concurrent.futures.ThreadPoolExecutor(max(1, at_once)) as threads:
            return list(threads.map(one, requests))

    def stream(
        self, task: str, *, text: str | None = None, bundle: dict[str, Any] | None = None, key: str = "", **how: Any
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Judge like evaluate(), and yield (event, data) as it goes on: phase, outcome, and at last answer. Raises
        JudgeError, also if the stream ends before the answer: ask again with the same key then."""
        asked = _evaluation(task, text, bundle, key, how)
        with self._patiently(lambda: self._opened("POST", "/evaluate/stream", asked), repeatable=True) as response:
            try:
                for event, data in _events(response):
                    if event == "error":
                        raise JudgeError(data["status"], data["error"]["kind"], data["error"]["message"])
                    yield event, data
                    if event == "answer":
                        return
            except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
                raise self._broken_off(str(error)) from error
        raise self._broken_off("the answer is missing")

    def session(self, task: str, **how: Any) -> "JudgeSession":
        """Begin a conversation about a task. how: further fields, such as protocol="text". Raises JudgeError."""
        return JudgeSession(self, self.ask("POST", "/sessions", {"task": task, **how}))

    def tasks(self, split: str = "") -> list[dict[str, Any]]:
        """The tasks of the corpus, or of one split. Raises JudgeError."""
        return self.ask("GET", "/tasks" + (f"?split={urllib.parse.quote(split)}" if split else ""))

    def task(self, name: str, protocol: str = "tools") -> dict[str, Any]:
        """A task, with the first messages of a conversation about it and its tools. Raises JudgeError."""
        return self.ask("GET", f"/tasks/{urllib.parse.quote(name, safe='')}?protocol={protocol}")

    def prompts(self, split: str = "", protocol: str = "text", names: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Many tasks like task(): the named ones, or all of the corpus or of one split. Raises JudgeError."""
        wanted = list(names) or [each["id"] for each in self.tasks(split)]
        found: list[dict[str, Any]] = []
        for start in range(0, len(wanted), PROMPTS_AT_ONCE):
            named = [("name", name) for name in wanted[start : start + PROMPTS_AT_ONCE]]
            found += self.ask("GET", "/prompts?" + urllib.parse.urlencode([("protocol", protocol), *named]))
        return found

    def health(self) -> dict[str, Any]:
        """Whether the service can judge, and how much it has to do. Raises JudgeError."""
        return self.ask("GET", "/health")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request until it is answered, and return the answer's JSON. Only what may be repeated is: requests
        that were not taken in, and those with a key or a number. One of these that takes longer than the timeout is
        sent again for as long as the service is well. Raises JudgeError."""
        repeatable = method in ("GET", "DELETE") or (isinstance(body, dict) and bool({"key", "step"} & set(body)))
        while True:
            try:
                return self._patiently(lambda: self._answered(method, path, body), repeatable)
            except _TimedOut:
                if not repeatable:
                    raise
                self._patiently(lambda: self._answered("GET", "/health", None), repeatable, past_timeouts=True)

    def _patiently(self, work: Callable[[], T], repeatable: bool, *, past_timeouts: bool = False) -> T:
        """What work returns, done again while the service is busy or cannot be reached."""
        until, pause = time.monotonic() + self.patience_s, FIRST_PAUSE_S
        while True:
            try:
                return work()
            except JudgeError as error:
                wait_s = error.retry_after_s or pause
                lost = error.status == 0 and repeatable and (past_timeouts or not isinstance(error, _TimedOut))
                if not (lost or error.status in (429, 503)) or time.monotonic() + wait_s > until:
                    raise
                time.sleep(wait_s)
                pause = min(LONGEST_PAUSE_S, 2 * pause)

    def _answered(self, method: str, path: str, body: Any) -> Any:
        with self._opened(method, path, body) as response:
            try:
                return json.loads(response.read())
            except TimeoutError as error:
                raise _TimedOut(self._silence()) from error
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise self._broken_off(str(error)) from error

    def _opened(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{VERSION}{path}", data, headers, method=method)
        try:
            return _OPENER.open(request, timeout=self.timeout_s)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        except TimeoutError as error:  # one while connecting is a URLError
            raise _TimedOut(self._silence()) from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            why = getattr(error, "reason", error)
            raise JudgeError(0, "Unreachable", f"The judge's service at {self.url} does not answer: {why}.") from error

    def _silence(self) -> str:
        return f"The judge's service at {self.url} has not answered within {self.timeout_s:.0f} s."

    def _broken_off(self, why: str) -> JudgeError:
        return JudgeError(0, "Unreachable", f"The answer of {self.url} broke off: {why}.")


def shares(answer: dict[str, Any]) -> dict[str, float]:
    """On which share of the subgraphs the bundle of an answer was accepted, loads, matches and cheats, and the mean
    share of the input draws on which its outputs are right."""
    parts, total = answer["parts"], answer["total"] or 1
    right = math.fsum(each["right"]["share"] for each in parts if each["right"])
    return {
        "accepted": answer["accepted"] / total,
        "loads": sum(bool(each["loads"]) for each in parts) / total,
        "matches": sum(bool(each["matches"]) for each in parts) / total,
        "right_draws": right / total,
        "cheats": sum(each["cheat"] for each in parts) / total,
    }


def _evaluation(
    task: str, text: str | None, bundle: dict[str, Any] | None, key: str, how: dict[str, Any]
) -> dict[str, Any]:
    """The request for an evaluation, with a key in any case."""
    what = {"text": text} if bundle is None else {"bundle": bundle}
    return {"task": task, "key": key or secrets.token_urlsafe(16), **how, **what}


def _events(lines: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """The name and the data of each server-sent event that came whole."""
    event, data = "", ""
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
        elif not line and data:
            yield event, json.loads(data)
            event, data = "", ""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token is for one service, and a request with a body would arrive without it."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_Stay)


def _is_address(url: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isascii()
    except ValueError:
        return False


class JudgeSession:
    """A conversation about a task, whose model is yours. messages, tools: how it begins, in OpenAI's chat format.
    state: as of the last step. Ends with the with block, or by close()."""

    def __init__(self, client: JudgeClient, opening: dict[str, Any]) -> None:
        self._client = client
        self.id: str = opening["id"]
        self.messages: list[dict[str, Any]] = opening["messages"]
        self.tools: list[dict[str, Any]] = opening["tools"]
        self.state: dict[str, Any] = opening["state"]
        self._in_doubt = False

    @property
    def reward(self) -> float | None:
        """The reward of the best bundle that was evaluated; None: no reward."""
        return self.state["reward"]

    @property
    def final_reward(self) -> float | None:
        """What the conversation is worth if it ends here: the reward of its best bundle, and 0 if none was evaluated.

        None is no reward: none was right, and a step failed or a bundle had no reward, so that one may have been."""
        reward = self.reward
        if self._in_doubt and not reward:
            return None
        return 0.0 if reward is None else reward

    @property
    def finished(self) -> bool:
        return self.state["finished"]

    def step(self, *, calls: Sequence[dict[str, Any]] | None = None, text: str | None = None) -> dict[str, Any]:
        """Do what the model asks for, by tool calls ({"name": ..., "arguments": ..., "id": ...}) or in plain text, and
        return the results, with the messages that tell the model of them. Raises JudgeError."""
        asked: dict[str, Any] = {"step": self.state["steps"] + 1}
        asked.update({"text": text} if calls is None else {"calls": list(calls)})
        try:
            answer: dict[str, Any] = self._client.ask("POST", f"/sessions/{self.id}/step", asked)
        except JudgeError as error:
            self._in_doubt |= error.status != 422  # that one was refused before anything was done
            raise
        evaluations = [each["evaluation"] for each in answer["results"]]
        self._in_doubt |= any(each is not None and each["reward"] is None for each in evaluations)
        self.state = answer["state"]
        return answer

    def close(self) -> None:
        """End the conversation; does nothing if it has ended."""
        try:
            self.state = self._client.ask("DELETE", f"/sessions/{self.id}")
        except JudgeError as error:
            if error.status != 404:
                raise

    def __enter__(self) -> "JudgeSession":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refusal(error: urllib.error.HTTPError) -> JudgeError:
    """What a refusal says, whoever refused."""
    if 300 <= error.code < 400:
        place = error.headers.get("Location", "")
        return JudgeError(error.code, "HTTPError", f"{error.url} is at {place!a} now. Give that address to the client.")
    text = ""
    # it was refused, whatever becomes of the words that say why
    with contextlib.suppress(OSError, http.client.HTTPException):
        text = error.read().decode(errors="replace")
    try:
        told = json.loads(text)["error"]
        kind, message = str(told["kind"]), str(told["message"])
    except (ValueError, KeyError, TypeError):
        kind, message = "HTTPError", f"{error.code} {error.reason}: {text[:200]}"
    asked = error.headers.get("Retry-After", "")
    return JudgeError(error.code, kind, message, float(asked) if asked.isdigit() else 0.0)
