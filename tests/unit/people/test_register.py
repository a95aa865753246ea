"""The register of persons: names, roles, tokens, and what was used in an hour."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from passnet_core.errors import BadInput, InfrastructureError, UnknownItem
from passnet_core.people import register as register_module
from passnet_core.people.person import ALLOWANCES, PersonRole
from passnet_core.people.quotas import TOGETHER_S, NotAllowed, QuotaExceeded, Quotas
from passnet_core.people.register import FILE, HOUR_S, MOST_TOKENS, PREFIX, Register


@pytest.fixture
def register(tmp_path: Path) -> Iterator[Register]:
    made = Register(tmp_path)
    yield made
    made.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, as the one element of a list that a test may change."""
    now = [1.8e9]
    monkeypatch.setattr(register_module.time, "time", lambda: now[0])
    return now


def test_a_person_is_found_by_name_and_by_id_in_every_process(register: Register, tmp_path: Path) -> None:
    alice = register.add("  Alice   Ω ", PersonRole.TEACHER)
    assert (alice.name, alice.role, alice.banned) == ("Alice Ω", PersonRole.TEACHER, "")
    other = Register(tmp_path)
    assert other.person("Alice Ω") == other.person(alice.id) == alice
    other.set_role(alice, PersonRole.OPERATOR)
    other.close()
    assert register.person(alice.id).role is PersonRole.OPERATOR
    assert [each.name for each in register.people()] == ["Alice Ω"]


@pytest.mark.parametrize("name", ["", "  ", "a" * 81, "a\x00b", "\x1b[31mred"])
def test_a_name_that_is_none_is_refused(register: Register, name: str) -> None:
    with pytest.raises(BadInput, match="1 to 80 printable characters"):
        register.add(name, PersonRole.MEMBER)
    assert register.people() == ()


def test_two_persons_never_have_one_name(register: Register) -> None:
    register.add("bob", PersonRole.MEMBER)
    with pytest.raises(BadInput, match="named 'bob' already"):
        register.add(" bob", PersonRole.OPERATOR)
    assert [each.role for each in register.people()] == [PersonRole.MEMBER]
    with pytest.raises(UnknownItem, match="no person 'carol'"):
        register.person("carol")


def test_a_token_opens_for_its_holder_until_it_expires_or_is_revoked(register: Register, clock: list[float]) -> None:
    alice, bob = register.add("alice", PersonRole.MEMBER), register.add("bob", PersonRole.MEMBER)
    assert not register.has_tokens()
    short, long = register.issue(alice, "laptop", 1), register.issue(alice, "", 30)
    assert short.startswith(PREFIX)
    assert short != long
    assert register.holder(short) == register.holder(long) == alice
    assert register.holder(short + "x") is None
    assert register.holder("") is None
    (first, second), (noted,) = register.tokens(alice), [each for each in register.tokens(alice) if each.label]
    assert noted.used_at == "2027-01-15T08:00:00+00:00"
    clock[0] += 24 * HOUR_S + 1
    assert register.holder(short) is None
    assert register.holder(long) == alice
    last = second if first == noted else first
    assert register.revoke(last.id).person_id == alice.id
    assert register.holder(long) is None
    with pytest.raises(UnknownItem, match="no token"):
        register.revoke(last.id)
    assert register.tokens(bob) == ()


def test_a_person_has_so_many_tokens_and_no_more(register: Register) -> None:
    alice = register.add("alice", PersonRole.MEMBER)
    for _ in range(MOST_TOKENS):
        register.issue(alice, "", 1)
    with pytest.raises(BadInput, match="Revoke one first"):
        register.issue(alice, "", 1)
    for days in (0, 367):
        with pytest.raises(BadInput, match="from 1 to 366 days"):
            register.issue(register.person("alice"), "", days)
    with pytest.raises(BadInput, match="label"):
        register.issue(alice, "x" * 81, 1)


def test_tokens_are_not_in_the_file(register: Register, tmp_path: Path) -> None:
    token = register.issue(register.add("alice", PersonRole.MEMBER), "", 1)
    register.holder(token)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob(f"{FILE}*"))
    assert token.encode() not in kept
    assert token.removeprefix(PREFIX).encode() not in kept


def test_seconds_count_for_an_hour(register: Register, clock: list[float]) -> None:
    register.spent("alice", 100.0)
    clock[0] += 1_800
    register.spent("alice", 50.0)
    register.spent("bob", 7.0)
    register.spent("", 1_000.0)
    assert (register.used("alice"), register.used("bob"), register.used("")) == (150.0, 7.0, 0.0)
    assert register.free_in("alice", 151.0) == 0.0
    assert register.free_in("alice", 60.0) == pytest.approx(1_800.0)
    assert register.free_in("alice", 40.0) == pytest.approx(3_600.0)
    clock[0] += 1_801
    assert register.used("alice") == 50.0


def test_each_role_may_use_so_much(register: Register) -> None:
    quotas = Quotas(register)
    visitor, boss = register.add("visitor", PersonRole.VISITOR), register.add("boss", PersonRole.OPERATOR)
    quotas.admit(visitor, 3, 0, on_gpu=False)
    with pytest.raises(NotAllowed, match="Sign in, or judge on the CPU"):
        quotas.admit(visitor, 3, 0, on_gpu=True)
    with pytest.raises(QuotaExceeded, match="60 wait, so there is no room for 5 more"):
        quotas.admit(visitor, 5, 60, on_gpu=False)
    for each in (visitor, boss):
        register.spent(each.id, ALLOWANCES[PersonRole.VISITOR].device_s)
    with pytest.raises(QuotaExceeded, match="5 minutes of judging") as refusal:
        quotas.admit(visitor, 1, 0, on_gpu=False)
    assert 3_590 < refusal.value.retry_after_s <= 3_600
    assert "5 minutes of judging" in quotas.refusal(visitor.id)
    quotas.admit(boss, 1, 0, on_gpu=True)
    assert quotas.refusal(boss.id) == quotas.refusal("") == quotas.refusal("somebody else") == ""


def test_each_role_may_store_so_many_bytes(register: Register) -> None:
    quotas, visitor = Quotas(register), register.visitor("v" * 32)
    quotas.keep(visitor, 32 * 2**20 - 1)
    with pytest.raises(NotAllowed, match=r"the 32 MB of drafts, passes and results that a visitor may store.*Sign in"):
        quotas.keep(visitor, 32 * 2**20)
    member = register.signed_in("m" * 32, "Mia")
    quotas.keep(member, 32 * 2**20)
    with pytest.raises(NotAllowed, match=r"512 MB.*that a member may store.*Ask who runs this server"):
        quotas.keep(member, 512 * 2**20)
    quotas.keep(register.set_role(member, PersonRole.OPERATOR), 2**60)


def test_what_a_person_shares_is_listed(register: Register) -> None:
    register.share("one", "alice", True)
    register.share("two", "alice", True)
    register.share("three", "bob", True)
    register.share("two", "alice", False)
    assert register.shared_by("alice") == ("one",)


def test_a_ban_has_a_reason_and_is_lifted(register: Register) -> None:
    quotas, alice = Quotas(register), register.add("alice", PersonRole.OPERATOR)
    banned = register.ban(alice, "It  mined coins.")
    assert quotas.refusal(alice.id) == "Nothing is done for you here: It mined coins. Ask who runs this server."
    with pytest.raises(NotAllowed, match="It mined coins"):
        quotas.admit(banned, 1, 0, on_gpu=False)
    with pytest.raises(BadInput, match="Shorten it"):
        register.ban(alice, "x" * 301)
    quotas.admit(register.ban(alice, ""), 1, 0, on_gpu=False)


def test_the_newest_deeds_come_first_and_those_of_last_year_go(tmp_path: Path, clock: list[float]) -> None:
    register = Register(tmp_path)
    register.note("", "made a token", "alice")
    clock[0] += 10
    register.note("alice", "started a run", "run-1")
    assert [(each.at[11:19], each.deed) for each in register.log(9)] == [
        ("08:00:10", "started a run"), ("08:00:00", "made a token"),
    ]  # fmt: skip
    assert len(register.log(1)) == 1
    register.close()
    clock[0] += 365 * 24 * HOUR_S - 5
    register = Register(tmp_path)
    assert [each.deed for each in register.log(9)] == ["started a run"]
    register.close()


def test_a_file_that_is_no_register_is_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("not a database" * 100)
    with pytest.raises(InfrastructureError, match=FILE):
        Register(tmp_path)
    assert (tmp_path / FILE).read_text().startswith("not a database")


def test_visitors_share_a_limit(register: Register) -> None:
    """Whoever deletes the cookie is another visitor, so a limit for each would be none."""
    quotas = Quotas(register)
    for number in range(10):
        quotas.spent(f"visitor {number}", TOGETHER_S / 10)
    assert "Visitors have used the 30 minutes" in quotas.refusal("another visitor")
    with pytest.raises(QuotaExceeded, match="Sign in, or wait"):
        quotas.check(register.visitor("another visitor"))
    member = register.signed_in("m" * 32, "Mia")
    quotas.check(member)
    assert quotas.refusal(member.id) == ""


def test_who_signs_in_is_the_same_person_each_time_whatever_their_name(register: Register) -> None:
    first = register.signed_in("a" * 32, "Alex")
    assert register.signed_in("a" * 32, "Alexandra") == first
    other = register.signed_in("b" * 32, "Alex")
    assert (other.id, other.name) == ("b" * 32, "Alex 2")
    assert register.signed_in("c" * 32, " \x00\n ").name == "Somebody"
