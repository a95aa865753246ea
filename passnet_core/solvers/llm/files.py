"""The files of a bundle that a language model writes, and what its tools do to them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from passnet_core.records import Bundle, PassFile

FILE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.py")
IS_PASS = re.compile(r"^def pattern\s*\(", re.MULTILINE)
MOST_FILES, LARGEST_FILE = 16, 100_000
"""How many files a bundle may have, and how many characters a file."""


class ToolProblem(Exception):
    """A tool call cannot be executed. The message tells the model why."""


@dataclass
class BundleFiles:
    """The files, by name, in the order in which they were first written."""

    codes: dict[str, str] = field(default_factory=dict)

    def take(self, bundle: Bundle) -> None:
        """Start from the files of a bundle."""
        self.codes = {file.name: file.code for file in bundle.files}

    def bundle(self, author: str) -> Bundle:
        """The bundle that the files make up. Raises ToolProblem if there is no pass yet."""
        passes = [PassFile(name, code) for name, code in self.codes.items() if IS_PASS.search(code)]
        helpers = [PassFile(name, code) for name, code in self.codes.items() if not IS_PASS.search(code)]
        if not passes:
            raise ToolProblem("There is no pass yet: no file defines pattern(). Write one with write_file.")
        return Bundle(tuple(passes), tuple(helpers), author)

    def write(self, name: str, code: str) -> str:
        """Write a file, and return what to tell the model. Raises ToolProblem."""
        if not FILE_NAME.fullmatch(name):
            raise ToolProblem(f"{name[:80]!r} is not a valid file name. Use letters, digits and _, then .py.")
        if len(code) > LARGEST_FILE:
            raise ToolProblem(f"A file may have at most {LARGEST_FILE} characters; this one has {len(code)}.")
        if name not in self.codes and len(self.codes) >= MOST_FILES:
            raise ToolProblem(f"A bundle may have at most {MOST_FILES} files. Delete one first.")
        self.codes[name] = code
        kind = "a pass" if IS_PASS.search(code) else "a helper, since it defines no pattern()"
        return f"Wrote {name}: {kind}."

    def patch(self, name: str, old: str, new: str) -> str:
        """Replace a passage that occurs once, and return what to tell the model. Raises ToolProblem."""
        code = self._code(name)
        count = code.count(old) if old else 0
        if count != 1:
            raise ToolProblem(f"The passage to replace occurs {count} times in {name}; it must occur exactly once.")
        changed = code.replace(old, new)
        if len(changed) > LARGEST_FILE:
            raise ToolProblem(f"A file may have at most {LARGEST_FILE} characters; this one would have {len(changed)}.")
        self.codes[name] = changed
        return f"Changed {name}."

    def delete(self, name: str) -> str:
        """Remove a file, and return what to tell the model. Raises ToolProblem."""
        self._code(name)
        del self.codes[name]
        return f"Deleted {name}."

    @property
    def changes(self) -> Mapping[str, Callable[..., str]]:
        """What each tool that changes files does, by the tool's name."""
        return {"write_file": self.write, "patch_file": self.patch, "delete_file": self.delete}

    def _code(self, name: str) -> str:
        if name not in self.codes:
            raise ToolProblem(f"There is no file {name[:80]!r}. There are: {', '.join(self.codes) or 'none'}.")
        return self.codes[name]
