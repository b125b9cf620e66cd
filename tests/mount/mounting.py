"""Starting, finding and ending mounts of onnxfs. Only processes that descend from this one are ever signalled."""

import ctypes
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BINARY = os.path.abspath(os.environ.get("ONNXFS") or REPOSITORY / "build" / "fs" / "onnxfs")

LIVE = set()   # mounts whose daemon nobody has waited for
SLOWNESS = float(os.environ.get("ONNXFS_TEST_SLOWNESS", "1"))  # of a program under sanitizers; stretches all limits
PATIENCE = 10  # seconds for what should take milliseconds


def adopt_orphans():
    """Makes this process the parent of daemons whose own parent has ended, so that it can wait for them."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def until(condition, what, seconds=PATIENCE):
    """Polls until `condition()` is true and returns what it gave."""
    deadline = time.monotonic() + seconds * SLOWNESS
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.003)


def anonymous_memory(pid):
    """Kilobytes of a process that are no file's pages. Sanitizers add their own."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))


def run(*argv, timeout=20, **how):
    """A finished process with its output as text. Fails if the output stays open: a daemon must let go of it."""
    return subprocess.run([os.fspath(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="surrogateescape", timeout=timeout * SLOWNESS, **how)


def onnxfs(*argv, **how):
    return run(BINARY, *argv, **how)


def on_terminal(width, *words):
    """The lines of an onnxfs command on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
    subprocess.run([BINARY, *words], stdout=theirs, check=True, timeout=20 * SLOWNESS)
    os.close(theirs)
    printed = b""
    try:
        while data := os.read(ours, 65536):
            printed += data
    except OSError:
        pass  # a terminal that nobody holds any more
    os.close(ours)
    return printed.decode().splitlines()


def run_alone(program, *words, seconds):
    """Runs a Python program of the tests in a process of its own, which must end with 0; what it printed otherwise."""
    process = subprocess.Popen([sys.executable, "-B", program, *map(str, words)], env={**os.environ, "ONNXFS": BINARY},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    try:
        told, _ = process.communicate(timeout=seconds * SLOWNESS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # it unmounts
        told, _ = process.communicate(timeout=20)
        raise AssertionError(f"over {seconds} s: {told}") from None
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, told


def daemons():
    """(pid, words) of each living child of this process that is an onnxfs."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
            if int(parent) == os.getpid() and state != b"Z":
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    program, *words = [os.fsdecode(word) for word in file.read().split(b"\0")]
                if os.path.basename(program) in ("onnxfs", "mount.fuse.onnxfs", os.path.basename(BINARY)):
                    found.append((int(entry), words))
        except OSError:
            pass  # it ended meanwhile
    return found


def daemon_of(mount_point):
    """The pid of the daemon that was started with the word `mount_point`, or None."""
    return next((pid for pid, words in daemons() if os.fspath(mount_point) in words), None)


def kill_daemons():
    for pid, _ in daemons():
        os.kill(pid, signal.SIGKILL)


def wait_for_end(pid):
    """The exit status of a daemon that is about to end; negative: the signal that ended it."""
    def reaped():
        done, code = os.waitpid(pid, os.WNOHANG)
        return done and (code,)

    code, = until(reaped, f"the daemon {pid} ends")
    return os.waitstatus_to_exitcode(code)


def mounts_at(path):
    """How many mounts stand at `path`, whether or not they answer."""
    wanted = os.fspath(path)
    count = 0
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            point = line.split(" ")[4]
            for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
                point = point.replace(code, character)
            count += point == wanted
    return count


def unmount(path, lazily=False, by_force=False):
    """By force, the kernel answers with an error whoever waits for the daemon, which may be the daemon itself."""
    flags = [*(["-l"] if lazily else []), *(["-f"] if by_force else [])]
    if os.getuid() == 0:
        return run("umount", *flags, path)
    return run("fusermount3", "-u", *(["-z"] if lazily else []), path)


@contextmanager
def namespace_of_its_own():
    """A process with a copy of all mounts, as a container has them, for a block; its end lets go of them."""
    holder = subprocess.Popen(["unshare", "-m", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.read(1) == b"\n"
        yield
    finally:
        holder.communicate()


class Mount:
    """One mounted model. `options`: what follows -o."""

    def __init__(self, model, path, options=()):
        self.model, self.path, self.options = model, Path(path), options
        self.pid = None

    def start(self):
        done = onnxfs(self.model, self.path, *(["-o", ",".join(self.options)] if self.options else []))
        self.pid = daemon_of(self.path)
        assert done.returncode == 0, f"onnxfs ended with {done.returncode}: {done.stderr}"
        assert mounts_at(self.path) == 1
        return self.attach()

    def attach(self, word=None):
        """Takes charge of a mount that a command has made. `word`: the mount point as that command got it."""
        self.pid = daemon_of(word or self.path)
        assert self.pid, "the mount was reported, but no daemon is left"
        LIVE.add(self)
        return self

    def ended(self):
        """Waits for the daemon to end, as it was told to or must by itself, and gives its exit status."""
        status = wait_for_end(self.pid)
        self.pid = None
        LIVE.discard(self)
        return status

    def finish(self):
        """Unmounts, and holds the daemon to its promise to end then."""
        if mounts_at(self.path):
            def done():
                return unmount(self.path).returncode == 0 or not mounts_at(self.path)
            try:
                until(done, f"umount {self.path}", 5)
            except AssertionError:
                self.give_up()
                raise
        if self.pid:
            try:
                status = self.ended()
            except AssertionError:
                self.give_up()
                raise
            assert status == 0, f"the daemon ended with {status}"

    def give_up(self, leave=0):
        """Leaves nothing behind but `leave` older mounts, whatever state the mount is in."""
        while mounts_at(self.path) > leave:
            if unmount(self.path).returncode != 0 and unmount(self.path, lazily=True, by_force=True).returncode != 0:
                break
        if not leave:
            self.pid = self.pid or daemon_of(self.path)
        if self.pid:
            try:
                self.ended()
            except AssertionError:
                os.kill(self.pid, signal.SIGKILL)
                self.ended()
            except ChildProcessError:
                self.pid = None  # the test has waited for it
        LIVE.discard(self)

    def file(self, stem, suffix=".bin"):
        return self.path / "initializers" / (stem + suffix)

    def bytes(self, stem):
        return self.file(stem).read_bytes()

    def json(self, stem):
        return json.loads(self.file(stem, ".json").read_text(encoding="utf-8"))

    def text(self, name):
        return (self.path / name).read_text(encoding="utf-8")

    def problems(self):
        """The lines of problems.txt, none if it is absent."""
        try:
            return self.text("problems.txt").splitlines()
        except FileNotFoundError:
            return []


@contextmanager
def tried(model, path, *words, **how):
    """Asks for a mount that may be refused. Yields the Mount (None if refused) and what the command left."""
    mount, before = Mount(model, path), mounts_at(path)
    done = onnxfs(model, path, *words, **how)
    try:
        yield (mount.attach() if done.returncode == 0 else None), done
    finally:
        mount.give_up(before)


def one_line(done):
    """The one line with which a command fails."""
    assert done.returncode > 0, f"exit status {done.returncode} where an error was due; it wrote: {done.stderr}"
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].strip(), f"one clear line is due, not: {done.stderr!r}"
    return lines[0]


def refusal(model, path, *words, **how):
    """The one line with which a mount is refused; nothing of it may stay."""
    there = os.path.lexists(path)
    with tried(model, path, *words, **how) as (_, done):
        line = one_line(done)
    assert os.path.lexists(path) == there, "a mount point was left behind"
    return line


def error_of(function, *arguments, **keywords):
    """The errno with which a call fails, None if it succeeds."""
    try:
        function(*arguments, **keywords)
    except OSError as error:
        return error.errno
    return None
