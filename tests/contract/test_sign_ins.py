"""Many people sign in at once with a real OpenID provider, and each of them is only ever themselves."""

import re
from collections.abc import Iterator

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests import signing_in
from tests.page_client import PageClient, run_apart, together
from tests.signing_in import Doorstep
from tests.waiting import seconds

pytestmark = [pytest.mark.sandbox, pytest.mark.long]

SIGNED_IN = "_streamlit_user"
AT_ONCE, TRIED = 8, 10


@pytest.fixture(scope="module")
def doorstep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorstep]:
    people = {f"person-{number}": f"Person {number}." for number in range(501)}
    with signing_in.doorstep(tmp_path_factory.mktemp("served"), people) as opened:
        yield opened


async def callback_of(browser: PageClient, sub: str) -> str:
    """Go to the provider, sign in there, and return the address to which it sends the browser back."""
    await browser.open("account")
    await browser.press("Sign in")
    gone = await browser.http.get(browser.redirect)
    async with httpx.AsyncClient() as provider:
        answered = await provider.post(gone.headers["Location"], data={"sub": sub})
    return str(answered.headers["Location"])


async def sign_in(browser: PageClient, sub: str) -> None:
    """Sign in, and again if the provider did not answer the server in time, as a person would on a busy day."""
    for _ in range(TRIED):
        answered = await browser.http.get(await callback_of(browser, sub))
        assert answered.status_code == 302, answered.text
        if SIGNED_IN in browser.http.cookies:
            return
    raise AssertionError(f"{sub} could not sign in")


def who(browser: PageClient) -> str:
    """Who the page says is there."""
    found = re.search(r"\*\*(.+?)\*\* · (visitor|member)", browser.shown.text)
    assert found, browser.shown.text
    return found[1]


def test_sign_ins_at_once_are_never_mixed_up(doorstep: Doorstep) -> None:
    run_apart(together([_comes(doorstep, number) for number in range(20)], AT_ONCE))


@pytest.mark.slow
def test_five_hundred_sign_ins_are_never_mixed_up(doorstep: Doorstep) -> None:
    run_apart(together([_comes(doorstep, number) for number in range(500)], AT_ONCE))


async def _comes(doorstep: Doorstep, number: int) -> None:
    """Somebody signs in, and is that person on each page; every third one signs out again."""
    async with PageClient(doorstep.address) as browser:
        await sign_in(browser, f"person-{number}")
        for page in ("account", "runs"):
            await browser.open(page)
            assert who(browser) == f"Person {number}."
            assert not browser.shown.errors
        if number % 3 == 0:
            await browser.press("Sign out")
            await browser.http.get(browser.redirect)
            await browser.open("account")
            assert who(browser) == "Visitor"


def test_no_cookie_but_ones_own_signs_in(doorstep: Doorstep) -> None:
    async def tried() -> None:
        async with PageClient(doorstep.address) as alice:
            await sign_in(alice, "person-500")
            await alice.open("account")
            assert who(alice) == "Person 500."
            cookie = str(alice.http.cookies[SIGNED_IN])
        body, end = cookie[:-8], cookie[-8:]
        for forged in (body + end[::-1], body[:-1] + end, end + body, "admin", "", body.swapcase() + end):
            async with PageClient(doorstep.address, {SIGNED_IN: forged}) as stranger:
                await stranger.open("account")
                assert who(stranger) == "Visitor"

    run_apart(tried())


def test_a_callback_answers_only_the_browser_that_asked(doorstep: Doorstep) -> None:
    """Else somebody could be made to work under another's name, who then reads it."""

    async def tried() -> None:
        async with PageClient(doorstep.address) as attacker, PageClient(doorstep.address) as victim:
            callback = await callback_of(attacker, "person-1")
            await victim.open("account")
            await victim.http.get(callback)
            await victim.open("account")
            assert who(victim) == "Visitor"

    run_apart(tried())


def test_another_sites_page_cannot_connect(doorstep: Doorstep) -> None:
    async def tried() -> None:
        socket = f"{doorstep.address.replace('http', 'ws', 1)}/_stcore/stream"
        with pytest.raises(InvalidStatus, match="403"):
            await connect(socket, origin="https://evil.example")  # type: ignore[arg-type]

    run_apart(tried())


def test_programs_are_served_beside_the_pages(doorstep: Doorstep) -> None:
    with httpx.Client(base_url=doorstep.address, timeout=seconds(60)) as program:
        assert program.get("/api/health").json() == {"ok": True}
        assert program.get("/api/me").status_code == 401
        assert program.get("/api/openapi.json").json()["info"]["title"] == "PassNet Playground"
        assert program.post("/mcp", json={}).status_code == 401
