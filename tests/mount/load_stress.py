"""Thirty-two readers and writers on one mount, which is ended under them again and again: unmounted, stopped, killed.

    load_stress.py [--minutes N] [--seed S] [--rounds N]

Each writer has tensors of its own and fills pages of them with numbered marks; it writes down what it is about to do and,
once the file is closed, what is done. Readers look at all tensors and views meanwhile, and see no mark that was never
written (of a page that is being written, the kernel may copy a part before and a part after). After each end, everybody
must be gone within seconds, and the next mount has every edit whose close had returned. Needs the program as $ONNXFS,
and leave to mount.
"""

import errno
import json
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))

import mounting  # noqa: E402
import stress  # noqa: E402
from editable import overwrite, replacement  # noqa: E402
from editing import opened, store  # noqa: E402
from onnx_wire import UINT8, graph, tensor, write_model  # noqa: E402

PAGE = mmap.PAGESIZE
PROCESSES, WRITERS_EACH, READERS_EACH = 4, 4, 4
WRITERS = PROCESSES * WRITERS_EACH
TENSORS = 2 * WRITERS
MOST_PAGES = 64
PATIENCE = 20
GONE = (errno.ENOTCONN, errno.ECONNABORTED, errno.ENOENT, errno.EIO, errno.EINTR, errno.ENODEV)


class Wrong(AssertionError):
    pass


def name(number):
    return f"w{number}"


def pages_of(number):
    return 1 + 7 * number % MOST_PAGES


def filled(marks):
    return numpy.repeat(marks.astype("<u8"), PAGE // 8).tobytes()


class Board:
    """What all processes see: by tensor and page the last mark that was begun, and the last that was finished."""

    def __init__(self):
        size = TENSORS * MOST_PAGES
        self.area = mmap.mmap(-1, 8 * (2 * size + TENSORS + 1))
        numbers = numpy.frombuffer(self.area, "<u8")
        self.begun = numbers[:size].reshape(TENSORS, MOST_PAGES)
        self.finished = numbers[size:2 * size].reshape(TENSORS, MOST_PAGES)
        self.replacing = numbers[2 * size:2 * size + TENSORS]  # so it is one mark or the other in all pages
        self.stop = numbers[-1:]


class Worker:
    """A thread's work on the mount, until it is gone."""

    def __init__(self, board, mount, seed):
        self.board, self.mount, self.random = board, mount, random.Random(seed)
        self.done = Counter()

    def file(self, number, view="", suffix=".bin"):
        return self.mount / view / "initializers" / (name(number) + suffix)

    def run(self, operations):
        while not self.board.stop[0]:
            operation = self.random.choice(operations)
            try:
                operation()
                self.done[operation.__name__] += 1
            except OSError as error:
                if error.errno in GONE and (self.board.stop[0] or self.is_gone()):
                    return
                raise
            except ValueError as error:  # a map of a file that has no size any more; half a JSON
                if not self.board.stop[0]:
                    raise Wrong(str(error)) from error

    def is_gone(self):
        """The end is announced a moment after it was brought about."""
        deadline = time.monotonic() + PATIENCE
        while not self.board.stop[0] and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.board.stop[0]


class Writer(Worker):
    def __init__(self, board, mount, seed, number):
        super().__init__(board, mount, seed)
        self.tensors = (2 * number, 2 * number + 1)

    def change(self, work, whole):
        number = self.random.choice(self.tensors)
        count = pages_of(number)
        first = 0 if whole else self.random.randrange(count)
        end = count if whole else self.random.randint(first + 1, count)
        begun, finished = self.board.begun[number], self.board.finished[number]
        mark = int(begun[:count].max()) + 1
        self.board.replacing[number] = whole
        begun[first:end] = mark
        work(self.file(number), first * PAGE, filled(begun[first:end]))
        finished[first:end] = mark
        self.board.replacing[number] = 0
        if (found := self.file(number).read_bytes()) != filled(begun[:count]) and not self.board.stop[0]:
            marks = numpy.frombuffer(found, "<u8")[::PAGE // 8]
            raise Wrong(f"{name(number)} has {marks} instead of {begun[:count]}")

    def patch(self):
        self.change(overwrite, False)

    def patch_durably(self):
        def work(path, offset, data):
            with opened(path, os.O_WRONLY) as fd:
                os.pwrite(fd, data, offset)
                os.fsync(fd)
        self.change(work, False)

    def store(self):
        self.change(store, False)

    def replace(self):
        self.change(lambda path, _, data: replacement(path, data), True)

    def rename(self):
        def work(path, _, data):
            scratch = path.with_suffix(".scratch")
            scratch.write_bytes(data)
            os.replace(scratch, path)
        self.change(work, True)

    def give_up(self):
        """Begins to replace and does not finish: nothing comes of it."""
        number = self.random.choice(self.tensors)
        fd = os.open(self.file(number), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, b"nothing")
        finally:
            if mounting.error_of(os.close, fd) not in (errno.EINVAL, *GONE):
                raise Wrong(f"{name(number)} was replaced by seven bytes")

    def work(self):
        self.run([self.patch] * 6 + [self.patch_durably, self.store, self.replace, self.rename, self.give_up])


class Reader(Worker):
    def check(self, number, content):
        marks = numpy.frombuffer(content[:len(content) // PAGE * PAGE], "<u8")
        if marks.size and marks.max() > self.board.begun[number].max():
            raise Wrong(f"{name(number)}: a mark that was never written")

    def some(self):
        return self.random.randrange(TENSORS)

    def read(self):
        number = self.some()
        self.check(number, self.file(number).read_bytes())

    def read_range(self):
        number = self.some()
        with opened(self.file(number), os.O_RDONLY) as fd:
            self.check(number, os.pread(fd, PAGE, PAGE * self.random.randrange(pages_of(number))))

    def read_direct(self):
        number = self.some()
        with mmap.mmap(-1, PAGE) as buffer, opened(self.file(number), os.O_RDONLY | os.O_DIRECT) as fd:
            self.check(number, buffer[:os.preadv(fd, [buffer], 0)])

    def npy(self):
        number = self.some()
        self.file(number, "npy", ".npy").read_bytes()

    def look(self):
        number = self.some()
        size = pages_of(number) * PAGE
        about = json.loads(self.file(number, "", ".json").read_text() or "{}")
        if about and about["nbytes"] != size:
            raise Wrong(f"{name(number)}: its JSON is {about}")

    def views(self):
        path = self.random.choice(("live/m.onnx", "live/m.data", "model.safetensors", "index.tsv", ".onnxfs/edits.tsv"))
        (self.mount / path).read_bytes()

    def text(self):
        with opened(self.file(self.some(), "text", ".txt"), os.O_RDONLY) as fd:
            os.pread(fd, 100_000, 0)

    def sums(self):
        with opened(self.mount / "XXH128SUMS", os.O_RDONLY) as fd:
            os.pread(fd, 300, 0)

    def walk(self):
        for folder, _, files in os.walk(self.mount):
            for file in files:
                os.lstat(os.path.join(folder, file))

    def work(self):
        self.run([self.read, self.read_range] * 5 + [self.read_direct, self.npy, self.look, self.views, self.text,
                                                     self.sums, self.walk])


def be_a_process(board, mount, seed, process, report):
    """The end of a forked child: its threads work, and it says what they did or what went wrong."""
    wrong, workers = [], []

    def work(worker):
        try:
            worker.work()
        except BaseException as error:  # noqa: B902: whatever it is, it is to be told
            wrong.append(f"{type(worker).__name__}: {error!r}")
            board.stop[0] = 1

    for i in range(WRITERS_EACH):
        workers.append(Writer(board, mount, f"{seed}w{process}{i}", process * WRITERS_EACH + i))
    for i in range(READERS_EACH):
        workers.append(Reader(board, mount, f"{seed}r{process}{i}"))
    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(report, json.dumps([wrong, sum((worker.done for worker in workers), Counter())]).encode())
    os._exit(1 if wrong else 0)


class Load:
    """A model and its mount. Use it in a `with`, which leaves nothing behind."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.folder = Path(tempfile.mkdtemp(prefix="onnxfs-load-"))
        self.board = Board()
        external, tensors = bytearray(), []
        for number in range(TENSORS):
            content = bytes(pages_of(number) * PAGE)
            if number % 3:
                tensors.append(tensor(name(number), UINT8, [len(content)], raw=content))
            else:
                place = [("location", "m.data"), ("offset", str(len(external))), ("length", str(len(content)))]
                tensors.append(tensor(name(number), UINT8, [len(content)], external=place))
                external += content
        (self.folder / "m.data").write_bytes(external)
        write_model(self.folder / "m.onnx", graph(tensors))
        self.mount = mounting.Mount(self.folder / "m.onnx", self.folder / "mnt")
        self.mount.path.mkdir()
        self.done = Counter()
        self.children = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in self.children:
            mounting.error_of(os.kill, child, signal.SIGKILL)
        self.mount.give_up()
        for child in self.children:
            mounting.error_of(os.waitpid, child, os.WNOHANG)
        shutil.rmtree(self.folder, ignore_errors=True)

    def round(self, way, seconds):
        """Mounts, checks what was finished before, works, and ends the mount in one of the ways."""
        self.mount.start()
        self.check()
        self.board.stop[0] = 0
        self.begin_work(self.random.random())
        # `stop` is also set by a worker that found something wrong.
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.board.stop[0]:
            time.sleep(0.01)
        if way == "stop":  # the workers end before the mount does
            self.board.stop[0] = 1
            self.end_work(way)
            self.mount.finish()
        elif way == "kill":
            os.kill(self.mount.pid, signal.SIGKILL)
            self.board.stop[0] = 1
            self.end_work(way)
            self.mount.ended()
        elif way == "umount":  # refused as long as files are open, then lazily
            while mounting.unmount(self.mount.path).returncode != 0 and time.monotonic() < deadline + 0.2:
                pass
            mounting.unmount(self.mount.path, lazily=True)
            self.board.stop[0] = 1
            self.end_work(way)
            self.expect_end()
        else:
            os.kill(self.mount.pid, signal.SIGTERM)
            self.board.stop[0] = 1
            self.end_work(way)
            self.expect_end()
        self.done[way] += 1

    def expect_end(self):
        if (status := self.mount.ended()) != 0:
            raise Wrong(f"the daemon ended with {status}")

    def begin_work(self, seed):
        self.children = {}
        for process in range(PROCESSES):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                be_a_process(self.board, self.mount.path, f"{self.seed}{seed}", process, writing)
            os.close(writing)
            self.children[child] = reading

    def end_work(self, way):
        """Everybody ends within seconds, whatever became of the mount."""
        wrong = []
        deadline = time.monotonic() + PATIENCE
        for child, report in list(self.children.items()):
            while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
                if time.monotonic() > deadline:
                    raise Wrong(f"after {way}, a process is stuck:\n{stacks(child)}")
                time.sleep(0.01)
            del self.children[child]
            with os.fdopen(report, "rb") as pipe:
                told, done = json.loads(pipe.read() or b"[[], {}]")
            # Who stores into a map of what is gone gets a signal, of any file.
            if os.WIFSIGNALED(ended[1]) and not (way != "stop" and os.WTERMSIG(ended[1]) == signal.SIGBUS):
                told.append(f"signal {os.WTERMSIG(ended[1])}")
            wrong += told
            self.done.update(done)
        if wrong:
            raise Wrong(f"until {way}: {'; '.join(wrong)}")

    def check(self):
        """What was finished is there; what was only begun, or is of a page that was, may be."""
        for number in range(TENSORS):
            count = pages_of(number)
            marks = numpy.frombuffer(self.mount.bytes(name(number)), "<u8").reshape(count, PAGE // 8)
            begun, finished = self.board.begun[number][:count], self.board.finished[number][:count]
            found = marks[:, 0]
            if (marks != marks[:, :1]).any() or ((found != finished) & (found != begun)).any():
                raise Wrong(f"{name(number)} has {found}; finished were {finished}, begun {begun}")
            if self.board.replacing[number] and not ((found == begun).all() or (found == finished).all()):
                raise Wrong(f"{name(number)} was replaced in part: {found}; {finished}, {begun}")
            begun[:] = finished[:] = found
            self.board.replacing[number] = 0


def stacks(process):
    """Where the kernel holds the threads of a process."""
    lines = []
    for thread in os.listdir(f"/proc/{process}/task"):
        for file in ("wchan", "stack"):
            try:
                lines.append(f"{thread} {file}: {Path(f'/proc/{process}/task/{thread}/{file}').read_text()}")
            except OSError:
                pass
    return "\n".join(lines)


def run(seed, rounds=None, seconds=None):
    """Until either is reached; how often what was done. Wrong tells what went wrong."""
    deadline = None if seconds is None else time.monotonic() + seconds
    with Load(seed) as load:
        number = 0
        while (rounds is None or number < rounds) and (deadline is None or time.monotonic() < deadline):
            way = ("kill", "umount", "terminate", "stop")[number % 4]
            load.round(way, load.random.choice((0.1, 0.5, 2)))
            number += 1
        load.mount.start()
        load.check()
        return load.done


if __name__ == "__main__":
    stress.main(__doc__, run, Wrong, "rounds")
