"""The commands that serve programs until they are stopped: serve-judge, serve-api and mcp."""

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Any

from passnet_core.access.hosting import require_sandbox
from passnet_core.cli.console import INFRASTRUCTURE, Console
from passnet_core.cli.extras import require
from passnet_core.cli.listening import add_listening_flags, hosts, is_local, require_listening
from passnet_core.cli.logs import clean_logs
from passnet_core.cli.parser import add_number, add_tasks_flag, command, require_positive
from passnet_core.errors import BadInput
from passnet_core.people.quotas import Quotas
from passnet_core.people.register import Register
from passnet_core.service import corpus_of
from passnet_core.settings import SHORTEST_TOKEN

PORT = 8600
API_PORT = 8610
PAGE = "http://127.0.0.1:8501"
MOST = 256


def serve_judge(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.server.judge_service import ServiceLimits, judge_service
    from passnet_core.server.ledger import Ledger
    from passnet_core.server.running import serve

    require_listening(args)
    require_positive(args, "judges", "waiting")
    tokens = console.settings.judge_tokens
    if not is_local(args.address) and not tokens:
        raise BadInput(
            f"On {args.address}, other machines can have code judged here. Set PASSNET_JUDGE_TOKENS to NAME=TOKEN"
            f" entries with tokens of at least {SHORTEST_TOKEN} characters first, or leave out --address."
        )
    with console.scheduler(args.judges) as scheduler:
        ledger = Ledger(console.settings.home)
        try:
            here = scheduler.here
            if here.problem:
                console.tell(f"Nothing can be judged here yet: {here.problem}")
            service = judge_service(
                corpus_of(console.settings, list(map(Path, args.tasks))),
                scheduler,
                ledger,
                tokens=tokens,
                limits=ServiceLimits(args.waiting, hosts(args)),
            )

            def started(port: int) -> None:
                place = f"http://{args.address}:{port}"
                # a cluster has as many judges as it has room for, whatever --judges says
                at_once = scheduler.capacity().judges
                console.say(f"Judging on {here.label} at {place}, {at_once} at once. Stop with Ctrl-C.")

            clean_logs(console.settings)
            return 0 if serve(service, args.address, args.port, started) else INFRASTRUCTURE
        finally:
            ledger.close()


def serve_api(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.server.program_service import Door, program_service
    from passnet_core.server.running import serve

    require_listening(args)
    with contextlib.closing(Register(console.settings.home)) as register:
        holders = register if register.has_tokens() else None
        if holders is None and not is_local(args.address):
            raise BadInput(
                f"On {args.address}, other machines can have code judged here. Make a token for each person first:"
                " passnet people add NAME, then passnet people token with the id it prints. Or leave out --address."
            )
        meter = None if holders is None else Quotas(holders)
        with console.service(meter=meter) as service:
            if not is_local(args.address):
                require_sandbox(service.device(), ", or leave out --address")
            door = Door(holders, hosts(args), args.page)

            def started(port: int) -> None:
                place = f"http://{args.address}:{port}"
                who = "for who has a token" if holders else "for everybody on this machine"
                console.say(f"Programs at {place}/api, agents at {place}/mcp, {who}. Stop with Ctrl-C.")

            clean_logs(console.settings)
            return 0 if serve(program_service(service, door), args.address, args.port, started) else INFRASTRUCTURE


def mcp(args: argparse.Namespace, console: Console) -> int:
    if args.http:
        return serve_api(args, console)
    # else what these two bring is missed first, by names of which no extra is known
    require("duckdb", "mcp")
    from passnet_core.access.personal import PersonalService
    from passnet_core.server.agents import AgentDesk
    from passnet_core.server.mcp_service import serve_stdio
    from passnet_core.server.program_service import Door

    with console.service() as service, contextlib.closing(AgentDesk(Door(None, page=args.page).page_of)) as agents:
        if sys.stdin.isatty():
            console.tell("A coding agent starts this command, and talks to it through its input and output.")
        clean_logs(console.settings)
        serve_stdio(agents, PersonalService(service))
    return 0


def add_commands(commands: Any) -> None:
    """Declare serve-judge, serve-api and mcp."""
    serving = command(
        commands, "serve-judge", serve_judge, "serve the judge over HTTP, for programs that train models", as_json=False
    )
    add_number(serving, "--judges", 1, "N", "jobs to judge at once")
    add_tasks_flag(serving)
    _listening_flags(serving, PORT, "PASSNET_JUDGE_TOKENS")
    add_number(serving, "--waiting", MOST, "N", "evaluations that may be in progress; more are refused with status 429")

    for_programs = command(
        commands, "serve-api", serve_api, "serve tasks, bundles, runs and scores over HTTP, for programs and agents",
        as_json=False,
    )  # fmt: skip
    _listening_flags(for_programs, API_PORT, "persons with tokens")
    _page_flag(for_programs)

    for_agents = command(
        commands, "mcp", mcp, "serve a coding agent over the Model Context Protocol, through its input and output",
        as_json=False,
    )  # fmt: skip
    for_agents.add_argument("--http", action="store_true", help="serve over HTTP instead, as serve-api does")
    _listening_flags(for_agents, API_PORT, "persons with tokens")
    _page_flag(for_agents)


def _listening_flags(serving: argparse.ArgumentParser, port: int, needed: str) -> None:
    help = f"address to listen on; any but this machine's own needs {needed} (default: %(default)s)"
    add_listening_flags(serving, port, help)


def _page_flag(serving: argparse.ArgumentParser) -> None:
    serving.add_argument(
        "--page", default=PAGE, metavar="URL", help="address of the app, where runs are watched (default: %(default)s)"
    )
