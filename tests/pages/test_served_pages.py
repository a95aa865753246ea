"""The pages where they serve strangers: what is another's is not there, and roles bound what can be done."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pages.ui import resources, visitors
from passnet_core.access.hosting import Host, Identity
from passnet_core.access.personal import PersonalService
from passnet_core.errors import UnknownItem
from passnet_core.people.person import ALLOWANCES, PersonRole
from passnet_core.people.quotas import NotAllowed, Quotas
from passnet_core.people.register import Register
from passnet_core.records import Bundle, EvalSpec, PassFile, Stage
from passnet_core.records.trajectories import FREE, Budget
from passnet_core.service import Service, open_service
from passnet_core.settings import read_settings
from passnet_core.solvers.conversations import ConversationOrder
from passnet_core.solvers.llm.chat import ChatServer
from passnet_core.solvers.llm.client import ChatModel
from passnet_core.whole_models.captured import ModelFile
from tests.contract.model_server import Said, saying, serving
from tests.example_playground import PASS, REFERENCE, TASK_ID, answer, write_data
from tests.fake_backend import FakeBackend
from tests.pages import visiting
from tests.pages.editing import Editor
from tests.pages.visiting import button, read, texts
from tests.waiting import seconds

LISTED = "https://models.example/v1"
ALICE, BOB = "a" * 32, "b" * 32
OWN = Bundle((PassFile("own.py", PASS.replace("add_relu", "own_add_relu")),))


@dataclass(frozen=True)
class Public:
    """An app that serves strangers."""

    service: Service
    register: Register
    host: Host

    def visitor(self, browser: str) -> PersonalService:
        return self.host.access(visiting.digest_of(f"browser {browser}")[:32], None)

    def person(self, name: str, role: PersonRole = PersonRole.MEMBER) -> Identity:
        """Somebody who has signed in, and has this role."""
        identity = Identity("https://provider.example", name.lower(), name)
        member = self.host.person("", identity)
        assert member is not None
        self.register.set_role(member, role)
        return identity


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Public]:
    given = {
        "PASSNET_DATA": str(write_data(tmp_path / "data")), "PASSNET_HOME": str(tmp_path / "home"),
        "PASSNET_SERVE": "yes", "PASSNET_MODEL_SERVERS": LISTED,
        "OPENAI_BASE_URL": "https://own.example/v1", "OPENAI_API_KEY": "sk-of-the-playground", "PASSNET_MODEL": "m",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    register = Register(tmp_path / "home")
    service = open_service(read_settings(given), backend=FakeBackend(answer), meter=Quotas(register))
    host = Host(service, register)
    monkeypatch.setattr(resources, "open_host", lambda *args, **kwargs: host)
    resources.host.clear()
    assert service.problems == ()
    assert service.device()
    yield Public(service, register, host)
    resources.host.clear()
    service.close()
    register.close()


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Identity | None], None]:
    """Have the next pages be those of somebody who has signed in."""
    return lambda identity: monkeypatch.setattr(visitors, "identity", lambda: identity)


def judged(of: PersonalService, bundle: Bundle = OWN) -> str:
    task = of.shared.corpus.task(TASK_ID)
    run_id = of.submit(task, bundle, EvalSpec(stage=Stage.VERIFY, device=of.device), label="mine")
    of.wait(run_id)
    return run_id


def test_a_visitors_pass_has_no_more_time_than_visitors_have(public: Public) -> None:
    page = visiting.opened("workbench", {"task": TASK_ID}, ALICE)
    (deadline,) = [each for each in page.number_input if "Deadline" in each.label]
    assert (deadline.value, deadline.max) == (60, 60)
    alice = public.visitor(ALICE)
    run_id = alice.submit(alice.shared.corpus.task(TASK_ID), OWN, EvalSpec(stage=Stage.VERIFY, deadline_s=600.0))
    assert {each.spec.deadline_s for each in alice.wait(run_id)} == {60.0}


def test_nobody_sees_what_is_anothers(public: Public) -> None:
    alice, bob = public.visitor(ALICE), public.visitor(BOB)
    alice.save_draft(TASK_ID, "mine", OWN, None)
    run_id = judged(alice)
    with serving({"scripted": saying(Said("Done.", [("finish", "{}")]))}) as server:
        model = ChatModel(ChatServer(server.base_url, "key"), "scripted", patience_s=5)
        order = ConversationOrder(EvalSpec(), Budget(1), FREE)
        talk = alice.talks.start(model, alice.shared.corpus.task(TASK_ID), order)
        public.service.conversations.wait(talk)

    theirs = visiting.opened("runs", {"run": run_id}, ALICE)
    assert f"run {run_id}" in read(theirs)
    nothing = read(visiting.opened("runs", {"run": run_id}, BOB))
    assert f"There is no run '{run_id}' that you may see." in nothing
    assert nothing == read(visiting.opened("runs", {"run": "none-such"}, BOB)).replace("none-such", run_id)
    assert f"There is no conversation '{talk}' here." in read(
        visiting.opened("workbench", {"task": TASK_ID, "talk": talk}, BOB)
    )
    for person, sees in ((alice, True), (bob, False)):
        assert (run_id in [each.run.id for each in person.runs(100)]) == sees
        assert bool(person.drafts()) == sees
        assert (talk in [each.opening.id for each in person.talks.latest(100)]) == sees
    for look in (bob.run, bob.progress, bob.outcomes, bob.export_run, bob.cancel):
        with pytest.raises(UnknownItem):
            look(run_id)
    with pytest.raises(UnknownItem):
        bob.bundle(OWN.digest)
    with pytest.raises(UnknownItem):
        bob.talks.stop(talk)
    with pytest.raises(UnknownItem):
        bob.share(run_id)

    alice.share(run_id)
    alice.talks.share(talk)
    assert bob.run(run_id).id == run_id
    assert bob.talks.standing(talk).finished
    assert f"run {run_id}" in read(visiting.opened("runs", {"run": run_id}, BOB))
    with pytest.raises(NotAllowed, match="not yours"):
        bob.cancel(run_id)


def test_runs_of_a_conversation_are_those_of_who_asked_for_it(public: Public) -> None:
    alice = public.visitor(ALICE)
    with serving({"scripted": saying(Said("", [("check", "{}")]), Said("Done.", [("finish", "{}")]))}) as server:
        model = ChatModel(ChatServer(server.base_url, "key"), "scripted", patience_s=5)
        order = ConversationOrder(EvalSpec(stage=Stage.VERIFY), Budget(4), FREE, start=REFERENCE)
        talk = alice.talks.start(model, alice.shared.corpus.task(TASK_ID), order)
        public.service.conversations.wait(talk)
    mine = alice.runs(10, checks=True, mine=True)
    assert mine
    assert all(each.visitor == alice.owner for each in mine)
    assert public.visitor(BOB).runs(100, checks=True, mine=True) == ()


def test_what_is_copied_as_a_link_opens_for_others(public: Public) -> None:
    alice, bob = public.visitor(ALICE), public.visitor(BOB)
    alice.add_bundle(OWN)
    assert bob.bundle(OWN.digest) == OWN
    assert "Not found" not in read(visiting.opened("workbench", {"task": TASK_ID, "bundle": OWN.digest}, BOB))


def test_only_listed_model_servers_are_asked(public: Public, signed_in: Callable[[Identity | None], None]) -> None:
    """Somebody must not choose to which machines the server sends requests."""
    visitor = public.visitor(ALICE)
    for url in ("http://169.254.169.254/latest", "http://127.0.0.1:8501", f"{LISTED}/../admin", "https://own.example"):
        with pytest.raises(NotAllowed, match="may not be asked"):
            visitor.talks.server(url, "key")
    assert visitor.talks.server(LISTED, "mine").key == "mine"
    assert visitor.talks.server("", "").key == "", "visitors do not spend the playground's key"

    app = visiting.opened("workbench", {"task": TASK_ID, "talk": "new"}, ALICE)
    assert "model-url" not in [each.key for each in app.text_input]
    chosen = next(each for each in app.selectbox if each.key == "model-url")
    assert chosen.options == ["https://own.example/v1", LISTED]

    member = public.host.access("", public.person("Alice"))
    assert member.talks.server("", "").key == "sk-of-the-playground"
    assert member.talks.server(LISTED, "").key == "", "the playground's key goes to its own server only"


def test_visitors_import_nothing_and_run_no_models_of_their_own(public: Public) -> None:
    visitor = public.visitor(ALICE)
    text = public.service.export_run(judged(visitor))
    with pytest.raises(NotAllowed, match="Everybody would see"):
        visitor.import_run(text)
    with pytest.raises(NotAllowed, match="Models of your own"):
        visitor.searches.start(ModelFile("def model(): ...", "model.py", "model", ""))
    app = visiting.opened("runs", {}, ALICE)
    assert not app.get("file_uploader")
    with pytest.raises(NotAllowed, match="for those who have signed in"):
        visitor.account.issue("agent", 30)
    teacher = public.host.access("", public.person("Terry", PersonRole.TEACHER))
    assert teacher.may_import


def test_the_operators_page_is_for_operators(public: Public, signed_in: Callable[[Identity | None], None]) -> None:
    judged(public.visitor(ALICE))
    for identity in (None, public.person("Mia"), public.person("Terry", PersonRole.TEACHER)):
        signed_in(identity)
        with pytest.raises(NotAllowed, match="who run this server"):
            _ = resources.host().access("v" * 32, identity).operations
    signed_in(public.person("Olga", PersonRole.OPERATOR))
    app = visiting.visit("operator")
    assert "Audit log" in texts(app)
    banned = visiting.digest_of(f"browser {ALICE}")[:32]
    app.text_input(key="operator-banned").set_value(banned)
    app.text_input(key="operator-reason").set_value("Too much")
    button(app, "Ban").click().run()
    assert "Too much" in texts(app)
    signed_in(None)
    assert "Nothing is done for you here: Too much" in read(visiting.opened("runs", {}, ALICE))
    assert "Nothing is done" not in read(visiting.opened("runs", {}, BOB))
    with pytest.raises(NotAllowed, match="Too much"):
        public.visitor(ALICE)


def test_an_operator_gives_a_role_to_whom_the_id_belongs(
    public: Public, signed_in: Callable[[Identity | None], None]
) -> None:
    public.host.access("", public.person("Mia"))
    signed_in(public.person("Olga", PersonRole.OPERATOR))
    app = visiting.visit("operator")
    mia = next(each for each in public.register.people() if each.name == "Mia")
    assert f"Mia ({mia.id[:8]})" in app.selectbox(key="operator-who").options
    app.selectbox(key="operator-who").set_value(mia.id)
    app.selectbox(key="operator-role").set_value("teacher")
    button(app, "Give").click().run()
    assert public.register.with_id(mia.id).role is PersonRole.TEACHER


def test_an_operator_cannot_lock_everybody_out(public: Public) -> None:
    operations = public.host.access("", public.person("Olga", PersonRole.OPERATOR)).operations
    olga = next(each for each in operations.people() if each.name == "Olga")
    for lock_out in (lambda: operations.set_role(olga, PersonRole.MEMBER), lambda: operations.ban("Olga", "because")):
        with pytest.raises(Exception, match="to yourself"):
            lock_out()


def test_an_account_says_what_is_allowed_and_makes_tokens(
    public: Public, signed_in: Callable[[Identity | None], None]
) -> None:
    app = visiting.visit("account")
    assert "You are a **visitor**" in texts(app)
    assert not app.get("form")
    signed_in(public.person("Mia"))
    app = visiting.visit("account")
    assert "You are a **member**" in texts(app)
    app.text_input(key="token-label").set_value("my agent")
    button(app, "Make a token").click().run()
    token = next(each.value for each in app.code if each.value.startswith("passnet_"))
    holder = public.register.holder(token)
    assert holder is not None
    assert holder.name == "Mia"
    app.run()
    assert token not in texts(app), "it is shown once"
    button(app, "Revoke").click().run()
    assert public.register.holder(token) is None


def test_who_has_stored_too_much_is_told_and_stores_no_more(public: Public, monkeypatch: pytest.MonkeyPatch) -> None:
    least = replace(ALLOWANCES[PersonRole.VISITOR], kept_bytes=4_000)
    monkeypatch.setitem(ALLOWANCES, PersonRole.VISITOR, least)
    alice, bob = public.visitor(ALICE), public.visitor(BOB)
    large, larger = (Bundle((PassFile("own.py", f"{PASS}\n# {'x' * length}\n"),)) for length in (4_000, 4_001))
    place = alice.save_draft(TASK_ID, "mine", large, None)
    task, spec = alice.corpus.task(TASK_ID), EvalSpec(stage=Stage.VERIFY, device=alice.device)
    for store in (
        lambda: alice.save_draft(TASK_ID, "mine", larger, place),
        lambda: alice.add_bundle(larger),
        lambda: alice.submit(task, larger, spec),
        lambda: alice.judge_lesson(alice.shared.course.lessons[0], larger),
    ):
        with pytest.raises(NotAllowed, match="that a visitor may store"):
            store()
    assert alice.draft(TASK_ID, "mine") == alice.draft(TASK_ID, "mine", place)
    assert alice.check_within(task, large, spec, task.subgraphs[0].id, seconds(60)), "a check stores nothing"
    app = visiting.opened("workbench", {"task": TASK_ID, "bundle": "mine"}, ALICE)
    button(app, "Run").click().run()
    assert "that a visitor may store" in read(app)
    Editor(app).hold(PASS).run()
    assert [each.value for each in app.error if "may store" in each.value] == [app.error[0].value], "said once"
    assert button(app, "Run"), "the page is drawn all the same"
    assert Editor(app).given["revision"] == 0, "the text stays in the editor"

    bob.add_bundle(large)
    with pytest.raises(NotAllowed, match="that a visitor may store"):
        bob.add_bundle(larger)
    member = public.host.access("", public.person("Mia"))
    judged(member, large)
    assert public.service.kept_bytes(member.owner) > 4_000, "the passes of a run are stored"
    member.add_bundle(larger)


def test_who_has_used_an_hour_is_told_and_can_go_on_writing(public: Public) -> None:
    visitor = public.visitor(ALICE)
    public.register.spent(visitor.owner, 301.0)
    app = visiting.opened("workbench", {"task": TASK_ID}, ALICE)
    assert "You have used the 5 minutes of judging" in read(app)
    assert button(app, "Run")
    button(app, "Run").click().run()
    assert "There is room again in about" in read(app)
