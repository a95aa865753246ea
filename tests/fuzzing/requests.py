"""Cases of the fuzzer that send altered requests to the judge's service."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import quote, urlsplit

from tests.contract.judge_served import served
from tests.example_playground import PASS, TASK_ID, answer, task
from tests.fake_backend import FakeBackend
from tests.fuzzing.altering import ODD_TEXTS, altered
from tests.fuzzing.cases import Case
from tests.fuzzing.ground import Ground
from tests.waiting import seconds

EVALUATION = {
    "task": TASK_ID,
    "bundle": {"passes": [{"name": "A.py", "code": PASS}], "helpers": []},
    "stage": "verify",
    "priority": 1,
    "subgraphs": ["float32/48/toy"],
}
BODIES = {
    "/evaluate": EVALUATION,
    "/evaluate/batch": {"items": [EVALUATION, {"task": TASK_ID, "text": f"```python\n{PASS}```"}]},
    "/sessions": {"task": TASK_ID, "stage": "verify"},
    "/sessions/none/step": {"text": "### check"},
}


@contextlib.contextmanager
def judge(ground: Ground) -> Iterator[None]:
    """The judge's service, with a judge that answers at once."""
    with served(ground.folder / "judge", FakeBackend(answer), [task()]) as client:
        ground.judge_url = client.url
        yield


def requests(rng: Random, ground: Ground, place: Path) -> Case:
    """A request with an altered body, header or address. Needs the service."""
    path, asked = rng.choice(list(BODIES.items()))
    body = json.dumps(asked).encode()
    headers = {"Content-Type": rng.choice(("application/json", "application/json", "text/plain", "application/xml"))}
    method = "POST"
    match rng.randrange(4):
        case 0:
            odd = rng.choice(ODD_TEXTS).encode(errors="surrogatepass")
            method, path = "GET", f"{rng.choice(('/tasks', '/sessions', '/evaluate'))}/{quote(odd, safe='')}"
        case 1:
            headers[rng.choice(("Idempotency-Key", "Authorization", "Accept"))] = rng.choice(
                ("", "a", "x" * 9000, "Bearer ", "Bearer é", "*/*;q=x", "text/event-stream")
            )
        case _:
            body = altered(rng, body)
    told = f"{method} {path[:200]} {headers!r} {body[:200]!r}"
    address = urlsplit(ground.judge_url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=seconds(5))
    try:
        connection.request(method, path, body, {name: value.encode() for name, value in headers.items()})
        response = connection.getresponse()
        status, text = response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        return Case(told, (f"no answer: {error!r}",))
    finally:
        connection.close()
    return Case(told, tuple(_problems(status, text)))


def _problems(status: int, text: bytes) -> Iterator[str]:
    if status >= 500:
        yield f"status {status}: {text[:300]!r}"
    if 400 <= status < 500 and text[:1] == b"{":
        found = json.loads(text)
        if not found.get("error", {}).get("message"):
            yield f"status {status} without a word of what is wrong: {text[:300]!r}"
    elif 400 <= status < 500:
        yield f"status {status}, but not in JSON: {text[:300]!r}"
