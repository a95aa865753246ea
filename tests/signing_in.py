"""Start the app for strangers, who sign in with a real OpenID provider on this machine."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import Page, expect

from tests.example_playground import environment_of
from tests.serving import PROJECT, free_port, serving
from tests.waiting import seconds

SECRETS = """[auth]
redirect_uri = "{address}/oauth2callback"
cookie_secret = "a secret of this test, and of no server"
client_id = "playground"
client_secret = "known to the provider"
server_metadata_url = "http://localhost:{provider}/.well-known/openid-configuration"
"""


@dataclass(frozen=True)
class Doorstep:
    """An app that serves strangers. environment: of commands beside it."""

    address: str
    environment: dict[str, str]

    def command(self, *arguments: str) -> str:
        """Run a command of the playground beside the server. Returns what it prints."""
        run = [sys.executable, "-m", "passnet_core", *arguments]
        return subprocess.run(
            run, env=self.environment, cwd=PROJECT, check=True, timeout=seconds(60), stdout=subprocess.PIPE, text=True
        ).stdout

    def give_role(self, name: str, role: str) -> None:
        """Give a role to who has signed in under this name."""
        people = json.loads(self.command("people", "list", "--json"))
        (person_id,) = (person["id"] for person in people if person["name"] == name)
        self.command("people", "role", person_id, role)

    def sign_in(self, page: Page, name: str) -> Page:
        """Sign in as one of the people, in a browser that has nobody signed in."""
        page.goto(f"{self.address}/account")
        page.get_by_role("button", name="Sign in").first.click()
        page.get_by_role("button", name=name.lower()).click()
        expect(page.get_by_role("button", name=name)).to_be_visible()
        return page


@contextlib.contextmanager
def doorstep(folder: Path, people: Mapping[str, str]) -> Iterator[Doorstep]:
    """The app with the example playground's data. people: the names of those who can sign in, by what the provider
    calls them."""
    home, port = folder / "home", free_port()
    home.mkdir()
    environment = environment_of(folder, PASSNET_ISOLATION="auto")
    users = [User(sub=sub, claims={"name": name}) for sub, name in people.items()]
    with run_server_in_thread(user_claims=users) as provider:
        told = SECRETS.format(address=f"http://127.0.0.1:{port}", provider=provider.server_port)
        (home / "secrets.toml").write_text(told)
        with serving(environment, folder / "app.log", port=port) as address:
            yield Doorstep(address, environment)
