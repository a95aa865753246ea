"""What a chat or a search engine reads of a link, without running the app's script."""

import html
import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.ui import heads
from passnet_core.records import EvalSpec, Stage
from passnet_core.reports.previews import run_preview
from passnet_core.service import Service
from tests.example_playground import REFERENCE, task


@pytest.fixture
def client(service: Service) -> TestClient:
    return TestClient(Starlette(routes=heads.routes([("runs", "Runs"), ("explore", "Explore")])))


def said(text: str) -> dict[str, str]:
    return {
        name: html.unescape(value) for name, value in re.findall(r'<meta property="([^"]*)" content="([^"]*)">', text)
    }


def test_a_link_to_a_run_says_its_verdict_and_shows_a_picture(client: TestClient, service: Service) -> None:
    run_id = service.submit(task(), REFERENCE, EvalSpec(stage=Stage.VERIFY))
    service.wait(run_id)
    head = said(client.get("/runs", params={"run": run_id}).text)
    assert head["og:title"] == f"Unnamed passes on {task().id}: 2 of 2 subgraphs accepted · Runs · PassNet Playground"
    assert task().id in head["og:description"]
    picture = client.get(head["og:image"])
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    card = run_preview(service, run_id).picture("svg").decode()
    assert card.startswith("<svg")
    assert "2 of 2 subgraphs accepted" in card


def test_a_link_to_nothing_opens_the_page_all_the_same(client: TestClient) -> None:
    answer = client.get("/runs", params={"run": '"><script>alert(1)</script>'})
    assert answer.status_code == 200
    assert "alert(1)" not in answer.text
    assert "og:image" not in said(answer.text)
    assert client.get("/preview/nothing.png").status_code == 404


def test_a_name_in_a_link_is_text(client: TestClient) -> None:
    answer = client.get("/explore", params={"task": '"><script>alert(1)</script>'})
    assert "<script>alert(1)" not in answer.text
    assert said(answer.text)["og:title"].startswith('"><script>alert(1)</script> · Explore')
    assert '<div id="root">' in answer.text
