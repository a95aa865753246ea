"""Your model: a file becomes a search, the search a report; what is wrong with the file is said."""

import pytest

import pages.ui.own_models as own_models
from pages.ui import frame, resources
from passnet_core.corpus.solved import write_solved
from passnet_core.errors import BadInput
from passnet_core.service import Service
from passnet_core.whole_models.captured import ModelFile
from tests.pages.visiting import VISITOR, Visit, button, read, until

pytestmark = pytest.mark.long

MODEL = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(torch.nn.functional.relu(x + x)) * 2

def helper(x):
    return x

def make_model():
    return Net(), torch.ones(3, 4)
"""


@pytest.fixture
def allowed(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The service of a server that runs visitors' models, with no bundle of the rules in the gallery."""
    monkeypatch.setattr(resources, "own_models", lambda: True)
    service.settings.rules_file.parent.mkdir()
    write_solved(service.settings.rules_file, {})
    return service


def test_a_file_becomes_a_bundle_and_a_report(allowed: Service, visit: Visit) -> None:
    page = visit("model")
    assert "without network" in read(page)
    page.text_area[0].set_value(MODEL)
    button(page, "Find passes").click().run()
    search_id = page.query_params["search"]
    until(page, "The whole graph, with all passes")
    figures = {each.label: each.value for each in page.metric}
    assert figures["Passes in the bundle"] == "1"
    assert figures["Operations replaced"] == "4 of 4"
    said = read(page)
    assert "one call runs 4 operations in 1 graph" in said
    assert "The whole graph, with all passes: Right, not timed" in said
    assert "not timed. Times need a GPU" in said
    (passes, gallery) = [each.value for each in page.dataframe]
    assert list(passes["from"]) == ["rules, for this model"]
    assert passes["task"][0].startswith("/workbench?task=cut-add-relu-tanh-mul-")
    assert gallery.empty or "fused-add-relu" in set(gallery["bundle"])
    # it is found again, from the list and by its link
    assert any("make_model of model.py: finished" in each.label.replace("\\", "") for each in visit("model").button)
    assert visit("model", search=search_id).metric[0].value == "1"
    folder = allowed.models.progress(search_id).folder
    assert {each.name for each in folder.iterdir()} == {"report.md", "bundle"}


def test_what_is_wrong_with_a_file_is_said(allowed: Service, visit: Visit) -> None:
    page = visit("model")
    page.text_area[0].set_value("def make(x):\n    return x\n")
    button(page, "Find passes").click().run()
    assert "model.py has no function without arguments" in read(page)
    page.text_area[0].set_value("def make(:\n")
    button(page, "Find passes").click().run()
    assert "model.py, line 1: this is not Python" in read(page)
    assert page.text_area[0].value == "def make(:\n", "what was typed is still there"
    assert allowed.models.of(VISITOR) == ()


def test_one_search_runs_at_a_time_and_each_can_be_stopped(allowed: Service, visit: Visit) -> None:
    endless = ModelFile("while True:\n    pass\n", "model.py", "make")
    running, waiting = (allowed.models.start(endless, owner=VISITOR) for _ in range(2))
    page = until(visit("model", search=waiting), "Waiting for another search to end")
    button(page, "Stop").click().run()
    until(page, "It was stopped")
    assert not allowed.models.progress(running).finished
    page = until(visit("model", search=running), "Capturing the model")
    button(page, "Stop").click().run()
    until(page, "It was stopped")


def test_a_search_that_is_not_here_is_not_found(allowed: Service, visit: Visit) -> None:
    assert "There is no search '260101-none'" in read(visit("model", search="260101-none"))


def test_the_last_function_without_arguments_is_taken() -> None:
    assert own_models._last_function("def a(): pass\ndef b(x=1): pass\ndef c(x): pass\n", "m.py") == "b"
    with pytest.raises(BadInput, match="no function without arguments"):
        own_models._last_function("x = 1\n", "m.py")


@pytest.mark.parametrize(
    ("address", "there"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False), (None, False)]
)
def test_the_page_is_there_only_where_visitors_are_on_this_machine(
    service: Service, visit: Visit, monkeypatch: pytest.MonkeyPatch, address: str | None, there: bool
) -> None:
    monkeypatch.setattr("streamlit.get_option", lambda name: address if name == "server.address" else None)
    assert ("model" in frame.pages()) is there
