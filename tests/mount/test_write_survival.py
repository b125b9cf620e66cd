"""Edits outlive the mount and the daemon's death, and one process writes them at a time."""

import errno
import os
import signal
import subprocess
import sys

import pytest
from edited_model import DATA, OLD, all_bytes, edit, write_small
from editable import overwrite, replacement
from editing import kill_and_remount, kill_daemon, opened, unchanged
from mounting import error_of, onnxfs
from onnx_wire import FLOAT, graph, tensor, write_model


@pytest.fixture
def saved(tmp_path):
    return write_small(tmp_path)


def test_umount_and_remount(mount, saved):
    wanted = edit(mount, saved)
    for _ in range(2):
        with mount(saved) as mnt:
            assert all_bytes(mnt) == wanted
            assert mnt.json("w")["edited"] and mnt.json("e")["edited"] and not mnt.json("v")["edited"]
            assert mnt.problems() == []


def test_edits_upon_edits(mount, saved):
    edit(mount, saved)
    for turn in range(5):
        with mount(saved) as mnt:
            overwrite(mnt.file("w"), turn, b"+")
    with mount(saved) as mnt:
        assert mnt.bytes("w")[:5] == b"+++++" and mnt.bytes("w")[4000:4006] == b"edited"


def test_kill(mount, saved):
    """After close, an edit survives the daemon's death; one whose close never came may or may not."""
    with mount(saved) as mnt:
        for turn in range(10):
            overwrite(mnt.file("w"), 10 * turn, b"turn %d" % turn)
            overwrite(mnt.file("e"), 10 * turn, b"turn %d" % turn)
            kill_and_remount(mnt)
            for past in range(turn + 1):
                assert mnt.bytes("w")[10 * past:10 * past + 6] == b"turn %d" % past
                assert mnt.bytes("e")[10 * past:10 * past + 6] == b"turn %d" % past


def test_kill_amid_a_replacement(mount, saved):
    with mount(saved) as mnt:
        fd = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
        os.write(fd, b"half" * 1000)
        kill_daemon(mnt)
        error_of(os.close, fd)
        mnt.start()
        assert mnt.bytes("w") == OLD
        assert mnt.json("w")["edited"] is False


def test_kill_amid_writes(mount, saved):
    """Of a program that writes a counter again and again, what is there is some count that it wrote, and no mixture."""
    script = ("import os, sys\n"
              "fd = os.open(sys.argv[1], os.O_RDWR)\n"
              "for turn in range(1 << 30):\n"
              "    os.pwrite(fd, b'%08d' % turn * 500, 0)\n"
              "    print(turn, flush=True)\n")
    with mount(saved) as mnt:
        for _ in range(5):
            writer = subprocess.Popen([sys.executable, "-c", script, mnt.file("w")], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL)
            try:
                for _ in range(200):
                    writer.stdout.readline()
                kill_daemon(mnt)
                told = [int(line) for line in writer.stdout.read().split() if line.isdigit()]
            finally:
                writer.kill()
                writer.communicate()
            mnt.start()
            content = mnt.bytes("w")[:4000]
            assert content == content[:8] * 500
            assert int(content[:8]) >= (told[-1] if told else 199)


def test_fsync(mount, saved):
    """It makes earlier edits of other files durable as well; here only that it succeeds wherever it is called."""
    with mount(saved) as mnt:
        overwrite(mnt.file("v"), 0, b"before")
        for flags in (os.O_RDONLY, os.O_RDWR):
            with opened(mnt.file("w"), flags) as fd:
                os.fsync(fd)
                os.fdatasync(fd)
        with opened(mnt.path / "initializers", os.O_RDONLY) as fd:
            os.fsync(fd)
        kill_and_remount(mnt)
        assert mnt.bytes("v")[:6] == b"before"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_save_what_is_open(mount, saved, number):
    with mount(saved) as mnt:
        with opened(mnt.file("w"), os.O_RDWR) as fd:
            os.pwrite(fd, b"saved", 5)
            os.kill(mnt.pid, number)
        assert mnt.ended() == 0
    with mount(saved) as mnt:
        assert mnt.bytes("w")[5:10] == b"saved"


def test_one_writer_by_whatever_path(mount, saved, tmp_path):
    """The edits of a link are its own, but what it leads to is edited by one mount at a time."""
    link = tmp_path / "links" / saved.name
    link.parent.mkdir()
    link.symlink_to(saved)
    with mount(saved) as first, mount(link) as second:
        overwrite(first.file("w"), 0, b"first")
        assert error_of(overwrite, second.file("v"), 0, b"second") == errno.EBUSY
        assert "another path" in second.text(".onnxfs/log.txt")
        assert second.bytes("w") == OLD
        first.finish()
        overwrite(second.file("v"), 0, b"second")
        assert second.bytes("v")[:6] == b"second"


def test_one_writer(mount, saved, tmp_path):
    """A second mount reads, is told EBUSY at its first write, and may write once the first has ended."""
    with mount(saved) as first, mount(saved) as second:
        assert second.bytes("w") == OLD
        overwrite(first.file("w"), 0, b"first")
        with unchanged(second.file("v")):
            assert error_of(overwrite, second.file("v"), 0, b"second") == errno.EBUSY
            assert error_of(replacement, second.file("v"), OLD) == errno.EBUSY
        assert second.bytes("e") == DATA[:4000]
        with mount(saved) as third:
            assert third.bytes("w")[:5] == b"first"
        first.finish()
        with mount(saved) as fourth:
            overwrite(fourth.file("v"), 0, b"fourth")
            assert fourth.bytes("w")[:5] == b"first"


def test_a_writer_that_was_killed_holds_nothing(mount, saved):
    with mount(saved) as first:
        overwrite(first.file("w"), 0, b"first")
        kill_daemon(first)
        with mount(saved) as second:
            overwrite(second.file("w"), 5, b"second")
            assert second.bytes("w")[:11] == b"firstsecond"
        first.start()


def test_tied_weights(mount, tmp_path):
    """Two tensors of one range of a data file have one content, which is edited through the first."""
    place = [("location", "m.data"), ("offset", "16"), ("length", "4000")]
    (tmp_path / "m.data").write_bytes(DATA + DATA)
    write_model(tmp_path / "m.onnx", graph([tensor("embed", FLOAT, [1000], external=place),
                                            tensor("lm_head", FLOAT, [10, 100], external=place),
                                            tensor("own", FLOAT, [1000], external=[("location", "m.data"),
                                                                                   ("offset", "4016")])]))
    with mount(tmp_path / "m.onnx") as mnt:
        assert mnt.bytes("embed") == mnt.bytes("lm_head")
        overwrite(mnt.file("embed"), 8, b"tied")
        assert mnt.bytes("lm_head") == mnt.bytes("embed") == DATA[:8] + b"tied" + DATA[12:4000]
        assert error_of(open, mnt.file("lm_head"), "r+b") == errno.EROFS
        replacement(mnt.file("embed"), b"new!" * 1000)
        assert mnt.bytes("embed") == mnt.bytes("lm_head") == b"new!" * 1000
        assert mnt.json("embed")["edited"] and mnt.json("lm_head")["edited"] and not mnt.json("own")["edited"]
        kill_and_remount(mnt)
        assert mnt.bytes("embed") == mnt.bytes("lm_head") == b"new!" * 1000
        assert mnt.bytes("own") == DATA[:4000]


def test_mount_points_of_writers_are_named(mount, saved):
    """`status` of a model that is mounted and edited tells where."""
    with mount(saved) as mnt:
        overwrite(mnt.file("w"), 0, b"x")
        done = onnxfs("status", saved)
        assert done.returncode == 0, done.stderr
        assert str(mnt.path) in done.stdout
