"""The group people: persons, roles, tokens, bans and the audit log of a server that serves many."""

import argparse
import contextlib
from dataclasses import asdict
from typing import Any

from passnet_core.cli.console import ACCEPTED, MOST_LISTED, Console
from passnet_core.cli.parser import add_number, command, group, require_positive, values
from passnet_core.errors import BadInput
from passnet_core.people.person import Person, PersonRole
from passnet_core.people.register import Register

PERSON = "the person's name or id, as people list prints them"
PERSON_ID = "the person's id, as people list prints it: anybody can choose a name"
ROLES = tuple(each for each in values(PersonRole) if each != PersonRole.VISITOR.value)


def people_add(args: argparse.Namespace, console: Console) -> int:
    with _register(console) as register:
        return _told(args, console, register, register.add(args.name, PersonRole(args.role)), "entered a person")


def people_list(args: argparse.Namespace, console: Console) -> int:
    with _register(console) as register:
        found = [(each, register.used(each.id)) for each in register.people()]
    data = [_to_json(each) | {"used_s": used} for each, used in found]
    rows = [(each.name, each.role.value, each.id, f"{used:.0f}", each.banned) for each, used in found]
    console.listing(args.json, data, ("name", "role", "id", "seconds used in an hour", "banned"), rows)
    return ACCEPTED


def people_role(args: argparse.Namespace, console: Console) -> int:
    with _register(console) as register:
        changed = register.set_role(register.with_id(args.person), PersonRole(args.role))
        return _told(args, console, register, changed, f"gave the role {args.role}")


def people_ban(args: argparse.Namespace, console: Console) -> int:
    if not args.reason.strip():
        raise BadInput("A ban needs a reason, which the person is told. Give one with --reason.")
    with _register(console) as register:
        return _told(args, console, register, register.ban(register.person(args.person), args.reason), "banned")


def people_unban(args: argparse.Namespace, console: Console) -> int:
    with _register(console) as register:
        return _told(args, console, register, register.ban(register.person(args.person), ""), "lifted a ban")


def people_token(args: argparse.Namespace, console: Console) -> int:
    with _register(console) as register:
        person = register.with_id(args.person)
        token = register.issue(person, args.label, args.days)
        register.note("", "made a token", person.id)
    if args.json:
        console.show({"person": person.id, "token": token})
    else:
        console.say(token)
        console.tell("This token is shown once, and lets in whoever has it. Send it as Authorization: Bearer TOKEN.")
    return ACCEPTED


def people_tokens(args: argparse.Namespace, console: Console) -> int:
    with _register(console) as register:
        found = register.tokens(register.person(args.person))
    rows = [(each.id, each.label, each.created_at, each.expires_at, each.used_at or "never") for each in found]
    names = ("token", "label", "made", "expires", "last used")
    console.listing(args.json, list(map(asdict, found)), names, rows)
    return ACCEPTED


def people_revoke(args: argparse.Namespace, console: Console) -> int:
    with _register(console) as register:
        revoked = register.revoke(args.token)
        register.note("", "revoked a token", revoked.person_id)
    console.answer(args.json, asdict(revoked), f"Token {revoked.id} opens nothing any more.")
    return ACCEPTED


def people_log(args: argparse.Namespace, console: Console) -> int:
    require_positive(args, "limit")
    with _register(console) as register:
        names = {each.id: each.name for each in register.people()} | {"": "a command"}
        found = register.log(min(args.limit, MOST_LISTED))
    rows = [(each.at, names.get(each.person_id, each.person_id), each.deed, each.about) for each in found]
    console.listing(args.json, list(map(asdict, found)), ("at", "who", "what", "to what"), rows)
    return ACCEPTED


def _register(console: Console) -> contextlib.closing[Register]:
    return contextlib.closing(Register(console.settings.home))


def _told(args: argparse.Namespace, console: Console, register: Register, person: Person, deed: str) -> int:
    """Write the deed of an operator into the log, and show the person."""
    register.note("", deed, person.id)
    banned = f", banned: {person.banned}" if person.banned else ""
    console.answer(args.json, _to_json(person), f"{person.name} ({person.id}): {person.role.value}{banned}.")
    return ACCEPTED


def _to_json(person: Person) -> dict[str, Any]:
    return {**asdict(person), "role": person.role.value}


def add_commands(commands: Any) -> None:
    """Declare the group people."""
    people = group(commands, "people", "enter persons who may use this server, and give them roles and tokens")
    adding = command(people, "add", people_add, "enter a person")
    adding.add_argument("name", metavar="NAME", help="a name that nobody else has here")
    adding.add_argument("--role", choices=ROLES, default="member", help="what the person is (default: %(default)s)")
    command(people, "list", people_list, "list all persons, and how many seconds were judged for each in an hour")
    roles = command(people, "role", people_role, "give a person another role")
    roles.add_argument("person", metavar="PERSON_ID", help=PERSON_ID)
    roles.add_argument("role", choices=ROLES, help="what the person is from now on")
    banning = command(people, "ban", people_ban, "do nothing more for a person")
    banning.add_argument("person", metavar="PERSON", help=PERSON)
    banning.add_argument("--reason", required=True, metavar="TEXT", help="what the person is told")
    unbanning = command(people, "unban", people_unban, "lift the ban of a person")
    unbanning.add_argument("person", metavar="PERSON", help=PERSON)
    issuing = command(people, "token", people_token, "make a token with which a person's programs are let in")
    issuing.add_argument("person", metavar="PERSON_ID", help=PERSON_ID)
    issuing.add_argument("--label", default="", metavar="TEXT", help="what the token is for")
    add_number(issuing, "--days", 90, "N", "how long it lasts")
    listing = command(people, "tokens", people_tokens, "list what is known of a person's tokens")
    listing.add_argument("person", metavar="PERSON", help=PERSON)
    revoking = command(people, "revoke", people_revoke, "have a token open nothing any more")
    revoking.add_argument("token", metavar="TOKEN_ID", help="the token's id, as people tokens prints it")
    logging = command(people, "log", people_log, "show who did what, the newest first")
    add_number(logging, "--limit", 100, "N", "at most N deeds")
