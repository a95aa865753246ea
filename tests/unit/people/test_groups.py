"""The classes of a server: invitations, students, assignments and their limits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from passnet_core.errors import BadInput, InfrastructureError, UnknownItem
from passnet_core.people import groups as groups_module
from passnet_core.people.groups import GROUPS_FILE, WRONG_INVITATION, AssignmentKind, Groups
from passnet_core.people.person import Person, PersonRole
from passnet_core.people.quotas import NotAllowed

TEACHER = Person("t", "Tess", PersonRole.TEACHER, "")
MONDAY, FRIDAY, NEXT = "2026-03-02T08:00:00+00:00", "2026-03-06T17:00:00+00:00", "2026-03-13T17:00:00+00:00"


def student(name: str) -> Person:
    return Person(name.lower(), name, PersonRole.MEMBER, "")


@pytest.fixture
def groups(tmp_path: Path) -> Iterator[Groups]:
    made = Groups(tmp_path)
    yield made
    made.close()


def names(groups: Groups, group_id: str) -> list[str]:
    return [each.name for each in groups.members(group_id)]


def test_a_class_is_there_for_every_process(groups: Groups, tmp_path: Path) -> None:
    made = groups.add("  Compilers   Ω ", TEACHER)
    assert made.name == "Compilers Ω"
    other = Groups(tmp_path)
    assert other.group(made.id) == made
    other.join(made.invitation, student("Ada"))
    other.close()
    assert names(groups, made.id) == ["Ada"]
    assert groups.taught_by("t") == groups.all() == groups.joined_by("ada") == (made,)
    assert groups.taught_by("ada") == groups.joined_by("t") == ()


@pytest.mark.parametrize("name", ["", "  ", "a" * 81, "a\x00b", "\ud800"])
def test_a_name_that_is_none_is_refused(groups: Groups, name: str) -> None:
    with pytest.raises(BadInput, match="1 to 80 printable characters"):
        groups.add(name, TEACHER)
    assert groups.all() == ()


def test_invitations_are_long_and_differ_and_no_record_prints_them(groups: Groups) -> None:
    one, two = groups.add("one", TEACHER), groups.add("two", TEACHER)
    assert one.invitation != two.invitation
    assert len(one.invitation) >= 22, "16 random bytes in base 64"
    assert one.invitation not in repr(one)


def test_who_joins_twice_is_in_the_class_once(groups: Groups) -> None:
    made = groups.add("class", TEACHER)
    assert groups.join(made.invitation, student("Ada")) == made
    (first,) = groups.members(made.id)
    assert groups.join(made.invitation, student("Ada")) == made
    assert groups.members(made.id) == (first,)


def test_a_visitor_joins_nothing(groups: Groups) -> None:
    made = groups.add("class", TEACHER)
    with pytest.raises(NotAllowed, match="Sign in first"):
        groups.join(made.invitation, Person("v", "visitor", PersonRole.VISITOR, ""))
    assert groups.members(made.id) == ()


@pytest.mark.parametrize("wrong", ["", "x", "é" * 32, "\ud800", "a" * 10_000, "' OR 1=1 --", "%"])
def test_a_wrong_invitation_reveals_nothing(groups: Groups, wrong: str) -> None:
    made = groups.add("Secret class", TEACHER)
    for ask in (groups.invited, lambda said: groups.join(said, student("Eve"))):
        with pytest.raises(UnknownItem) as refusal:
            ask(wrong)
        assert str(refusal.value) == WRONG_INVITATION
    assert groups.members(made.id) == ()


def test_a_renewed_invitation_replaces_the_former_and_who_has_joined_stays(groups: Groups) -> None:
    made = groups.add("class", TEACHER)
    groups.join(made.invitation, student("Ada"))
    renewed = groups.renew(made.id)
    with pytest.raises(UnknownItem, match=WRONG_INVITATION):
        groups.join(made.invitation, student("Bob"))
    assert groups.invited(renewed.invitation) == renewed
    assert names(groups, made.id) == ["Ada"]
    groups.join(renewed.invitation, student("Bob"))
    assert names(groups, made.id) == ["Ada", "Bob"]


def test_who_leaves_is_gone_and_may_come_back(groups: Groups) -> None:
    made = groups.add("class", TEACHER)
    groups.join(made.invitation, student("Ada"))
    groups.leave(made.id, "ada")
    assert groups.members(made.id) == groups.joined_by("ada") == ()
    with pytest.raises(UnknownItem, match="no student 'ada'"):
        groups.leave(made.id, "ada")
    groups.join(made.invitation, student("Ada"))
    assert names(groups, made.id) == ["Ada"]


def test_a_class_that_has_ended_takes_everything_with_it(groups: Groups) -> None:
    made, other = groups.add("class", TEACHER), groups.add("other", TEACHER)
    for each in (made, other):
        groups.join(each.invitation, student("Ada"))
        groups.assign(each.id, AssignmentKind.LESSON, "adding", MONDAY, FRIDAY)
    groups.end(made.id)
    assert groups.members(made.id) == groups.assignments(made.id) == ()
    assert groups.joined_by("ada") == (other,)
    assert len(groups.assignments(other.id)) == 1
    for ask in (
        lambda: groups.group(made.id),
        lambda: groups.renew(made.id),
        lambda: groups.end(made.id),
        lambda: groups.assign(made.id, AssignmentKind.TASK, "t", MONDAY, FRIDAY),
    ):
        with pytest.raises(UnknownItem, match="no class"):
            ask()
    with pytest.raises(UnknownItem, match=WRONG_INVITATION):
        groups.join(made.invitation, student("Bob"))


def test_assignments_come_by_their_due_date_and_in_utc(groups: Groups) -> None:
    made = groups.add("class", TEACHER)
    later = groups.assign(made.id, AssignmentKind.LESSON, "adding", MONDAY, NEXT)
    sooner = groups.assign(made.id, AssignmentKind.TASK, "adding", "2026-03-02T10:00:00.5+02:00", FRIDAY)
    assert groups.assignments(made.id) == (sooner, later)
    assert sooner.opens_at == MONDAY
    groups.withdraw(made.id, sooner.id)
    assert groups.assignments(made.id) == (later,)
    with pytest.raises(UnknownItem, match="no assignment"):
        groups.withdraw(made.id, sooner.id)


def test_what_is_assigned_again_gets_other_dates(groups: Groups) -> None:
    made = groups.add("class", TEACHER)
    first = groups.assign(made.id, AssignmentKind.LESSON, "adding", MONDAY, FRIDAY)
    again = groups.assign(made.id, AssignmentKind.LESSON, "adding", MONDAY, NEXT)
    assert groups.assignments(made.id) == (again,)
    assert (again.id, again.due_at) == (first.id, NEXT)


@pytest.mark.parametrize(
    ("opens", "due", "said"),
    [
        (FRIDAY, MONDAY, "due at 2026-03-02 08:00 UTC, but open at 2026-03-06 17:00 UTC only"),
        (MONDAY, MONDAY, "Choose a later due date"),
        ("2026-03-02T08:00:00", FRIDAY, "no moment in UTC"),
        (MONDAY, "soon", "'soon' is no moment in UTC"),
        (MONDAY, "", "no moment in UTC"),
        ("0001-01-01T00:00:00+14:00", FRIDAY, "no moment in UTC"),
    ],
)
def test_dates_that_make_no_sense_are_refused(groups: Groups, opens: str, due: str, said: str) -> None:
    made = groups.add("class", TEACHER)
    with pytest.raises(BadInput, match=said):
        groups.assign(made.id, AssignmentKind.LESSON, "adding", opens, due)
    assert groups.assignments(made.id) == ()


@pytest.mark.parametrize("item", ["", "a" * 201, "a\nb", "\ud800"])
def test_an_id_that_is_none_is_refused(groups: Groups, item: str) -> None:
    made = groups.add("class", TEACHER)
    with pytest.raises(BadInput, match="1 to 200 printable characters"):
        groups.assign(made.id, AssignmentKind.TASK, item, MONDAY, FRIDAY)


def test_there_is_room_for_so_many_and_no_more(groups: Groups, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("MOST_TAUGHT", "MOST_JOINED", "MOST_MEMBERS", "MOST_ASSIGNMENTS"):
        monkeypatch.setattr(groups_module, limit, 2)
    first, second = groups.add("1", TEACHER), groups.add("2", TEACHER)
    with pytest.raises(BadInput, match="Close one first"):
        groups.add("3", TEACHER)
    third = groups.add("3", Person("u", "Uma", PersonRole.TEACHER, ""))
    for each in (first, second):
        groups.join(each.invitation, student("Ada"))
    with pytest.raises(BadInput, match="Leave one first"):
        groups.join(third.invitation, student("Ada"))
    groups.join(first.invitation, student("Bob"))
    with pytest.raises(BadInput, match="no room for more"):
        groups.join(first.invitation, student("Cem"))
    assert groups.join(first.invitation, student("Ada")) == first, "who is in a full class stays in it"
    for item in ("a", "b"):
        groups.assign(first.id, AssignmentKind.TASK, item, MONDAY, FRIDAY)
    with pytest.raises(BadInput, match="Withdraw one first"):
        groups.assign(first.id, AssignmentKind.TASK, "c", MONDAY, FRIDAY)
    assert groups.assign(first.id, AssignmentKind.TASK, "a", MONDAY, NEXT).due_at == NEXT


def test_a_file_that_is_none_is_reported(tmp_path: Path) -> None:
    (tmp_path / GROUPS_FILE).write_text("no database, but long enough to be read as one" * 40)
    with pytest.raises(InfrastructureError, match=GROUPS_FILE):
        Groups(tmp_path)
