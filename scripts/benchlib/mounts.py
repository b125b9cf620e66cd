"""FUSE servers and their mounts, which both end with their `with` block, whatever happens in it."""

import os
import subprocess
import tempfile
import time

from .processes import StepFailed, command_lines, kill, run, wait_for_end

PATIENCE = 30


def is_mounted(place):
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as table:
        return any(line.split(" ")[1] == place for line in table)


def unmount(place):
    """Ends what is mounted there; lazily if it does not go otherwise."""
    for options in (["-u"], ["-uz"]):
        if not is_mounted(place):
            return
        subprocess.run(["fusermount3", *options, place], capture_output=True, timeout=PATIENCE)
    if is_mounted(place):
        raise StepFailed(f"{place} stays mounted")


def wait_until(condition, what):
    give_up = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > give_up:
            raise StepFailed(f"waited {PATIENCE} s in vain {what}")
        time.sleep(0.001)


class Server:
    """A server in the foreground, so that it is our child; `place` is where its mount is. Use it in a `with`."""

    def __init__(self, argv, place, wait=True):
        self.argv, self.place, self.wait = [str(a) for a in argv], place, wait

    def __enter__(self):
        os.makedirs(self.place, exist_ok=True)
        self.errors = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C reaches us only, and we end things in their order.
        self.process = subprocess.Popen(
            self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors, start_new_session=True
        )
        try:
            if self.wait:
                self.wait_until_mounted()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_until_mounted(self):
        wait_until(lambda: is_mounted(self.place) or self.process.poll() is not None, f"for {self.argv[0]} to mount")
        if self.process.poll() is not None:
            self.errors.seek(0)
            raise StepFailed(f"{self.argv[0]} ended: {self.errors.read().decode(errors='replace').strip()[-500:]}")
        os.stat(self.place)

    def __exit__(self, *_):
        try:
            unmount(self.place)
        finally:
            if not wait_for_end(self.process, 10):
                self.process.kill()
                wait_for_end(self.process, 10)
            self.errors.close()
            remove_empty(self.place)


def onnxfs(bench, model, wait=True):
    return Server([bench.onnxfs, model, bench.mount_point, "-f"], bench.mount_point, wait)


def floor(bench, file, offset, length):
    place = bench.mount_point + "-floor"
    return Server([bench.program("floor"), file, offset, length, place], place)


def passthrough(bench, folder):
    """libfuse's example, which serves a folder as it is."""
    place = bench.mount_point + "-passthrough"
    return Server([bench.program("passthrough_ll"), "-f", "-o", f"source={folder}", place], place)


def end_background_mount(bench):
    """Ends an onnxfs that went to the background, and waits for its process."""
    place = bench.mount_point
    if is_mounted(place):
        run([bench.onnxfs, "umount", place])
    unmount(place)

    def daemons():
        return [pid for pid, words in command_lines() if words[:1] == [bench.onnxfs] and place in words]

    try:
        wait_until(lambda: not daemons(), f"for the daemon of {place} to end")
    except StepFailed:
        for pid in daemons():
            kill(pid)
        raise
    remove_empty(place)


def remove_empty(place):
    """A mount point of ours. Never recursively: something may still be mounted there."""
    try:
        os.rmdir(place)
    except FileNotFoundError:
        pass
