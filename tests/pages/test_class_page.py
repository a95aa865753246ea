"""The page of a class: joining by an invitation, assignments, progress, and the grades."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import accounts, resources, visitors
from passnet_core.access.hosting import Host, Identity
from passnet_core.people.groups import AssignmentKind, Group, Groups
from passnet_core.people.person import Person, PersonRole
from passnet_core.people.register import Register
from passnet_core.records import Bundle, PassFile
from passnet_core.service import open_service
from passnet_core.settings import read_settings
from tests.example_playground import BEGINNING, LESSONS, PASS, TASK_ID, answer, write_data
from tests.fake_backend import FakeBackend
from tests.pages import visiting
from tests.pages.visiting import button, page_links, read

FIRST, SECOND = LESSONS
OPENS, DUE = "2026-01-01T08:00:00+00:00", "2999-01-01T17:00:00+00:00"
NAME = "*Compilers* <b>1</b>"


class School:
    """The app as it serves others, and who is at the browser: nobody until somebody signs in."""

    def __init__(self, host: Host) -> None:
        assert host.register is not None
        assert host.groups is not None
        self.host, self.register, self.groups = host, host.register, host.groups
        self.here: Identity | None = None

    def sign_in(self, name: str, role: PersonRole = PersonRole.MEMBER) -> Person:
        """Have this person sit at the browser."""
        self.here = Identity("https://issuer.example", name, name)
        return self.register.set_role(self.register.signed_in(self.here.id, name), role)

    def teacher(self) -> Person:
        return self.sign_in("tess", PersonRole.TEACHER)

    def group(self) -> Group:
        """A class of tess, who is at the browser afterwards."""
        return self.groups.add(NAME, self.teacher())

    def student(self, group: Group, name: str, *codes: str) -> Person:
        """Enter a student who has had these passes judged in the first lesson."""
        person = self.sign_in(name)
        self.groups.join(group.invitation, person)
        access = self.host.access("", self.here)
        for code in codes:
            lesson = self.host.service.course.lesson(FIRST)
            access.wait(access.judge_lesson(lesson, Bundle((PassFile("secret.py", code),))))
        return person


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[School]:
    told = {"PASSNET_DATA": str(write_data(tmp_path / "data")), "PASSNET_HOME": str(tmp_path / "home")}
    settings = read_settings({**told, "PASSNET_SERVE": "yes"})
    service = open_service(settings, backend=FakeBackend(answer))
    host = Host(service, Register(settings.home), Groups(settings.home))
    made = School(host)
    monkeypatch.setenv("PASSNET_SERVE", "yes")
    monkeypatch.setattr(resources, "open_host", lambda *args, **kwargs: host)
    monkeypatch.setattr(visitors, "identity", lambda: made.here)
    monkeypatch.setattr(accounts, "providers", lambda: ["example"])
    resources.host.clear()
    assert service.problems == (), "reading them waits until all recorded runs are loaded"
    assert service.device()
    yield made
    resources.host.clear()
    host.close()


def visit(**selected: str) -> AppTest:
    return visiting.visit("class", **selected)


def labels(app: AppTest) -> list[str]:
    """The labels of all buttons and links, without Markdown's escapes."""
    return [
        each.replace("\\", "") for each in (*(b.label for b in app.button), *(p.proto.label for p in page_links(app)))
    ]


def tables(app: AppTest) -> list[list[dict[str, Any]]]:
    return [each.value.to_dict("records") for each in app.dataframe]


def test_a_visitor_is_asked_to_sign_in_and_learns_nothing(school: School) -> None:
    group = school.group()
    school.here = None
    app = visit(join=group.invitation)
    assert "Sign in to join a class" in read(app)
    assert "open your invitation again" in read(app)
    assert "Compilers" not in read(app)
    assert "Sign in with Example" in labels(app)
    assert not [each for each in labels(app) if each.startswith("Join")]


def test_an_invitation_is_accepted_by_a_click_and_not_by_opening_it(school: School) -> None:
    group = school.group()
    ada = school.sign_in("ada")
    app = visit(join=group.invitation)
    assert f"Join {NAME} of tess" in labels(app)
    assert "Your code stays yours" in read(app)
    assert school.groups.members(group.id) == ()
    app.button("join-class").click().run()
    assert [each.person_id for each in school.groups.members(group.id)] == [ada.id]
    assert app.query_params == {"group": group.id}, "the invitation has left the address"
    assert [each.value.replace("\\", "") for each in app.title] == [NAME]
    assert "Nothing is assigned yet" in read(app)


def test_a_renewed_invitation_says_so_and_nothing_else(school: School) -> None:
    group = school.group()
    school.groups.renew(group.id)
    school.sign_in("ada")
    app = visit(join=group.invitation)
    assert "This invitation does not open a class" in read(app)
    assert "Compilers" not in read(app)
    assert "join-class" not in [each.key for each in app.button]


def test_a_teacher_makes_a_class_assigns_and_withdraws(school: School) -> None:
    school.teacher()
    app = visit()
    app.text_input("class-name").input("Kernels")
    button(app, "Make the class").click().run()
    (group,) = school.groups.all()
    assert f"class?join={group.invitation}" in read(app)
    assert "Nobody has joined yet" in read(app)
    app.selectbox("class-lesson").select(FIRST)
    button(app, "Assign").click().run()
    (assigned,) = school.groups.assignments(group.id)
    assert (assigned.kind, assigned.item) == (AssignmentKind.LESSON, FIRST)
    assert f"lesson {FIRST} · opens {assigned.opens_at[:10]}" in read(app)
    app.selectbox("class-lesson").select_index(None)
    app.text_input("class-task").input(TASK_ID)
    button(app, "Assign").click().run()
    assert {each.item for each in school.groups.assignments(group.id)} == {FIRST, TASK_ID}
    app.button(f"withdraw-{assigned.id}").click().run()
    assert [each.item for each in school.groups.assignments(group.id)] == [TASK_ID]
    assert f"lesson {FIRST}" not in read(app)


def test_what_cannot_be_assigned_is_said_above_the_page(school: School) -> None:
    group = school.group()
    app = visit(group=group.id)
    button(app, "Assign").click().run()
    assert "Choose either a lesson or a task" in read(app)
    app.text_input("class-task").input("nowhere")
    button(app, "Assign").click().run()
    assert "Task 'nowhere' is not in this corpus" in read(app)
    app.text_input("class-task").input(TASK_ID)
    app.datetime_input("class-due").set_value(app.datetime_input("class-opens").value)
    button(app, "Assign").click().run()
    assert "Choose a later due date" in read(app)
    assert school.groups.assignments(group.id) == ()


def test_a_teacher_sees_progress_and_errors_but_no_code(school: School) -> None:
    group = school.group()
    school.groups.assign(group.id, AssignmentKind.LESSON, FIRST, OPENS, DUE)
    school.groups.assign(group.id, AssignmentKind.TASK, TASK_ID, OPENS, DUE)
    school.student(group, "ada", BEGINNING, PASS)
    school.student(group, "=bob", BEGINNING)
    school.teacher()
    app = visit(group=group.id, assignment=f"lesson {FIRST}")
    progress, detail, verdicts, causes = tables(app)
    assert progress == [
        {"student": "=bob", f"lesson {FIRST}": "attempted, 1 of 4 stars", f"task {TASK_ID}": "not begun"},
        {"student": "ada", f"lesson {FIRST}": "passed, 4 of 4 stars", f"task {TASK_ID}": "not begun"},
    ]
    assert [(each["student"], each["grade, %"], each["verdicts"], each["runs"]) for each in detail] == [
        ("=bob", 25, "no match", 1),
        ("ada", 100, "right, not timed", 2),
    ]
    assert verdicts == [{"verdict": "no match", "runs": 2, "students": 2}]
    assert causes == [{"why": "no match: other operator", "runs": 2, "students": 2}]
    shown = read(app) + str(tables(app)) + str(labels(app))
    assert "secret" not in shown
    assert "shares" not in shown
    assert "Download the grades as CSV" in [each.proto.label for each in app.get("download_button")]


def test_a_run_that_is_shared_is_linked(school: School) -> None:
    group = school.group()
    school.groups.assign(group.id, AssignmentKind.LESSON, FIRST, OPENS, DUE)
    school.student(group, "ada", PASS)
    access = school.host.access("", school.here)
    access.share(access.attempts()[FIRST].run.id)
    school.teacher()
    assert "A run that ada shares" in labels(visit(group=group.id))


def test_a_student_sees_what_is_assigned_and_may_leave(school: School) -> None:
    group = school.group()
    school.groups.assign(group.id, AssignmentKind.LESSON, FIRST, OPENS, DUE)
    school.groups.assign(group.id, AssignmentKind.TASK, TASK_ID, OPENS, "2026-01-02T17:00:00+00:00")
    later = "2998-01-01T08:00:00+00:00"
    school.groups.assign(group.id, AssignmentKind.LESSON, SECOND, later, DUE)
    school.student(group, "ada", PASS)
    app = visit(group=group.id)
    assert "passed, 4 of 4 stars · due 2999-01-01 17:00 UTC" in read(app)
    assert "not begun · due 2026-01-02 17:00 UTC" in read(app)
    assert "not begun · opens 2998-01-01 08:00 UTC, due 2999-01-01 17:00 UTC" in read(app)
    found = {each.proto.label.replace("\\", ""): each.proto for each in page_links(app)}
    assert "1. A title" in found
    assert TASK_ID in found
    assert "2. A title" not in found, "it has not opened"
    assert group.invitation not in read(app)
    assert "Download the grades as CSV" not in [each.proto.label for each in app.get("download_button")]
    app.button("leave-class").click().run()
    assert school.groups.members(group.id) == ()
    assert "You are in no class" in read(app)


def test_work_that_is_late_is_called_late(school: School) -> None:
    group = school.group()
    school.groups.assign(group.id, AssignmentKind.LESSON, FIRST, OPENS, "2026-01-02T17:00:00+00:00")
    school.student(group, "ada", PASS)
    assert "not begun; late: passed, 4 of 4 stars" in read(visit(group=group.id))


def test_a_class_of_others_looks_like_none(school: School) -> None:
    group = school.group()
    school.sign_in("mallory")
    app, none = visit(group=group.id), visit(group="nowhere")
    assert read(app).replace(group.id, "ID") == read(none).replace("nowhere", "ID")
    assert "There is no class" in read(app)


def test_a_teacher_renews_the_link_removes_a_student_and_closes(school: School) -> None:
    group = school.group()
    ada = school.student(group, "ada")
    school.teacher()
    app = visit(group=group.id)
    app.button("renew-class").click().run()
    renewed = school.groups.group(group.id).invitation
    assert renewed != group.invitation
    assert renewed in read(app)
    assert group.invitation not in read(app)
    app.button(f"remove-{ada.id}").click().run()
    assert school.groups.members(group.id) == ()
    app.button("close-class").click().run()
    assert school.groups.all() == ()
    assert "You are in no class" in read(app)


def test_the_page_is_there_only_where_others_are_served(school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    school.sign_in("ada")
    assert "You are in no class" in read(visit())
    monkeypatch.setenv("PASSNET_SERVE", "no")
    resources.settings.cache_clear()
    app = visit()
    assert "You are in no class" not in read(app)
    assert [each.value for each in app.title] == ["add\\-relu"], "the first page is shown in its place"
