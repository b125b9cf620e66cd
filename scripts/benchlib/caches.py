"""What is in the kernel's caches when a measurement starts; what a row's title says about it is checked."""

import os

from .processes import StepFailed, run

MAY_DROP = os.access("/proc/sys/vm/drop_caches", os.W_OK)


def warm(path):
    """Reads the whole file into the page cache."""
    buffer = bytearray(8 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def warm_anew(path):
    """Likewise, after dropping what was in it: of a file that was written just now, the kernel has single pages, from
    which nobody reads as fast as from the large folios that reading makes."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    warm(path)


def _drop(what):
    if not MAY_DROP:
        raise StepFailed("only root can empty the kernel's caches")
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as file:
        file.write(what)


def drop_pages():
    """Empties the page cache, but for pages that some process has mapped."""
    _drop("3")


def drop_names():
    """Empties the cache of names and inodes; the disk's own blocks stay in memory."""
    _drop("2")


def resident_share(bench, path, offset, length):
    return int(run([bench.program("reader"), "resident", path, offset, length])) / length


def require_warm(bench, path, offset, length):
    share = resident_share(bench, path, offset, length)
    if share < 0.99:
        raise StepFailed(f"only {share:.0%} of {path} is in the page cache: too little memory for this")


def require_cold(bench, path, offset, length):
    share = resident_share(bench, path, offset, length)
    if share > 0.02:
        raise StepFailed(f"{share:.0%} of {path} stayed in the page cache")
