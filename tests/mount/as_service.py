"""Runs a command under what a unit's [Service] section takes from it, as far as one process can do that to itself: its
capabilities, system calls, families of sockets, memory that is written and run, and umask (systemd.exec(5)).

    as_service.py UNIT COMMAND …

Needs root, systemd-analyze, which tells what the sets of system calls are, and libseccomp.
"""

import ctypes
import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_SET_MDWE = 38, 24, 65
CAPABILITIES = {"CAP_DAC_OVERRIDE": 1, "CAP_DAC_READ_SEARCH": 2, "CAP_SYS_ADMIN": 21}
ALLOW, ERRNO = 0x7FFF0000, 0x00050000  # SCMP_ACT_…
EQUAL = 4                              # SCMP_CMP_EQ


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operation", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def settings(unit):
    """Its settings by name; of one that is given twice, the last."""
    lines = Path(unit).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def system_calls(names):
    """Those that a SystemCallFilter= lets through; @default always is."""
    found, seen, left = set(), set(), ["@default", *names]
    while left:
        name = left.pop()
        if not name.startswith("@"):
            found.add(name)
        elif name not in seen:
            seen.add(name)
            told = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, stdout=subprocess.PIPE, text=True)
            lines = [line.strip() for line in told.stdout.splitlines()]
            left += [line for line in lines if line and not line.startswith("#") and line != name]
    return found


def checked(value, what):
    if value != 0:
        raise OSError(ctypes.get_errno() or -value, what)


def control(*words):
    libc = ctypes.CDLL(None, use_errno=True)
    checked(libc.prctl(*map(ctypes.c_ulong, (*words, *[0] * (5 - len(words))))), f"prctl {words}")


def keep_capabilities(names):
    kept = {CAPABILITIES[name] for name in names}
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii"))
    for number in range(last + 1):
        if number not in kept:
            control(PR_CAPBSET_DROP, number)


def filter_system_calls(names, error, families):
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    filter_ = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ERRNO | error)))
    library.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint,
                                               ctypes.POINTER(Comparison)]
    for name in names - {"socket"}:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:  # others are those of other processors
            checked(library.seccomp_rule_add_array(filter_, ALLOW, number, 0, None), name)
    number = library.seccomp_syscall_resolve_name(b"socket")
    for family in families:
        equal = Comparison(0, EQUAL, getattr(socket, family), 0)
        checked(library.seccomp_rule_add_array(filter_, ALLOW, number, 1, ctypes.byref(equal)), family)
    checked(library.seccomp_load(filter_), "seccomp_load")


def main(unit, *command):
    service = settings(unit)
    names = system_calls(service["SystemCallFilter"].split())
    os.umask(int(service["UMask"], 8))
    keep_capabilities(service["CapabilityBoundingSet"].split())
    if service["MemoryDenyWriteExecute"] == "yes":
        control(PR_SET_MDWE, 1)
    if service["NoNewPrivileges"] == "yes":
        control(PR_SET_NO_NEW_PRIVS, 1)
    filter_system_calls(names, getattr(errno, service["SystemCallErrorNumber"]), service["RestrictAddressFamilies"].split())
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
