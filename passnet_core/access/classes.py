"""What a teacher and a student may see and do in a class.

A teacher sees verdicts, stars, counts and dates of what is assigned, of students who are in the class. Code is the
student's: nothing here returns it, and a run's id comes only with a run that its student has shared."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from passnet_core.access.visit import Visit
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.lessons.grades import (
    Attainment,
    ErrorCount,
    HandedIn,
    attainment,
    counts,
    lesson_run,
    task_run,
    typical_causes,
    typical_verdicts,
)
from passnet_core.outside import quoted
from passnet_core.people.groups import Assignment, AssignmentKind, Group, GroupMember, Groups
from passnet_core.people.person import TEACHERS, PersonRole
from passnet_core.people.quotas import NotAllowed
from passnet_core.service import MOST_ATTEMPTS, Service


@dataclass(frozen=True)
class JoinedClass:
    """A class as its students see it, or as an invitation shows it. teacher: the name of the person who made it."""

    id: str
    name: str
    teacher: str


Class = TypeVar("Class", Group, JoinedClass)


@dataclass(frozen=True)
class OwnAssignment:
    """An assignment with what a student has reached in it. is_open: whether it has opened."""

    assignment: Assignment
    attained: Attainment
    is_open: bool


@dataclass(frozen=True)
class StudentRow:
    """What a student has reached, in each assignment by its id. shared: the runs of these that everybody who has their
    link sees."""

    member: GroupMember
    attained: Mapping[str, Attainment]
    shared: frozenset[str]


@dataclass(frozen=True)
class TypicalErrors:
    """What went wrong in the runs of a class on one assignment: how often each verdict was given, and each reason."""

    verdicts: tuple[ErrorCount, ...]
    causes: tuple[ErrorCount, ...]


class PersonalClasses:
    """For those who have signed in, where others are served: raises NotAllowed for others.

    Of a class that is not one's own nothing is told: methods raise UnknownItem in the same words as for none."""

    def __init__(self, service: Service, visit: Visit, groups: Groups | None) -> None:
        register, person = visit.register, visit.person
        if register is None or groups is None or person is None or person.role is PersonRole.VISITOR:
            raise NotAllowed("Classes are for those who have signed in. Sign in first.")
        self._service, self._register, self._groups, self._person = service, register, groups, person
        self._note = visit.note

    # --- for teachers ---

    @property
    def may_teach(self) -> bool:
        return self._person.role in TEACHERS

    def taught(self) -> tuple[Group, ...]:
        """One's own classes; all of them for an operator."""
        if self._person.role is PersonRole.OPERATOR:
            return self._groups.all()
        return self._groups.taught_by(self._person.id) if self.may_teach else ()

    def teaches(self, group_id: str) -> bool:
        """Whether this person does in a class what its teacher may do."""
        return any(each.id == group_id for each in self.taught())

    def make(self, name: str) -> Group:
        """Make a class. Raises NotAllowed for who is no teacher, and BadInput like Groups.add."""
        if not self.may_teach:
            raise NotAllowed("Teachers make classes here. Ask who runs this server to make you one.")
        group = self._groups.add(name, self._person)
        self._note("made a class", group.id)
        return group

    def group(self, group_id: str) -> Group:
        """A class that one teaches, with its invitation."""
        return self._one_of(self.taught(), group_id)

    def renew(self, group_id: str) -> Group:
        """Make another invitation: with the former, nobody joins any more."""
        group = self._groups.renew(self.group(group_id).id)
        self._note("renewed an invitation", group_id)
        return group

    def end(self, group_id: str) -> None:
        """Delete a class. What its students wrote and ran stays theirs."""
        self._groups.end(self.group(group_id).id)
        self._note("closed a class", group_id)

    def assign(self, group_id: str, kind: AssignmentKind, item: str, opens_at: str, due_at: str) -> Assignment:
        """Assign a lesson or a task; what is assigned already gets these dates. Raises BadInput like Groups.assign, and
        UnknownItem if there is no such lesson or task."""
        self.group(group_id)
        if kind is AssignmentKind.TASK and (lesson := self._service.course.of_task(item)) is not None:
            raise BadInput(f"This is the task of the lesson {quoted(lesson.id)}. Assign the lesson.")
        self._total(kind, item)
        assigned = self._groups.assign(group_id, kind, item, opens_at, due_at)
        self._note(f"assigned a {kind.value}", f"{group_id} {item}")
        return assigned

    def withdraw(self, group_id: str, assignment_id: str) -> None:
        """Assign something no longer."""
        self._groups.withdraw(self.group(group_id).id, assignment_id)
        self._note("withdrew an assignment", f"{group_id} {assignment_id}")

    def members(self, group_id: str) -> tuple[GroupMember, ...]:
        """The students of a class that one teaches, by name."""
        return self._groups.members(self.group(group_id).id)

    def remove(self, group_id: str, person_id: str) -> None:
        """Take a student out of a class that one teaches."""
        self._groups.leave(self.group(group_id).id, person_id)
        self._note("removed a student", f"{group_id} {person_id}")

    def progress(self, group_id: str) -> tuple[StudentRow, ...]:
        """What each student of a class that one teaches has reached, by name."""
        assigned = self._known(self.group(group_id).id)
        return tuple(self._row(each, assigned) for each in self.members(group_id))

    def typical_errors(self, group_id: str, assignment_id: str) -> TypicalErrors:
        """What went wrong in the runs of a class that one teaches, late ones too."""
        assigned = self._known(self.group(group_id).id)
        chosen = next((each for each in assigned if each.id == assignment_id), None)
        if chosen is None:
            return TypicalErrors((), ())
        runs = {each.person_id: self._runs(each.person_id, [chosen])[chosen.id] for each in self.members(group_id)}
        return TypicalErrors(typical_verdicts(runs), typical_causes(runs))

    def grades(self, group_id: str) -> tuple[Mapping[str, object], ...]:
        """A row for each student: the name, and for each assignment the grade in percent and that of what came late
        and is better, None if nothing did."""
        assigned = self.assignments(group_id)
        rows = self.progress(group_id)
        self._note("downloaded grades", group_id)
        return tuple({"student": each.member.name, **dict(_grades(each, assigned))} for each in rows)

    # --- for students ---

    def joined(self) -> tuple[JoinedClass, ...]:
        """The classes in which one is a student, by name."""
        return tuple(map(self._seen, self._groups.joined_by(self._person.id)))

    def joined_class(self, group_id: str) -> JoinedClass:
        """A class in which one is a student."""
        return self._one_of(self.joined(), group_id)

    def invited(self, invitation: str) -> JoinedClass:
        """The class that an invitation opens. Raises UnknownItem for one that is wrong or was renewed."""
        return self._seen(self._groups.invited(invitation))

    def join(self, invitation: str) -> JoinedClass:
        """Enter a class. To do it again changes nothing. Raises like Groups.join."""
        is_new = self.invited(invitation) not in self.joined()
        group = self._groups.join(invitation, self._person)
        if is_new:
            self._note("joined a class", group.id)
        return self._seen(group)

    def leave(self, group_id: str) -> None:
        """Leave a class in which one is a student."""
        self._groups.leave(self.joined_class(group_id).id, self._person.id)
        self._note("left a class", group_id)

    def assignments(self, group_id: str) -> tuple[Assignment, ...]:
        """What is assigned in a class that one teaches or is in, the first due first."""
        if not self.teaches(group_id):
            self.joined_class(group_id)
        return self._groups.assignments(group_id)

    def own_work(self, group_id: str) -> tuple[OwnAssignment, ...]:
        """What is assigned in a class in which one is a student, with what one has reached."""
        assigned = self._known(self.joined_class(group_id).id)
        runs, now = self._runs(self._person.id, assigned), datetime.now(UTC)
        return tuple(
            OwnAssignment(each, self._attained(each, runs[each.id]), _moment(each.opens_at) <= now) for each in assigned
        )

    # --- inside ---

    def _one_of(self, classes: Iterable[Class], group_id: str) -> Class:
        found = next((each for each in classes if each.id == group_id), None)
        if found is None:
            raise self._groups.nothing(group_id)
        return found

    def _seen(self, group: Group) -> JoinedClass:
        return JoinedClass(group.id, group.name, self._register.visitor(group.teacher_id).name)

    def _known(self, group_id: str) -> list[Assignment]:
        """What is assigned, without what was taken from this server since."""
        return [each for each in self._groups.assignments(group_id) if self._is_here(each)]

    def _is_here(self, assignment: Assignment) -> bool:
        try:
            self._total(assignment.kind, assignment.item)
        except UnknownItem:
            return False
        return True

    def _total(self, kind: AssignmentKind, item: str) -> int:
        """How much there is to earn. Raises UnknownItem."""
        if kind is AssignmentKind.LESSON:
            return len(self._service.course.lesson(item).stars)
        return len(self._service.corpus.task(item).subgraphs)

    def _row(self, member: GroupMember, assigned: list[Assignment]) -> StudentRow:
        runs = self._runs(member.person_id, assigned)
        attained = {each.id: self._attained(each, runs[each.id]) for each in assigned}
        chosen = {run.run_id for each in attained.values() for run in (each.best, each.late) if run is not None}
        shared = frozenset(filter(self._register.is_shared, chosen))
        return StudentRow(member, {name: _without_ids(each, shared) for name, each in attained.items()}, shared)

    def _attained(self, assignment: Assignment, runs: list[HandedIn]) -> Attainment:
        return attainment(runs, _moment(assignment.due_at), self._total(assignment.kind, assignment.item))

    def _runs(self, person_id: str, assigned: list[Assignment]) -> dict[str, list[HandedIn]]:
        """The finished runs of a person on each assignment, by its id."""
        tasks = {self._task_id(each): each for each in assigned}
        found: dict[str, list[HandedIn]] = {each.id: [] for each in assigned}
        for summary in self._service.runs(MOST_ATTEMPTS, visitor=person_id) if assigned else ():
            if summary.done < summary.total or not counts(summary.run):
                continue
            for each in (tasks[task_id] for task_id in summary.run.task_ids if task_id in tasks):
                total = self._total(each.kind, each.item)
                if run := _handed_in(self._service, summary.run.id, each.kind, each.item, total):
                    found[each.id].append(run)
        return found

    def _task_id(self, assignment: Assignment) -> str:
        if assignment.kind is AssignmentKind.LESSON:
            return self._service.course.lesson(assignment.item).task.id
        return assignment.item


@functools.lru_cache(maxsize=20_000)
def _handed_in(service: Service, run_id: str, kind: AssignmentKind, item: str, total: int) -> HandedIn | None:
    """A finished run, which never changes: a page asks for hundreds at every click."""
    run, outcomes = service.run(run_id), service.outcomes(run_id)
    if kind is AssignmentKind.LESSON:
        return lesson_run(service.course.lesson(item), run, outcomes)
    return task_run(item, total, run, outcomes)


def _without_ids(attained: Attainment, shared: frozenset[str]) -> Attainment:
    """The same, without the ids of runs that are not shared."""
    best, late = (
        None if run is None else run if run.run_id in shared else replace(run, run_id="")
        for run in (attained.best, attained.late)
    )
    return replace(attained, best=best, late=late)


def _grades(row: StudentRow, assigned: tuple[Assignment, ...]) -> Iterator[tuple[str, object]]:
    for each in assigned:
        attained = row.attained.get(each.id)
        yield f"{titled(each)}, %", attained.percent if attained else None
        yield f"{titled(each)}, late, %", attained.late_percent if attained else None


def titled(assignment: Assignment) -> str:
    """What an assignment is called: "lesson fusing", "task bert-17". No other one of its class is called that."""
    return f"{assignment.kind.value} {assignment.item}"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
