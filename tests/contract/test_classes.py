"""A class: what its teacher and its students see, and that nobody else sees anything of it."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from passnet_core.access.classes import PersonalClasses
from passnet_core.access.hosting import Host, open_host
from passnet_core.access.personal import PersonalService
from passnet_core.charts.downloads import csv_text
from passnet_core.errors import BadInput, PlaygroundError, UnknownItem
from passnet_core.execution import jobs
from passnet_core.lessons.grades import ErrorCount, WorkState
from passnet_core.people.groups import AssignmentKind, Group, Groups
from passnet_core.people.person import PersonRole
from passnet_core.people.quotas import NotAllowed
from passnet_core.people.register import Register
from passnet_core.records import Bundle, EvalSpec, Isolation, Job, Outcome, PassFile, Verdict
from passnet_core.service import open_service
from passnet_core.settings import read_settings
from tests.example_playground import BEGINNING, LESSONS, OTHER_ID, PASS, TASK_ID, answer, outcome, write_data
from tests.fake_backend import FakeBackend

FIRST, SECOND = LESSONS
MONDAY, FRIDAY, SUNDAY = "2026-03-02T08:00:00+00:00", "2026-03-06T17:00:00+00:00", "2026-03-08T12:00:00+00:00"
WEDNESDAY, NOON = "2026-03-04T12:00:00.000+00:00", "2026-03-07T12:00:00.000+00:00"
CODE = "SECRET_OF_A_STUDENT"


def passes(code: str = PASS) -> Bundle:
    """Somebody's passes: their code and names are nobody else's business."""
    return Bundle((PassFile(f"{CODE}.py", f"{code}# {CODE}\n"),), author=CODE)


def judged(job: Job) -> Outcome:
    """Like the judge of the example, and code that contains RAISES does not load: the reason quotes it."""
    if job.bundle and "RAISES" in "".join(file.code for file in job.bundle.files):
        said = f"The bundle does not load: {CODE}.py line 3: NameError: name {CODE!r} is not defined"
        return replace(outcome(job, Verdict.DOES_NOT_LOAD), reason=said)
    return answer(job)


@dataclass
class School:
    """A server with persons, whose clock stands at `now`, as ISO 8601."""

    host: Host
    now: str = WEDNESDAY

    def __post_init__(self) -> None:
        assert self.host.register is not None
        self.register: Register = self.host.register

    def enter(self, name: str, role: PersonRole = PersonRole.MEMBER) -> None:
        self.register.add(name, role)

    def person(self, name: str) -> PersonalService:
        return PersonalService(self.host.service, self.register, self.register.person(name), groups=self.host.groups)

    def classes(self, name: str) -> PersonalClasses:
        return self.person(name).classes

    def try_lesson(self, name: str, code: str, at: str = WEDNESDAY, lesson: str = FIRST) -> str:
        self.now = at
        person = self.person(name)
        run_id = person.judge_lesson(self.host.service.course.lesson(lesson), passes(code))
        person.wait(run_id)
        return run_id

    def try_task(self, name: str, code: str, at: str = WEDNESDAY, subgraphs: int | None = None) -> str:
        self.now = at
        person, task = self.person(name), self.host.service.corpus.task(TASK_ID)
        ids = [each.id for each in task.subgraphs][:subgraphs]
        run_id = person.submit(task, passes(code), EvalSpec(), subgraph_ids=ids)
        person.wait(run_id)
        return run_id

    def assign(self, group: Group, kind: AssignmentKind, item: str, due: str = FRIDAY) -> str:
        return self.classes("tess").assign(group.id, kind, item, MONDAY, due).id


@pytest.fixture
def school(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[School]:
    """A server with a teacher, two students, another teacher, somebody else and an operator."""
    data = write_data(tmp_path / "data", recorded=False)
    settings = read_settings({"PASSNET_DATA": str(data), "PASSNET_HOME": str(tmp_path / "home")})
    host = Host(open_service(settings, backend=FakeBackend(judged)), Register(settings.home), Groups(settings.home))
    made = School(host)
    monkeypatch.setattr(jobs, "now", lambda: made.now)
    for name in ("ada", "bob", "mallory"):
        made.enter(name)
    for name in ("tess", "theo"):
        made.enter(name, PersonRole.TEACHER)
    made.enter("root", PersonRole.OPERATOR)
    yield made
    host.close()


@pytest.fixture
def group(school: School) -> Group:
    """The class of tess, in which ada and bob are."""
    made = school.classes("tess").make("Compilers")
    for name in ("bob", "ada"):
        school.classes(name).join(made.invitation)
    return made


def states(school: School, group: Group, assignment_id: str) -> dict[str, tuple[WorkState, int, int | None]]:
    """State, grade and late grade in percent, by student."""
    found = {each.member.name: each.attained[assignment_id] for each in school.classes("tess").progress(group.id)}
    return {name: (each.state, each.percent, each.late_percent) for name, each in found.items()}


# --- progress and grades ---------------------------------------------------------------------------------------------


def test_a_teacher_sees_how_far_everybody_is_in_a_lesson(school: School, group: Group) -> None:
    assigned = school.assign(group, AssignmentKind.LESSON, FIRST)
    assert states(school, group, assigned) == {
        "ada": (WorkState.NOT_BEGUN, 0, None),
        "bob": (WorkState.NOT_BEGUN, 0, None),
    }
    school.try_lesson("ada", BEGINNING)
    school.try_lesson("ada", PASS)
    school.try_lesson("bob", PASS + "# WRONG\n")
    school.try_lesson("mallory", PASS)
    assert states(school, group, assigned) == {
        "ada": (WorkState.PASSED, 100, None),
        "bob": (WorkState.ATTEMPTED, 50, None),
    }
    (ada, bob) = school.classes("tess").progress(group.id)
    best = ada.attained[assigned].best
    assert best is not None
    assert best.finished_at.isoformat() == "2026-03-04T12:00:00+00:00"
    assert set(best.verdicts) == {Verdict.VALUES_ONLY}
    assert (ada.attained[assigned].runs, bob.attained[assigned].runs) == (2, 1)


def test_what_comes_late_is_late_even_if_the_judge_knew_the_answer(school: School, group: Group) -> None:
    assigned = school.assign(group, AssignmentKind.LESSON, FIRST)
    school.try_lesson("ada", PASS, at=WEDNESDAY)
    school.try_lesson("bob", BEGINNING, at=WEDNESDAY)
    school.try_lesson("bob", PASS, at=NOON)
    backend = school.host.service._scheduler.backend
    assert isinstance(backend, FakeBackend)
    assert len(backend.jobs) == 4, "bob's second run asks what ada's has answered"
    assert states(school, group, assigned) == {
        "ada": (WorkState.PASSED, 100, None),
        "bob": (WorkState.ATTEMPTED, 25, 100),
    }
    school.assign(group, AssignmentKind.LESSON, FIRST, SUNDAY)
    assert states(school, group, assigned)["bob"] == (WorkState.PASSED, 100, None)


def test_a_task_is_graded_by_its_accepted_subgraphs(school: School, group: Group) -> None:
    assigned = school.assign(group, AssignmentKind.TASK, TASK_ID)
    school.try_task("ada", PASS, subgraphs=1)
    school.try_task("bob", PASS)
    school.try_task("bob", PASS + "# WRONG\n")
    assert states(school, group, assigned) == {
        "ada": (WorkState.ATTEMPTED, 50, None),
        "bob": (WorkState.PASSED, 100, None),
    }


def test_the_grades_are_a_row_for_each_student(school: School, group: Group) -> None:
    school.enter("=HYPERLINK(1)")
    school.classes("=HYPERLINK(1)").join(group.invitation)
    school.assign(group, AssignmentKind.LESSON, FIRST)
    school.assign(group, AssignmentKind.TASK, TASK_ID, SUNDAY)
    school.try_lesson("ada", PASS)
    school.try_lesson("bob", PASS, at=NOON)
    school.try_task("bob", PASS, at=NOON, subgraphs=1)
    header, *rows = csv.reader(io.StringIO(csv_text(school.classes("tess").grades(group.id))))
    assert header == [
        "student",
        f"lesson {FIRST}, %", f"lesson {FIRST}, late, %",
        f"task {TASK_ID}, %", f"task {TASK_ID}, late, %",
    ]  # fmt: skip
    assert rows == [
        ["'=HYPERLINK(1)", "0", "", "0", ""],
        ["ada", "100", "", "0", ""],
        ["bob", "0", "100", "50", ""],
    ]


def test_typical_errors_are_counted_by_runs_and_students(school: School, group: Group) -> None:
    assigned = school.assign(group, AssignmentKind.LESSON, FIRST)
    school.try_lesson("ada", BEGINNING)
    school.try_lesson("ada", BEGINNING + "# again\n")
    school.try_lesson("bob", BEGINNING)
    school.try_lesson("bob", "RAISES\n")
    school.try_lesson("mallory", PASS + "# WRONG\n")
    found = school.classes("tess").typical_errors(group.id, assigned)
    assert found.verdicts == (ErrorCount("no match", 3, 2), ErrorCount("does not load", 1, 1))
    assert found.causes == (
        ErrorCount("no match: other operator", 3, 2),
        ErrorCount("does not load: NameError", 1, 1),
    )
    assert school.classes("tess").typical_errors(group.id, "other").causes == ()


# --- whose code it is ------------------------------------------------------------------------------------------------


def test_a_teacher_gets_neither_code_nor_runs_unless_a_run_is_shared(school: School, group: Group) -> None:
    assigned = school.assign(group, AssignmentKind.LESSON, FIRST)
    school.try_lesson("ada", "RAISES\n")
    run_id = school.try_lesson("ada", PASS)
    tess = school.person("tess")

    def told() -> str:
        classes = tess.classes
        return repr([classes.progress(group.id), classes.typical_errors(group.id, assigned), classes.grades(group.id)])

    assert CODE not in told()
    assert run_id not in told()
    digest = school.host.service.run(run_id).bundle_digest
    assert digest is not None
    assert digest not in told()
    for ask in (lambda: tess.run(run_id), lambda: tess.bundle(digest)):
        with pytest.raises(UnknownItem):
            ask()
    school.person("ada").share(run_id)
    (ada, _) = tess.classes.progress(group.id)
    assert ada.shared == {run_id}
    best = ada.attained[assigned].best
    assert best is not None
    assert best.run_id == run_id
    assert tess.run(run_id).id == run_id


def test_who_leaves_or_is_removed_is_seen_no_more(school: School, group: Group) -> None:
    assigned = school.assign(group, AssignmentKind.LESSON, FIRST)
    for name in ("ada", "bob"):
        school.try_lesson(name, BEGINNING)
    school.classes("ada").leave(group.id)
    tess = school.classes("tess")
    assert list(states(school, group, assigned)) == ["bob"]
    assert tess.typical_errors(group.id, assigned).verdicts == (ErrorCount("no match", 1, 1),)
    tess.remove(group.id, school.register.person("bob").id)
    assert tess.progress(group.id) == ()
    assert school.classes("bob").joined() == ()
    assert school.host.service.attempts(school.register.person("bob").id), "the work stays the student's"


# --- what students see -----------------------------------------------------------------------------------------------


def test_a_student_sees_what_is_assigned_and_only_the_own_work(school: School, group: Group) -> None:
    school.assign(group, AssignmentKind.LESSON, FIRST)
    school.classes("tess").assign(
        group.id, AssignmentKind.LESSON, SECOND, "2999-01-01T00:00:00+00:00", "2999-01-02T00:00:00+00:00"
    )
    school.try_lesson("ada", PASS)
    school.try_lesson("bob", BEGINNING)
    first, second = school.classes("ada").own_work(group.id)
    assert (first.assignment.item, first.assignment.due_at, first.is_open) == (FIRST, FRIDAY, True)
    assert (second.assignment.item, second.is_open) == (SECOND, False)
    assert (first.attained.state, second.attained.state) == (WorkState.PASSED, WorkState.NOT_BEGUN)
    assert [each.attained.percent for each in school.classes("bob").own_work(group.id)] == [25, 0]
    (joined,) = school.classes("ada").joined()
    assert (joined.name, joined.teacher) == ("Compilers", "tess")
    assert group.invitation not in repr(joined)


def test_an_invitation_names_the_class_and_joins_only_when_asked(school: School) -> None:
    made = school.classes("tess").make("Compilers")
    mallory = school.classes("mallory")
    assert (mallory.invited(made.invitation).name, mallory.invited(made.invitation).teacher) == ("Compilers", "tess")
    assert mallory.joined() == ()
    assert mallory.join(made.invitation) == mallory.join(made.invitation)
    assert len(mallory.joined()) == 1
    renewed = school.classes("tess").renew(made.id)
    for ask in (school.classes("bob").invited, school.classes("bob").join):
        with pytest.raises(UnknownItem, match="ask your teacher") as refusal:
            ask(made.invitation)
        assert "Compilers" not in str(refusal.value)
    assert school.classes("bob").join(renewed.invitation).name == "Compilers"


# --- who may do what -------------------------------------------------------------------------------------------------


AS_TEACHER: dict[str, Callable[[PersonalClasses, str], object]] = {
    "group": lambda classes, name: classes.group(name),
    "renew": lambda classes, name: classes.renew(name),
    "end": lambda classes, name: classes.end(name),
    "assign": lambda classes, name: classes.assign(name, AssignmentKind.LESSON, FIRST, MONDAY, FRIDAY),
    "withdraw": lambda classes, name: classes.withdraw(name, "x"),
    "members": lambda classes, name: classes.members(name),
    "remove": lambda classes, name: classes.remove(name, "x"),
    "progress": lambda classes, name: classes.progress(name),
    "typical_errors": lambda classes, name: classes.typical_errors(name, "x"),
    "grades": lambda classes, name: classes.grades(name),
}
AS_STUDENT: dict[str, Callable[[PersonalClasses, str], object]] = {
    "joined_class": lambda classes, name: classes.joined_class(name),
    "leave": lambda classes, name: classes.leave(name),
    "assignments": lambda classes, name: classes.assignments(name),
    "own_work": lambda classes, name: classes.own_work(name),
}


def refusal(ask: Callable[[PersonalClasses, str], object], classes: PersonalClasses, group_id: str) -> str:
    with pytest.raises(UnknownItem) as found:
        ask(classes, group_id)
    return str(found.value).replace(group_id, "ID")


@pytest.mark.parametrize("name", ["ada", "mallory", "theo"])
def test_only_its_teacher_teaches_a_class(school: School, group: Group, name: str) -> None:
    school.assign(group, AssignmentKind.LESSON, FIRST)
    tess, classes = school.classes("tess"), school.classes(name)
    before = (tess.group(group.id), tess.assignments(group.id), tess.members(group.id))
    for deed, ask in AS_TEACHER.items():
        assert refusal(ask, classes, group.id) == refusal(ask, classes, "0" * 16), f"{deed}: like one that is not there"
        assert (tess.group(group.id), tess.assignments(group.id), tess.members(group.id)) == before, deed


@pytest.mark.parametrize("name", ["mallory", "theo"])
def test_who_is_not_in_a_class_sees_nothing_of_it(school: School, group: Group, name: str) -> None:
    classes = school.classes(name)
    for deed, ask in AS_STUDENT.items():
        assert refusal(ask, classes, group.id) == refusal(ask, classes, "0" * 16), f"{deed}: like one that is not there"
    assert classes.taught() == classes.joined() == ()
    assert not classes.teaches(group.id)


def test_an_operator_does_what_the_teacher_may(school: School, group: Group) -> None:
    root = school.classes("root")
    assert root.taught() == (group,)
    assert [each.member.name for each in root.progress(group.id)] == ["ada", "bob"]
    root.end(group.id)
    assert school.classes("tess").taught() == ()


def test_who_is_no_teacher_any_more_teaches_no_more(school: School, group: Group) -> None:
    school.register.set_role(school.register.person("tess"), PersonRole.MEMBER)
    assert school.classes("tess").taught() == ()
    assert refusal(AS_TEACHER["progress"], school.classes("tess"), group.id)
    with pytest.raises(NotAllowed, match="Teachers make classes"):
        school.classes("tess").make("another")


def test_a_student_makes_no_class(school: School) -> None:
    with pytest.raises(NotAllowed, match="Teachers make classes"):
        school.classes("ada").make("mine")
    assert school.classes("root").taught() == ()


def test_a_visitor_and_a_machine_of_ones_own_have_no_classes(school: School, group: Group) -> None:
    for person in (school.host.access("0" * 32, None), PersonalService(school.host.service)):
        with pytest.raises(NotAllowed, match="Sign in first"):
            _ = person.classes


@pytest.mark.parametrize(
    ("kind", "item", "said"),
    [
        (AssignmentKind.LESSON, "nowhere", "no lesson 'nowhere'"),
        (AssignmentKind.TASK, "nowhere", "not in this corpus"),
        (AssignmentKind.TASK, f"lesson-{FIRST}", "Assign the lesson"),
    ],
)
def test_only_what_is_here_is_assigned(
    school: School, group: Group, kind: AssignmentKind, item: str, said: str
) -> None:
    with pytest.raises(PlaygroundError, match=said):
        school.assign(group, kind, item)
    assert school.classes("tess").assignments(group.id) == ()


def test_a_task_that_has_gone_spoils_nothing(school: School, group: Group, tmp_path: Path) -> None:
    lesson = school.assign(group, AssignmentKind.LESSON, FIRST)
    assert school.host.groups is not None
    school.host.groups.assign(group.id, AssignmentKind.TASK, "gone", MONDAY, FRIDAY)
    school.try_lesson("ada", PASS)
    assert states(school, group, lesson)["ada"] == (WorkState.PASSED, 100, None)
    assert len(school.classes("ada").own_work(group.id)) == 1
    assert {row["task gone, %"] for row in school.classes("tess").grades(group.id)} == {None}


def test_deeds_are_in_the_audit_log(school: School, group: Group) -> None:
    tess, ada = school.classes("tess"), school.classes("ada")
    assigned = tess.assign(group.id, AssignmentKind.TASK, OTHER_ID, MONDAY, FRIDAY)
    with pytest.raises(BadInput):
        tess.assign(group.id, AssignmentKind.TASK, TASK_ID, FRIDAY, MONDAY)
    tess.withdraw(group.id, assigned.id)
    tess.grades(group.id)
    tess.remove(group.id, school.register.person("bob").id)
    ada.join(tess.renew(group.id).invitation)
    ada.leave(group.id)
    tess.end(group.id)
    names = {each.id: each.name for each in school.register.people()}
    assert [(names[each.person_id], each.deed) for each in reversed(school.register.log(50))] == [
        ("tess", "made a class"),
        ("bob", "joined a class"),
        ("ada", "joined a class"),
        ("tess", "assigned a task"),
        ("tess", "withdrew an assignment"),
        ("tess", "downloaded grades"),
        ("tess", "removed a student"),
        ("tess", "renewed an invitation"),
        ("ada", "left a class"),
        ("tess", "closed a class"),
    ]
    assert all(group.invitation not in each.about for each in school.register.log(50))


def test_a_playground_that_serves_others_keeps_its_classes(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data", recorded=False)
    told = {"PASSNET_DATA": str(data), "PASSNET_HOME": str(tmp_path / "home")}

    def opened(**more: str) -> Host:
        backend = FakeBackend(answer)
        backend.told = replace(
            backend.told, devices=tuple(replace(each, isolation=Isolation.SANDBOXED) for each in backend.told.devices)
        )
        return open_host(read_settings({**told, **more}), backend=backend)

    first = opened(PASSNET_SERVE="yes")
    assert first.register is not None
    assert first.groups is not None
    made = first.groups.add("Compilers", first.register.add("tess", PersonRole.TEACHER))
    first.close()
    again = opened(PASSNET_SERVE="yes")
    assert again.groups is not None
    assert again.groups.all() == (made,)
    again.close()
    alone = opened()
    assert alone.groups is None
    alone.close()
