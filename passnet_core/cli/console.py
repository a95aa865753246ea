"""What every command writes to (text and tables for people, JSON for programs), and the exit codes."""

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from passnet_core import outside
from passnet_core.execution.backends.base import Backend
from passnet_core.execution.backends.choosing import chosen_backend
from passnet_core.execution.scheduler import Meter, Scheduler
from passnet_core.service import Service, open_service
from passnet_core.settings import Settings

ACCEPTED, NOT_ACCEPTED, WRONG_USE, INFRASTRUCTURE, INTERRUPTED = 0, 1, 2, 3, 130
PROGRAM = "passnet" if Path(sys.argv[0]).stem == "passnet" else "python -m passnet_core"
"""How this program was started, for usage lines and for commands that messages suggest."""

BAR_WIDTH, BAR_EVERY = 40, 20
MOST_LISTED = 1_000_000
"""More runs or attempts than any store holds: the limit of a list of all."""
LINE_EVERY = 1000
"""Without a terminal, a progress line is printed once per so many items."""


@dataclass(frozen=True)
class Console:
    """What a command may use: settings, output streams, and in tests a backend that replaces the local one."""

    settings: Settings
    out: IO[str]
    err: IO[str]
    backend: Backend | None = None

    def say(self, text: str = "") -> None:
        print(outside.printable(text), file=self.out, flush=True)

    def tell(self, text: str) -> None:
        """Print to standard error, which only people read."""
        print(message(text), file=self.err, flush=True)

    def progress(self, done: int, total: int) -> None:
        """Show progress: as a bar on a terminal, elsewhere as a line per LINE_EVERY items."""
        if self.err.isatty():
            if done % BAR_EVERY and done != total:
                return
            filled = BAR_WIDTH * done // max(total, 1)
            bar = "█" * filled + "░" * (BAR_WIDTH - filled)
            print(f"\r{bar} {done:,} of {total:,}", end="\n" if done == total else "", file=self.err, flush=True)
        elif done and done % LINE_EVERY == 0:
            self.tell(f"{done:,} of {total:,}")

    def show(self, data: Any) -> None:
        print(json.dumps(data, indent=2, allow_nan=False), file=self.out, flush=True)

    def answer(self, as_json: bool, data: Any, *lines: str) -> None:
        """Show the data to a program that has asked for JSON; say these lines to a person."""
        if as_json:
            self.show(data)
            return
        for line in lines:
            self.say(line)

    def listing(self, as_json: bool, data: Any, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show the data to a program that has asked for JSON; print a table for a person."""
        if as_json:
            self.show(data)
        else:
            self.table(names, rows)

    def table(self, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows in aligned columns below these names."""
        widths = [max(len(row[place]) for row in (names, *rows)) for place in range(len(names))]
        for row in (names, *rows):
            self.say("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())

    @contextlib.contextmanager
    def resumable(self, kept: str) -> Iterator[None]:
        """Tell a person who interrupts the block what is kept of it, and how to go on."""
        try:
            yield
        except KeyboardInterrupt:
            self.tell(kept)
            raise

    @contextlib.contextmanager
    def service(self, meter: Meter | None = None) -> Iterator[Service]:
        service = open_service(self.settings, backend=self.backend, meter=meter)
        try:
            yield service
        finally:
            service.close()

    @contextlib.contextmanager
    def scheduler(self, judges: int = 1) -> Iterator[Scheduler]:
        """A scheduler without a store, which runs up to `judges` jobs at once."""
        here = self.backend or chosen_backend(self.settings, judges=judges)
        scheduler = Scheduler(here)
        try:
            yield scheduler
        finally:
            scheduler.close()


def message(text: str) -> str:
    """A message as it is printed: each line shortened, as it may repeat what a stranger wrote."""
    return outside.printable("\n".join(outside.shortened(line, outside.LONGEST_MESSAGE) for line in text.split("\n")))
