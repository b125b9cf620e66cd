"""A commit that is interrupted or killed at any moment: each file is whole, and running it again finishes the work."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from committed import commit
from editable import overwrite
from editing import sidecar_of
from mounting import BINARY, onnxfs, until
from onnx_wire import FLOAT, Hole, Message, graph, tensor, write_model

SIZE = 100 << 20  # of the tensor in the model, and of the one in its data file
TENSORS = ("raw", "external")
PIECE = os.urandom(1 << 20)


class Big:
    """A model with 200 MB in two files, mostly holes so that it is made quickly, and edits of both."""

    def __init__(self, folder):
        self.model, self.data = folder / "m.onnx", folder / "m.data"
        with open(self.data, "wb") as file:
            file.truncate(SIZE)
        raw = Message().varint(1, SIZE // 4).varint(2, FLOAT).string(8, "raw").message(9, Hole(SIZE))
        write_model(self.model, graph([raw, tensor("external", FLOAT, [SIZE // 4], external=[("location", "m.data")])]))
        self.start = self.model.read_bytes().index(bytes(4096))
        self.old = {path: self.edges(path) for path in (self.model, self.data)}
        self.size = {path: path.stat().st_size for path in self.old}

    def edges(self, path):
        """What stands where an edit goes, first and last."""
        with open(path, "rb") as file:
            start = self.start if path == self.model else 0
            return [os.pread(file.fileno(), len(PIECE), start + at) for at in (0, SIZE // 2, SIZE - len(PIECE))]

    def edit(self, mount):
        with mount(self.model) as mnt:
            for name in TENSORS:
                for at in (0, SIZE // 2, SIZE - len(PIECE)):
                    overwrite(mnt.file(name), at, PIECE)

    @property
    def is_committed(self):
        return all(self.edges(path) == [PIECE] * 3 for path in self.old)

    def check_whole(self, in_place):
        for path, old in self.old.items():
            assert path.stat().st_size == self.size[path]
            if not in_place:
                assert self.edges(path) in (old, [PIECE] * 3), f"{path} is neither old nor new"

    def check_finished(self):
        assert self.is_committed
        assert sorted(os.listdir(self.model.parent)) == ["m.data", "m.onnx"]


@pytest.fixture
def big(tmp_path):
    made = Big(tmp_path)
    yield made
    for path in tmp_path.iterdir():
        if path.is_file():
            path.unlink()


def started(model, *words):
    return subprocess.Popen([BINARY, "commit", model, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def seconds_of(command):
    start = time.monotonic()
    command()
    return time.monotonic() - start


@pytest.mark.limit(120)
@pytest.mark.parametrize("words", [(), ("--in-place",)], ids=["new files", "in place"])
def test_kill(mount, big, words):
    generator = random.Random(11)
    big.edit(mount)
    whole = seconds_of(lambda: commit(big.model, *words, timeout=60))
    big.check_finished()
    for turn in range(8):
        for path in big.old:
            with open(path, "r+b") as file:
                for at, old in zip((0, SIZE // 2, SIZE - len(PIECE)), big.old[path]):
                    os.pwrite(file.fileno(), old, at + (big.start if path == big.model else 0))
        big.edit(mount)
        process = started(big.model, *words)
        try:
            time.sleep(generator.random() * whole * 1.1)
        finally:
            process.kill()
            process.communicate()
        big.check_whole(bool(words))
        commit(big.model, *words, timeout=60)
        big.check_finished()


@pytest.mark.limit(60)
def test_mount_after_a_kill(mount, big):
    """Whatever a killed commit left, a mount shows the edits, or says that the commit is to be run again."""
    for delay in (0.01, 0.05, 0.1):
        big.edit(mount)
        process = started(big.model)
        time.sleep(delay)
        process.kill()
        process.communicate()
        done = onnxfs(big.model, Path(big.model.parent, "mnt"), "-o", "ro")
        if done.returncode == 0:
            try:
                for name in TENSORS:
                    with open(Path(big.model.parent, "mnt", "initializers", name + ".bin"), "rb") as file:
                        assert file.read(len(PIECE)) == PIECE
            finally:
                assert onnxfs("umount", Path(big.model.parent, "mnt")).returncode == 0
        else:
            assert "commit" in done.stderr
    commit(big.model, timeout=60)
    big.check_finished()


@pytest.mark.limit(60)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt(mount, big, number):
    """It leaves nothing behind, and the edits are still there."""
    big.edit(mount)
    before = os.listdir(big.model.parent)
    process = started(big.model)
    try:
        until(lambda: process.poll() is not None or len(os.listdir(big.model.parent)) > len(before), "it writes")
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    if process.returncode == 0:
        big.check_finished()  # it was quicker
        return
    assert process.returncode == -number and len(errors.splitlines()) == 1, errors
    assert sorted(os.listdir(big.model.parent)) == ["m.data", "m.onnx", sidecar_of(big.model).name]
    for path, old in big.old.items():
        assert big.edges(path) == old
    commit(big.model, timeout=60)
    big.check_finished()
