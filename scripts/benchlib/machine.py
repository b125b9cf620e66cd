"""Names the machine, since a number means nothing without it."""

import os
import platform
import subprocess


def _field(path, key, separator=":"):
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, found, value = line.partition(separator)
            if found and name.strip() == key:
                return value.strip()
    return ""


def _libfuse_version():
    done = subprocess.run(["fusermount3", "--version"], capture_output=True, text=True)
    return done.stdout.strip().rpartition(" ")[2] or "of unknown version"


def describe():
    processor = _field("/proc/cpuinfo", "model name") or platform.machine()
    memory = int(_field("/proc/meminfo", "MemTotal").split()[0]) * 1024 / 2**30
    return (
        f"{processor}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB of memory, "
        f"Linux {platform.release()}, libfuse {_libfuse_version()}"
    )
