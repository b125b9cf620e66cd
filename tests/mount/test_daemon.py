"""The life of a mount: it comes up, it is ended in all the ways there are, and it survives or heals what goes wrong."""

import errno
import os
import re
import signal
import struct
import subprocess

import pytest
from editable import overwrite
from mounting import BINARY, Mount, daemons, error_of, mounts_at, onnxfs, refusal, run, tried, unmount, until
from onnx_wire import FLOAT, graph, tensor, write_model

BIG = struct.pack("<I", 7) * (1 << 20)  # 4 MiB: more than a read-ahead takes in


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.onnx"
    (tmp_path / "m.data").write_bytes(b"external")
    write_model(path, graph([tensor("w", FLOAT, [2], raw=b"12345678"), tensor("big", FLOAT, [1 << 20], raw=BIG),
                             tensor("e", FLOAT, [2], external=[("location", "m.data")])]))
    return path


@pytest.fixture
def started(model, tmp_path):
    """A mount that the test ends itself, on a mount point that was there before."""
    mount = Mount(model, tmp_path / "mnt")
    mount.path.mkdir()
    try:
        yield mount.start()
    finally:
        mount.give_up()


ENDINGS = {
    "umount": lambda mount: unmount(mount.path),
    "fusermount3": lambda mount: run("fusermount3", "-u", mount.path),
    "onnxfs umount": lambda mount: onnxfs("umount", mount.path),
    "SIGTERM": lambda mount: os.kill(mount.pid, signal.SIGTERM),
    "SIGINT": lambda mount: os.kill(mount.pid, signal.SIGINT),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("there", [True, False], ids=["existing", "missing"])
def test_ends(model, tmp_path, ending, there):
    """The daemon ends with 0, nothing stays mounted, and a mount point that was made for it is gone."""
    path = tmp_path / "mnt"
    if there:
        path.mkdir()
    with tried(model, path) as (mount, done):
        assert mount, done.stderr
        assert (done.stdout, done.stderr) == ("", "")
        assert mount.bytes("w") == b"12345678"
        result = ENDINGS[ending](mount)
        assert result is None or (result.returncode, result.stderr) == (0, "")
        assert mount.ended() == 0
        until(lambda: not mounts_at(path), "unmounted")
        assert path.exists() == there


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_foreground(model, tmp_path, number):
    path = tmp_path / "mnt"
    process = subprocess.Popen([BINARY, model, path, "-f"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: mounts_at(path) and error_of(os.stat, path / "index.tsv") is None, "the mount answers")
        assert (path / "initializers" / "w.bin").read_bytes() == b"12345678"
        assert process.poll() is None
        process.send_signal(number)
        process.communicate(timeout=10)
        assert process.returncode == 0
        assert not mounts_at(path) and not path.exists()
    finally:
        process.kill()
        process.wait()
        run("umount", "-l", path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_while_a_file_is_open(started, number):
    """The mount goes at once, the open file can be read to its end, then the daemon ends."""
    with open(started.file("big"), "rb", buffering=0) as file:
        assert file.read(4) == BIG[:4]
        os.kill(started.pid, number)
        until(lambda: not mounts_at(started.path), "unmounted while a file is open")
        assert error_of(os.stat, started.file("big")) == errno.ENOENT
        assert os.waitpid(started.pid, os.WNOHANG) == (0, 0), "it ended while a file was open"
        rest = b""
        while len(rest) < len(BIG) - 4:
            piece = file.read(1 << 20)
            assert piece, "the open file ends early"
            rest += piece
        assert rest == BIG[4:]
        assert os.waitpid(started.pid, os.WNOHANG) == (0, 0)
    assert started.ended() == 0


def test_answers_when_the_command_ends(model, tmp_path):
    """Exit status 0 means that the mount can be used: no first look comes too early."""
    for _ in range(20):
        with tried(model, tmp_path / "mnt") as (mount, done):
            assert mount, done.stderr
            assert os.path.exists(mount.file("w"))


def test_relative_paths(model, tmp_path):
    """The daemon changes its folder; what it was given, external data too, is found all the same."""
    mount = Mount(model, tmp_path / "mnt")
    try:
        done = onnxfs(model.name, "mnt", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        mount.attach("mnt")
        assert (mount.bytes("w"), mount.bytes("e")) == (b"12345678", b"external")
        assert run("umount", mount.path).returncode == 0
        assert mount.ended() == 0
        assert not mount.path.exists()
    finally:
        mount.give_up()


def test_mount_is_a_word(model, tmp_path):
    """`onnxfs mount MODEL MNT` is the same."""
    mount = Mount(model, tmp_path / "mnt")
    try:
        done = onnxfs("mount", model, mount.path)
        assert done.returncode == 0, done.stderr
        assert mount.attach().bytes("e") == b"external"
    finally:
        mount.give_up()


def test_odd_characters_in_paths(tmp_path):
    folder = tmp_path / "mod\u00e9l fol,der"
    folder.mkdir()
    write_model(folder / "the model's.onnx", graph([tensor("w", FLOAT, [2], raw=b"12345678")]))
    with tried(folder / "the model's.onnx", folder / "a mnt, b\\c") as (mount, done):
        assert mount, done.stderr
        assert mounts_at(mount.path) == 1
        assert mount.bytes("w") == b"12345678"
        assert onnxfs("umount", mount.path).returncode == 0
        assert mount.ended() == 0


def test_mount_point_in_use(started, model):
    line = refusal(model, started.path)
    assert str(started.path) in line
    assert started.bytes("w") == b"12345678"
    assert mounts_at(started.path) == 1


def test_mount_point_is_a_file(model, tmp_path):
    (tmp_path / "file").write_bytes(b"kept")
    assert "file" in refusal(model, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"kept"


def test_mount_point_cannot_be_made(model, tmp_path):
    assert str(tmp_path) in refusal(model, tmp_path / "m.onnx" / "mnt")


def test_mount_point_with_files_in_it(model, tmp_path):
    """They are hidden while the model is mounted, as with any mount, and there again afterwards."""
    (tmp_path / "mnt").mkdir()
    (tmp_path / "mnt" / "kept").write_bytes(b"kept")
    with tried(model, tmp_path / "mnt") as (mount, done):
        assert mount, done.stderr
        assert (done.stdout, done.stderr) == ("", f"onnxfs: {tmp_path / 'mnt'} is not empty; the files in it are hidden "
                                                  "while the model is mounted there\n")
        assert "kept" not in os.listdir(mount.path)
    assert (tmp_path / "mnt" / "kept").read_bytes() == b"kept"


def test_mount_over_the_folder_of_the_model(model, tmp_path):
    """The daemon has opened what it needs: it must not look for external data in its own mount."""
    with tried(model, model.parent) as (mount, done):
        assert mount, done.stderr
        assert (mount.bytes("w"), mount.bytes("e"), mount.bytes("big")) == (b"12345678", b"external", BIG)
        assert os.statvfs(mount.path).f_blocks > 0
        assert "read-only; mount elsewhere to edit" in done.stderr
        assert error_of(os.open, mount.file("w"), os.O_WRONLY) == errno.EROFS
    assert model.exists()


def test_mount_over_the_folder_of_the_edits(model, tmp_path):
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    with tried(model, mnt, "--sidecar", mnt / "edits") as (mount, done):
        assert "read-only; mount elsewhere to edit" in done.stderr
        assert error_of(os.open, mount.file("w"), os.O_WRONLY) == errno.EROFS
    # A link to the model is what edits are found by.
    (mnt / "link.onnx").symlink_to(model)
    with tried(mnt / "link.onnx", mnt, "--sidecar", tmp_path / "mnt2") as (mount, done):
        assert "read-only; mount elsewhere to edit" in done.stderr
    # Beside the mount, they are in sight.
    with tried(model, mnt, "--sidecar", tmp_path / "mnt2") as (mount, done):
        overwrite(mount.file("w"), 0, b"W")
        assert "read-only" not in done.stderr
    assert (tmp_path / "mnt2" / "base.json").exists()


@pytest.mark.parametrize("word", ["link", "mnt/", "./mnt", "../{0}/mnt"])
def test_other_words_for_a_mount_point(model, tmp_path, word):
    """A link to the folder, a slash at its end: what mounts there can be unmounted by the same word."""
    (tmp_path / "mnt").mkdir()
    (tmp_path / "link").symlink_to("mnt")
    word = word.format(tmp_path.name)
    mount = Mount(model, tmp_path / "mnt")
    try:
        done = onnxfs(model, word, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert mounts_at(mount.path) == 1
        assert mount.attach(word).bytes("e") == b"external"
        done = onnxfs("umount", word, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert mount.ended() == 0
        assert mount.path.is_dir() and (tmp_path / "link").is_symlink()
    finally:
        mount.give_up()


@pytest.mark.limit(90)
@pytest.mark.skipif(os.getuid() != 0, reason="umount(8) is root's")
def test_mounting_again_at_once(model, tmp_path):
    """A mount that follows an unmount without a pause neither fails nor keeps the mount point that was made."""
    path = tmp_path / "mnt"
    once = '"$1" "$2" "$3" && grep \'"pid"\' "$3/.onnxfs/status.json" && umount "$3"'
    for turn in range(100):
        mounts = [Mount(model, path), Mount(model, path)]
        try:
            done = run("sh", "-c", f"{once} && {once}", "sh", BINARY, model, path)
            assert (done.returncode, done.stderr) == (0, "")
            for mount, pid in zip(mounts, re.findall(r"\d+", done.stdout), strict=True):
                mount.pid = int(pid)
            assert [mount.ended() for mount in mounts] == [0, 0]
            assert not path.exists(), f"turn {turn}: the mount point is left behind"
        finally:
            for mount in mounts:
                mount.give_up()


def test_two_mounts_of_one_model(started, model, tmp_path):
    with tried(model, tmp_path / "second") as (second, done):
        assert second, done.stderr
        assert second.bytes("big") == started.bytes("big") == BIG


def kill(mount):
    """Leaves a dead mount. For a while the kernel goes on answering from what it remembers of it."""
    assert {"initializers", "index.tsv"} <= set(os.listdir(mount.path))
    assert os.stat(mount.path).st_ino and mount.bytes("w") == b"12345678"
    os.kill(mount.pid, signal.SIGKILL)
    assert mount.ended() == -signal.SIGKILL
    assert mounts_at(mount.path) == 1


def test_mounting_again_heals_a_dead_mount(started):
    kill(started)
    started.start()
    assert mounts_at(started.path) == 1
    assert started.bytes("big") == BIG


def test_mounting_again_heals_several_dead_mounts(started, model):
    """Whoever unmounts lazily or stacks mounts by force leaves more than one."""
    kill(started)
    started.start()
    kill(started)
    started.start()
    assert mounts_at(started.path) == 1
    assert started.bytes("w") == b"12345678"


def test_a_dead_mount_is_healed_through_a_link(started, model, tmp_path):
    kill(started)
    (tmp_path / "link").symlink_to("mnt")
    done = onnxfs(model, tmp_path / "link")
    assert done.returncode == 0, done.stderr
    assert started.attach(str(tmp_path / "link")).bytes("w") == b"12345678"
    assert mounts_at(started.path) == 1


def test_umount_clears_a_dead_mount(started):
    kill(started)
    assert onnxfs("umount", started.path).returncode == 0
    assert not mounts_at(started.path)
    assert os.listdir(started.path) == []


def test_dead_mount_is_healed_in_the_foreground_too(started, model):
    kill(started)
    process = subprocess.Popen([BINARY, model, started.path, "-f"], stderr=subprocess.DEVNULL)
    try:
        until(lambda: process.poll() is not None or error_of(started.bytes, "e") is None, "the mount answers")
        assert process.poll() is None
        process.terminate()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()


def test_the_daemon_holds_no_terminal_and_no_folder(started, tmp_path):
    """Its standard streams lead nowhere, it leads a session of its own, and it keeps no folder busy."""
    for fd in (0, 1, 2):
        assert os.readlink(f"/proc/{started.pid}/fd/{fd}") == "/dev/null"
    assert os.getsid(started.pid) != os.getsid(0)
    assert os.readlink(f"/proc/{started.pid}/cwd") == "/"


def test_a_start_that_fails_leaves_nothing(model, tmp_path):
    assert "no_such_option" in refusal(model, tmp_path / "mnt", "-o", "no_such_option")
    until(lambda: not daemons(), "no process is left")
