"""Random edits of every kind of tensor through a real mount, held against an in-memory model, in the spirit of fsx.

    edit_stress.py [--minutes N] [--seed S] [--operations N]

Each run is a function of its seed but for the moments at which the kernel writes back. On a mismatch it prints the last
operations on that tensor and ends with status 1. Needs the program as $ONNXFS, and leave to mount.
"""

import errno
import json
import mmap
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))

import mounting  # noqa: E402
import stress  # noqa: E402
from committed import as_read, by_onnx  # noqa: E402
from datatypes import string_payload  # noqa: E402
from editable import bin_path, other_payload, replacement, write_editable  # noqa: E402
from editing import kill_and_remount, opened, store  # noqa: E402

REMEMBERED = 25  # operations a tensor


class Mismatch(AssertionError):
    pass


class Held:
    """A handle on a tensor that outlives the operation which opened it, with a shared map of the whole."""

    def __init__(self, path, file):
        self.path = path
        self.fd = os.open(file, os.O_RDWR)
        self.area = mmap.mmap(self.fd, 0)

    def close(self):
        self.area.close()
        os.close(self.fd)


class Stress:
    """The mount, and what it must show. One run; use it in a `with`, which unmounts."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.folder = Path(tempfile.mkdtemp(prefix="onnxfs-stress-"))
        self.model, tensors = write_editable(self.folder, seed)
        self.tensors = {path: editable for path, editable in tensors.items() if editable.payload}
        self.plain = [path for path, editable in self.tensors.items() if not editable.is_strings]
        self.content = {path: bytearray(editable.payload) for path, editable in self.tensors.items()}
        self.words = {}  # documentation that was written
        self.committed = self.snapshot()
        self.held = []
        self.history = {path: deque(maxlen=REMEMBERED) for path in self.tensors}
        self.done = Counter()
        self.mount = mounting.Mount(self.model, self.folder / "mnt")
        self.mount.path.mkdir()

    def __enter__(self):
        self.mount.start()
        return self

    def __exit__(self, *_):
        for held in self.held:
            mounting.error_of(held.close)
        self.mount.give_up()
        shutil.rmtree(self.folder, ignore_errors=True)

    def snapshot(self):
        return {path: bytes(content) for path, content in self.content.items()}, dict(self.words)

    # What happens to a tensor is written down before it is done, so that what hangs or fails is the last line.
    def note(self, path, what):
        self.history[path].append(f"{sum(self.done.values()):7} {what}")

    def note_all(self, what):
        for path in self.history:
            self.note(path, what)

    def file(self, path):
        return bin_path(self.mount, path)

    def fail(self, path, what):
        lines = "\n".join(self.history[path])
        raise Mismatch(f"{path} ({self.tensors[path].storage}): {what}\nThe last operations on it:\n{lines}")

    def expect(self, path, found, begin=0, end=None):
        wanted = self.content[path][begin:end]
        if found != wanted:
            at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
            different = sum(a != b for a, b in zip(found, wanted))
            self.fail(path, f"read [{begin}, {begin + len(found)}), {different} bytes differ, the first at {begin + at}: "
                            f"{bytes(found[at:at + 8]).hex()} instead of {bytes(wanted[at:at + 8]).hex()}; "
                            f"{len(found)} bytes instead of {len(wanted)}")

    def expect_error(self, path, wanted, function, *arguments):
        got = mounting.error_of(function, *arguments)
        if got not in wanted:
            self.fail(path, f"errno {got and errno.errorcode[got]} instead of "
                            f"{' or '.join(errno.errorcode[number] for number in wanted)}")

    def some_range(self, path):
        """A range of a tensor: often short, sometimes all, its ends often at pages."""
        size = len(self.content[path])
        begin = self.random.randrange(size)
        if self.random.random() < 0.3:
            begin -= begin % mmap.PAGESIZE
        longest = min(size - begin, self.random.choice((1, 4, 100, 4096, 5000, 200_000)))
        length = self.random.randint(1, longest)
        if self.random.random() < 0.1:
            begin, length = 0, size
        return begin, begin + length

    def some_data(self, path, begin, end):
        return self.tensors[path].well_formed(self.random.randbytes(end - begin), begin)

    # Edits

    def write(self):
        path = self.random.choice(self.plain)
        begin, end = self.some_range(path)
        data, syncs = self.some_data(path, begin, end), self.random.random() < 0.05
        self.note(path, f"write [{begin}, {end}) {data[:4].hex()}…{' fsync' if syncs else ''}")
        with opened(self.file(path), os.O_RDWR) as fd:
            at = begin
            while at < end:
                at += os.pwrite(fd, data[at - begin:], at)
            self.content[path][begin:end] = data
            if syncs:
                os.fsync(fd)

    def store(self):
        path = self.random.choice(self.plain)
        begin, end = self.some_range(path)
        data = self.some_data(path, begin, end)
        self.note(path, f"map store [{begin}, {end}) {data[:4].hex()}…")
        store(self.file(path), begin, data)
        self.content[path][begin:end] = data

    def hold(self):
        while len(self.held) >= 4:
            self.let_go(self.held.pop(0))
        path = self.random.choice(self.plain)
        self.note(path, "a handle is kept open")
        self.held.append(Held(path, self.file(path)))

    def let_go(self, held):
        self.note(held.path, "that handle is closed")
        held.close()

    def let_go_of(self, path):
        for held in [held for held in self.held if held.path == path]:
            self.held.remove(held)
            self.let_go(held)

    def let_all_go(self):
        while self.held:
            self.let_go(self.held.pop())

    def use_held(self):
        if not self.held:
            return self.hold()
        held = self.random.choice(self.held)
        begin, end = self.some_range(held.path)
        data, mapped = self.some_data(held.path, begin, end), self.random.random() < 0.5
        self.note(held.path, f"{'map store' if mapped else 'write'} through the kept handle [{begin}, {end}) "
                             f"{data[:4].hex()}…")
        if mapped:
            held.area[begin:end] = data
        else:
            at = begin
            while at < end:
                at += os.pwrite(held.fd, data[at - begin:], at)
        self.content[held.path][begin:end] = data
        self.expect(held.path, os.pread(held.fd, end - begin, begin), begin, end)
        self.expect(held.path, held.area[begin:end], begin, end)

    def replacement_for(self):
        path = self.random.choice(list(self.tensors))
        # A replacement and a map that somebody keeps are not made for each other, as with any file that is truncated.
        self.let_go_of(path)
        return path, other_payload(self.tensors[path], self.random)

    def replace(self):
        path, data = self.replacement_for()
        self.note(path, f"replaced, truncating: {data[:4].hex()}…, {len(data)} bytes")
        replacement(self.file(path), data)
        self.content[path] = bytearray(data)

    def replace_by_rename(self):
        path, data = self.replacement_for()
        self.note(path, f"replaced by a rename: {data[:4].hex()}…, {len(data)} bytes")
        scratch = self.file(path).with_name(f".scratch.{self.random.randrange(10)}")
        scratch.write_bytes(data)
        os.replace(scratch, self.file(path))
        self.content[path] = bytearray(data)

    def words_and_shape(self):
        path = self.random.choice([path for path in self.tensors if self.tensors[path].storage != "attribute"])
        text = "".join(self.random.choices("abcé \n\"\\", k=self.random.randrange(60)))
        self.note(path, f"doc_string {text!r}")
        about = self.file(path).with_suffix(".json")
        about.write_text(json.dumps({**json.loads(about.read_text()), "doc_string": text}))
        self.words[path] = text

    # What is refused

    def wrong_replacement(self):
        path, data = self.replacement_for()
        if self.tensors[path].is_strings:
            data = self.random.choice((data + string_payload([b"more"]), data[:-1], b""))
        else:
            data = data[:self.random.randrange(len(data))]
        if len(data) == len(self.content[path]):
            return
        self.note(path, f"replaced by {len(data)} bytes, which is refused")
        self.expect_error(path, [errno.EINVAL], replacement, self.file(path), data)

    def past_the_end(self):
        path = self.random.choice(self.plain)
        size = len(self.content[path])
        # Within one page: a write that spans two comes to the daemon as two.
        begin = size - self.random.randint(0, min(size % mmap.PAGESIZE, 3))
        # When a write fails, the kernel takes the page that it had copied it to for unread, though it may be mapped: what
        # is stored there is lost with it, in any file system of FUSE.
        self.let_go_of(path)
        self.note(path, f"write [{begin}, {size + 1}), past the end, which is refused")
        with opened(self.file(path), os.O_RDWR) as fd:
            self.expect_error(path, [errno.EFBIG], os.pwrite, fd, b"\xee" * (size + 1 - begin), begin)

    def truncate(self):
        path = self.random.choice(list(self.tensors))
        size = self.random.choice((0, 1, len(self.content[path]) + 1))
        if size != len(self.content[path]):
            self.note(path, f"truncate to {size}, which is refused")
            self.expect_error(path, [errno.EINVAL], os.truncate, self.file(path), size)

    def remove(self):
        path = self.random.choice(list(self.tensors))
        self.note(path, "unlink, which is refused")
        self.expect_error(path, [errno.EPERM], os.unlink, self.file(path))

    # Reads

    def read(self):
        path = self.random.choice(list(self.tensors))
        content = self.file(path).read_bytes()
        self.expect(path, content)

    def read_range(self):
        path = self.random.choice(self.plain)
        begin, end = self.some_range(path)
        with opened(self.file(path), os.O_RDONLY) as fd:
            self.expect(path, os.pread(fd, end - begin, begin), begin, end)

    def read_map(self):
        path = self.random.choice(self.plain)
        begin, end = self.some_range(path)
        with opened(self.file(path), os.O_RDONLY) as fd, mmap.mmap(fd, 0, prot=mmap.PROT_READ) as area:
            self.expect(path, area[begin:end], begin, end)

    def read_direct(self):
        path = self.random.choice(self.plain)
        with mmap.mmap(-1, 1 << 16) as buffer, opened(self.file(path), os.O_RDONLY | os.O_DIRECT) as fd:
            count = os.preadv(fd, [buffer], 0)
            self.expect(path, buffer[:count], 0, 1 << 16)

    def look(self):
        path = self.random.choice(list(self.tensors))
        size = self.file(path).stat().st_size
        if size != len(self.content[path]):
            self.fail(path, f"st_size is {size} instead of {len(self.content[path])}")
        found = json.loads(self.file(path).with_suffix(".json").read_text())
        if found["nbytes"] != size or self.words.get(path, found["doc_string"]) != found["doc_string"]:
            self.fail(path, f"its JSON is {found}")

    # The life of the mount

    def check_all(self):
        for path in self.tensors:
            self.expect(path, self.file(path).read_bytes())

    def remount(self):
        self.let_all_go()
        self.note_all("remount")
        self.mount.finish()
        self.mount.start()
        self.check_all()

    def kill(self):
        self.let_all_go()
        self.note_all("kill -9, remount")
        kill_and_remount(self.mount)
        self.check_all()

    def command(self, *words):
        done = mounting.onnxfs(*words)
        if done.returncode != 0:
            raise Mismatch(f"onnxfs {' '.join(map(str, words))}: {done.stderr}")
        return done

    def commit(self):
        self.let_all_go()
        in_place = self.random.random() < 0.5
        self.note_all(f"commit{' --in-place' if in_place else ''}, remount")
        self.mount.finish()
        if in_place and mounting.onnxfs("commit", self.model, "--in-place").returncode == 0:
            self.done["in place"] += 1
        else:
            self.command("commit", self.model)
        for path, payload in by_onnx(self.model).items():
            editable = self.tensors[path]
            if as_read(editable, payload) != as_read(editable, self.content[path]):
                self.expect(path, payload)
        self.committed = self.snapshot()
        self.mount.start()
        self.check_all()

    def discard(self):
        self.let_all_go()
        self.note_all("discard, remount")
        self.mount.finish()
        self.command("discard", self.model)
        content, self.words = self.committed[0], dict(self.committed[1])
        self.content = {path: bytearray(data) for path, data in content.items()}
        self.mount.start()
        self.check_all()

    OPERATIONS = {write: 300, store: 100, use_held: 100, hold: 10, replace: 60, replace_by_rename: 40,
                  words_and_shape: 10, wrong_replacement: 30, past_the_end: 20, truncate: 10, remove: 5,
                  read: 150, read_range: 150, read_map: 50, read_direct: 20, look: 40,
                  remount: 1, kill: 1, commit: 0.6, discard: 0.2}

    def step(self):
        operation, = self.random.choices(list(self.OPERATIONS), self.OPERATIONS.values())
        self.done[operation.__name__] += 1
        try:
            operation(self)
        except OSError as error:
            for path in self.history:
                if self.history[path] and self.history[path][-1].startswith(f"{sum(self.done.values()):7} "):
                    self.fail(path, f"{operation.__name__}: {error}")
            raise Mismatch(f"{operation.__name__}: {error}") from error


def run(seed, operations=None, seconds=None):
    """Until either is reached; the numbers of operations by their names. Mismatch tells what went wrong."""
    deadline = None if seconds is None else time.monotonic() + seconds
    with Stress(seed) as stress:
        while operations is None or sum(stress.done.values()) < operations:
            if deadline is not None and time.monotonic() > deadline:
                break
            stress.step()
        stress.commit()
        return stress.done


if __name__ == "__main__":
    stress.main(__doc__, run, Mismatch, "operations")
