"""The model's file changes under a mount: old bytes or ESTALE, never a mixture."""

import errno
import os
import subprocess
import time

import pytest
from mounting import BINARY, error_of, mounts_at, run, until
from onnx_wire import FLOAT, INT32, graph, tensor, write_model

SIZE = 1 << 20
OLD = {"a": b"a" * SIZE, "b": b"b" * SIZE}


def write(path, payloads):
    write_model(path, graph([*(tensor(name, FLOAT, [SIZE // 4], raw=payload) for name, payload in payloads.items()),
                             tensor("typed", INT32, [3]).packed_varints(5, [1, -1, 5])]))


@pytest.fixture
def model(tmp_path):
    write(tmp_path / "m.onnx", OLD)
    return tmp_path / "m.onnx"


def append(path):
    with open(path, "ab") as file:
        file.write(b"\x12\x01x")


def overwrite(path):
    """As a program that saves in place: another content of the same size."""
    with open(path, "r+b") as file:
        file.seek(SIZE + 500)
        file.write(b"x" * (SIZE // 2))
    os.utime(path, ns=(1, os.stat(path).st_mtime_ns + 1))


def rewrite(path):
    """As `cp new m.onnx`: truncated, then written anew."""
    write(path, {"a": b"c" * SIZE, "b": b"d" * SIZE})
    os.utime(path, ns=(1, os.stat(path).st_mtime_ns + 1))


def shorten(path):
    os.truncate(path, SIZE)


@pytest.mark.parametrize("change", [append, overwrite, rewrite, shorten], ids=lambda change: change.__name__)
def test_changed_in_place(mount, model, change):
    """A new read fails with ESTALE, whether or not the kernel remembers old bytes; another mount shows the new ones."""
    with mount(model) as mnt:
        assert mnt.bytes("a") == OLD["a"]
        change(model)
        assert error_of(mnt.bytes, "b") == errno.ESTALE
        assert error_of(mnt.bytes, "typed") == errno.ESTALE
        assert error_of(mnt.bytes, "a") == errno.ESTALE
        assert mnt.pid and mounts_at(mnt.path) == 1
        assert "initializers" in os.listdir(mnt.path)
    if change is not shorten:
        with mount(model) as mnt:
            assert mnt.bytes("a") == (b"c" * SIZE if change is rewrite else OLD["a"])


def test_changed_while_a_file_is_open(mount, model):
    with mount(model) as mnt, open(mnt.file("b"), "rb", buffering=0) as file:
        assert os.pread(file.fileno(), 8, 0) == b"b" * 8
        overwrite(model)
        fd = os.open(mnt.file("a"), os.O_RDONLY) if error_of(open, mnt.file("a")) is None else None
        if fd is not None:
            assert error_of(os.pread, fd, 8, 0) == errno.ESTALE
            os.close(fd)
        time.sleep(0.05)  # a tick of the clock may pass before a change is noticed
        assert error_of(os.pread, file.fileno(), 8, SIZE - 8) == errno.ESTALE


def test_the_log_says_to_remount(model, tmp_path):
    path = tmp_path / "mnt"
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen([BINARY, model, path, "-f"], stdout=log, stderr=log)
    try:
        until(lambda: error_of(os.stat, path / "index.tsv") is None, "the mount answers")
        append(model)
        assert error_of((path / "initializers" / "a.bin").read_bytes) == errno.ESTALE
        until(lambda: "mount" in (tmp_path / "log").read_text() and "m.onnx" in (tmp_path / "log").read_text(),
              "the log says why")
        process.terminate()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
        run("umount", "-l", path)


def test_replaced_by_rename(mount, model, tmp_path):
    """The mount goes on with what it opened; the next one sees the new file."""
    with mount(model) as mnt:
        assert mnt.bytes("a") == OLD["a"]
        write(tmp_path / "new.onnx", {"a": b"c" * SIZE, "b": b"d" * SIZE})
        os.replace(tmp_path / "new.onnx", model)
        assert {name: mnt.bytes(name) for name in OLD} == OLD
        assert mnt.json("a")["name"] == "a"
    with mount(model) as mnt:
        assert mnt.bytes("b") == b"d" * SIZE


def test_removed(mount, model):
    with mount(model) as mnt:
        model.unlink()
        assert {name: mnt.bytes(name) for name in OLD} == OLD
