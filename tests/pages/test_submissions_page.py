"""The submissions below the leaderboard, on a machine of one's own and where many are served."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import tests.pages.visiting as visiting
from pages.ui import resources, visitors
from passnet_core.access.hosting import Host, Identity
from passnet_core.bundles.packing import packed
from passnet_core.people.person import PersonRole
from passnet_core.people.register import Register
from passnet_core.records import Bundle, Device, Job, Outcome, PassFile, Verdict
from passnet_core.service import Service
from tests.example_playground import PASS, TASK_ID, outcome, write_data
from tests.fake_backend import FakeBackend
from tests.pages.visiting import button, page_links, read, visit

LINK = "https://playground.example/workbench?task={}&code={}"
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) $y$ :red[z] `"


def judged(job: Job) -> Outcome:
    """The fake judge: passes with SLY in them are cheats, all others are faster."""
    code = "".join(each.code for each in job.bundle.files) if job.bundle else ""
    return outcome(job, Verdict.CHEAT if "SLY" in code else Verdict.FASTER, speedup=1.9, device="NVIDIA H200")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    judge = FakeBackend(judged, Device.CUDA)
    with visiting.playground(write_data(tmp_path / "data"), tmp_path / "home", judge) as opened:
        yield opened


@pytest.fixture
def register(tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Serve many: who is there is whom signed_in names."""
    made = Register(tmp_path / "home")
    monkeypatch.setattr(resources, "open_host", lambda *args, **kwargs: Host(service, made))
    resources.host.clear()
    yield made
    made.close()


def signed_in(monkeypatch: pytest.MonkeyPatch, name: str) -> Identity:
    """From here on, somebody of this name sits at the browser."""
    found = Identity("test", name, name)
    monkeypatch.setattr(visitors, "identity", lambda: found)
    return found


def bundle(comment: str) -> Bundle:
    return Bundle((PassFile("add_relu.py", f"# {comment}\n{PASS}"),))


def handed_in(service: Service, comment: str, title: str) -> AppTest:
    """Submit passes by a link, and open the page again when they have been judged."""
    app = visit("scores", view="Leaderboard")
    app.text_input(key="submission-title").set_value(title)
    app.text_input(key="submission-link").set_value(LINK.format(TASK_ID, packed(bundle(comment))))
    button(app, "Submit").click().run()
    assert not app.exception
    assert not app.error, read(app)
    for each in service.submitted.entries():
        for run_id in each.run_ids:
            service.wait(run_id)
    return app.run()


def rows(app: AppTest) -> list[tuple[str, str, str]]:
    """Title, who it is by, and state of each submission in the table."""
    found = [each.value for each in app.dataframe if {"title", "state"} <= set(each.value)]
    return [(str(row["title"]), str(row["by"]), str(row["state"])) for each in found for _, row in each.iterrows()]


def ranked(app: AppTest) -> list[str]:
    return [name for each in app.dataframe if "faster than Inductor" in each.value for name in each.value["solver"]]


def test_passes_behind_a_link_are_judged_listed_named_and_withdrawn(service: Service) -> None:
    app = handed_in(service, "mine", "Faster still")
    ((title, by, state),) = rows(app)
    assert (title, by[:10], state) == ("Faster still", "anonymous ", "on the board")
    assert f"{by}: Faster still, version 1" in ranked(app)
    (entry,) = service.submitted.entries()
    labels = [each.label.replace("\\", "") for each in page_links(app)]
    assert f"{TASK_ID}: run {entry.run_ids[0]}" in labels
    assert f"Passes for {TASK_ID}" in labels
    named = next(each for each in app.text_input if each.label == "Shown as (empty: anonymous)" and not each.form_id)
    named.set_value("Ann").run()
    assert rows(app) == [("Faster still", "Ann", "on the board")]
    assert "Ann: Faster still, version 1" in ranked(app)
    next(each for each in app.text_input if each.label.startswith("Reason")).set_value("A typo.").run()
    button(app, "Withdraw it").click().run()
    assert rows(app) == [("Faster still", "Ann", "taken back")]
    assert not {"Ann: Faster still, version 1"} & set(ranked(app))
    assert "Taken back by its owner" in read(app)
    assert "A typo." in read(app)


def test_what_is_missing_is_said_above_the_page(service: Service) -> None:
    app = visit("scores", view="Leaderboard")
    app.text_input(key="submission-title").set_value("Nothing")
    button(app, "Submit").click().run()
    assert "Paste a link, or choose a run file: one of them." in read(app)
    app.text_input(key="submission-link").set_value("https://playground.example/workbench?task=add-relu&code=rubbish")
    button(app, "Submit").click().run()
    assert "The passes in this link" in read(app)
    assert service.submitted.entries() == ()
    assert "There is no submission 'gone' here." in read(visit("scores", view="Leaderboard", submission="gone"))


def test_others_see_what_is_on_the_board_and_an_operator_takes_it_back(
    service: Service, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(monkeypatch, "Ann")
    handed_in(service, "fine", "Faster still")
    assert {row[2] for row in rows(handed_in(service, "SLY", "Too good"))} == {"on the board", "not accepted"}
    signed_in(monkeypatch, "Bob")
    shown = {each.submission.title: each.submission.id for each in service.submitted.entries()}
    app = visit("scores", view="Leaderboard", submission=shown["Faster still"])
    assert [(row[0], row[2]) for row in rows(app)] == [("Faster still", "on the board")]
    assert "Ann" not in read(app)
    assert any("run" in each.label for each in page_links(app))
    assert not {"Withdraw", "Take back it", "Judge again"} & {each.label for each in app.button}
    assert "There is no submission" in read(visit("scores", view="Leaderboard", submission=shown["Too good"]))
    root = signed_in(monkeypatch, "Root")
    register.set_role(register.signed_in(root.id, "Root"), PersonRole.OPERATOR)
    app = visit("scores", view="Leaderboard", submission=shown["Faster still"])
    next(each for each in app.text_input if each.label.startswith("Reason")).set_value("A copy.").run()
    button(app, "Take back it").click().run()
    assert ("Faster still", "taken back") in [(row[0], row[2]) for row in rows(app)]
    monkeypatch.setattr(visitors, "identity", lambda: None)
    app = visit("scores", view="Leaderboard", submission=shown["Faster still"])
    assert "Taken back by an operator" in read(app)
    assert "Sign in to submit passes of your own." in read(app)


def test_what_strangers_write_stays_text(service: Service) -> None:
    access = resources.host().access("", None)
    entry = access.submissions.submit({TASK_ID: bundle("SLY")}, HOSTILE[:80], name=HOSTILE, note=HOSTILE)
    service.wait(entry.run_ids[0])
    access.submissions.take_back(entry.submission.id, HOSTILE)
    app = visit("scores", view="Leaderboard", submission=entry.submission.id)
    assert "taken back" in read(app)
    for written in (*app.markdown, *app.caption, *app.warning, *app.info):
        assert not re.search(r"(?<!\\)(<img|\[x|:red|\$y)", str(written.value))
