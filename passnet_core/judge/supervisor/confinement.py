"""Kernel-enforced restrictions on a process that runs candidate code; they need no privilege and no namespace.

Three of them, irrevocable and inherited: no capabilities, a filter of system calls (seccomp), and, where the kernel has
Landlock, a list of files, no TCP, and no signals to processes outside. What a kernel lacks is left out: the sandbox's
namespaces do not depend on it, and without namespaces nothing better can be had."""

import contextlib
import ctypes
import errno
import os
import platform
import stat
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Per machine: the column in the tables of system calls, and the kernel's constant for the architecture."""

REFUSED_CALLS: Mapping[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # memory that counts towards no limit and outlives the process
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # memory of the kernel, as much as somebody asks for, that counts towards no limit of a process; the first is also
    # what the whole machine has few of
    "io_setup": (206, 0),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "landlock_create_ruleset": (444, 444),
}
"""Calls that control other processes, change namespaces, reach rarely used kernel code, outlive the process, or make
what no limit counts."""

MEMFD_CREATE = (319, 279)
CLONE = (56, 220)
CLONE3 = (435, 435)
SOCKET = (41, 198)
CAPSET = (126, 91)
SECCOMP = (317, 277)

CAPABILITIES = 64
"""More than any kernel has."""

NEW_NAMESPACES = 0x7E020000
SOCKET_FAMILIES = (1, 16)
"""The allowed families: Unix sockets, and netlink, through which the C library lists network interfaces."""

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK, TRUNCATE, IOCTL_DEV = 1 << 6, 1 << 11, 1 << 14, 1 << 15
HANDLED_BITS = {2: 14, 3: 15, 4: 15, 5: 16}
"""How many kinds of file access each version of Landlock knows. Later versions know as many as the last."""
READ = EXECUTE | READ_FILE | READ_DIR
USE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
ALL = (1 << 16) - 1 & ~MAKE_CHAR & ~MAKE_BLOCK
OF_FILES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV


@dataclass(frozen=True)
class Reach:
    """The files that a process may reach: read-only paths, device nodes to use, and folders of its own."""

    read: tuple[Path, ...]
    use: tuple[Path, ...]
    own: tuple[Path, ...]
    listed: tuple[Path, ...] = ()
    """Folders whose content may be listed, recursively."""


def confine(reach: Reach | None, *, count_memory: bool) -> None:
    """Confine this process and all that it starts. Call it while there is one thread: Landlock applies per thread.

    count_memory: refuse memfd_create too, whose memory counts towards no limit on address space."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = ARCHITECTURES.get(platform.machine())
    _offer_to_the_memory_killer()
    set_no_new_privileges = 38
    libc.prctl(set_no_new_privileges, *map(ctypes.c_ulong, (1, 0, 0, 0)))
    drop_capabilities()
    if reach is not None:
        _restrict_files(libc, reach)
    if place is not None:
        _filter_calls(libc, SECCOMP[place[0]], filter_program(*place, count_memory=count_memory))


def _offer_to_the_memory_killer() -> None:
    """If memory runs out, the kernel should kill this process and not the app."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def drop_capabilities() -> None:
    """Give up all capabilities of this process, for good: also those that a program which it starts could get."""
    place = ARCHITECTURES.get(platform.machine())
    if place is None:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    drop_from_bounding_set = 24
    for capability in range(CAPABILITIES):
        libc.prctl(drop_from_bounding_set, *map(ctypes.c_ulong, (capability, 0, 0, 0)))
    version_3 = 0x20080522
    libc.syscall(CAPSET[place[0]], struct.pack("=Ii", version_3, 0), bytes(24))


# --- system calls ----------------------------------------------------------------------------------------------------

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_REFUSE = _ERROR | errno.EPERM
_FOREIGN_CALLS = 0x40000000
"""System calls of the x32 ABI begin here; they would bypass a filter by number."""


def filter_program(column: int, architecture: int, *, count_memory: bool) -> bytes:
    """The seccomp filter as BPF instructions: code, jump if true, jump if false, value."""
    refused = [numbers[column] for numbers in REFUSED_CALLS.values()]
    if count_memory:
        refused.append(MEMFD_CREATE[column])
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _FOREIGN_CALLS),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for number in refused:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    # clone3 passes its flags in memory, which a filter cannot read: without it the C library falls back to clone
    lines += [(_EQUAL, 0, 1, CLONE3[column]), (_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    lines += [
        (_EQUAL, 0, 4, CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_ANY_BIT, 0, 1, NEW_NAMESPACES),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    unix, netlink = SOCKET_FAMILIES
    lines += [
        (_EQUAL, 0, 4, SOCKET[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_EQUAL, 2, 0, unix),
        (_EQUAL, 1, 0, netlink),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _filter_calls(libc: ctypes.CDLL, number: int, program: bytes) -> None:
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]

    set_filter, all_threads = 1, 1
    libc.syscall(number, set_filter, all_threads, ctypes.byref(Program(len(program) // 8, program)))


# --- files -----------------------------------------------------------------------------------------------------------


def landlock_version() -> int:
    """The kernel's Landlock version; 0 if it has none."""
    ask_version = 1
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE, None, 0, ask_version)))


def _restrict_files(libc: ctypes.CDLL, reach: Reach) -> None:
    version = landlock_version()
    # version 1 forbids renaming files across folders, which compiler caches do
    if version < 2:
        return
    handled = (1 << HANDLED_BITS.get(version, 16)) - 1
    tcp = 0b11 if version >= 4 else 0
    abstract_sockets_and_signals = 0b11 if version >= 6 else 0
    asked = struct.pack("=QQQ", handled, tcp, abstract_sockets_and_signals)
    rules = libc.syscall(LANDLOCK_CREATE, asked, len(asked), 0)
    if rules < 0:
        return
    try:
        for path, access in _rights(reach):
            _allow(libc, rules, path, access & handled)
        libc.syscall(LANDLOCK_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _rights(reach: Reach) -> Iterator[tuple[Path, int]]:
    for paths, access in ((reach.read, READ), (reach.listed, READ_DIR), (reach.use, USE), (reach.own, ALL)):
        yield from ((path, access) for path in paths)


def _allow(libc: ctypes.CDLL, rules: int, path: Path, access: int) -> None:
    """Allow this access to a file, or to a folder and everything below it. A path that does not exist is skipped."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= OF_FILES
        beneath_path = 1
        libc.syscall(LANDLOCK_ADD, rules, beneath_path, struct.pack("=Qi", access, place), 0)
    finally:
        os.close(place)
