"""What the tests do to a mount that they edit through, and what they leave a model in."""

import mmap
import os
import signal
from contextlib import contextmanager

from mounting import error_of, mounts_at


@contextmanager
def unchanged(path):
    """The file has the bytes and the size afterwards that it had before."""
    before = path.read_bytes()
    yield before
    assert path.stat().st_size == len(before)
    assert path.read_bytes() == before


def opened(path, flags):
    """A descriptor for a `with`; leaving the block closes it, and fails as close does."""

    @contextmanager
    def closing():
        fd = os.open(path, flags)
        try:
            yield fd
        except BaseException:
            error_of(os.close, fd)
            raise
        os.close(fd)

    return closing()


def close_error(path, flags, *writes):
    """The errno with which close fails after some (offset, data) were written, None if it succeeds."""
    fd = os.open(path, flags)
    try:
        for offset, data in writes:
            assert os.pwrite(fd, data, offset) == len(data)
    except BaseException:
        error_of(os.close, fd)
        raise
    return error_of(os.close, fd)


def store(path, offset, data):
    """Writes through a shared map, which is unmapped without a call that flushes it."""
    fd = os.open(path, os.O_RDWR)
    try:
        with mmap.mmap(fd, 0) as area:
            area[offset:offset + len(data)] = data
    finally:
        os.close(fd)


def kill_daemon(mount):
    """Ends the daemon as a crash does, and leaves its dead mount."""
    os.kill(mount.pid, signal.SIGKILL)
    assert mount.ended() == -signal.SIGKILL
    assert mounts_at(mount.path) == 1


def kill_and_remount(mount):
    kill_daemon(mount)
    return mount.start()


def sidecar_of(model):
    return model.with_name(model.name + ".sidecar")


def refused_to_write(path):
    """The errno with which opening a file to write, or writing to it, or closing it then, fails."""
    def attempt():
        with opened(path, os.O_WRONLY) as fd:
            os.pwrite(fd, b"x", 0)

    return error_of(attempt)

