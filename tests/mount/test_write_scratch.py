"""The tree is fixed, but for scratch files: programs that save safely write one and rename it over a tensor."""

import errno
import json
import os
import shutil
import subprocess

import pytest
from editable import overwrite
from editing import kill_and_remount, opened, sidecar_of, unchanged
from mounting import error_of, onnxfs, run
from onnx_wire import FLOAT, STRING, Message, graph, node, tensor, write_model

OLD = b"old!" * 2500
NEW = bytes(range(250)) * 40


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.onnx"
    constant = Message().string(1, "value").message(5, tensor("", FLOAT, [2], raw=b"constant")).varint(20, 4)
    write_model(path, graph([tensor("w", FLOAT, [2500], raw=OLD), tensor("v", FLOAT, [2500], raw=OLD),
                             tensor("in/side", FLOAT, [2], raw=b"12345678"),
                             tensor("s", STRING, [2]).bytes(6, b"one").bytes(6, b"two")],
                            [node("Constant", [], ["c"], "c", [constant])]))
    (tmp_path / "new").write_bytes(NEW)
    os.utime(path, (1, 1))  # rsync takes files of one size and time for equal
    return path


@pytest.fixture
def mnt(mount, model):
    with mount(model) as mounted:
        yield mounted


def folder(mnt):
    return mnt.path / "initializers"


def names(mnt):
    return sorted(os.listdir(folder(mnt)))


def make(path, content=b"scratch"):
    path.write_bytes(content)
    return path


CHANGES = {
    "unlink": lambda path, other, place: os.unlink(path),
    "rename away": lambda path, other, place: os.rename(path, place / "away"),
    "rename out": lambda path, other, place: os.rename(path, place.parent / "w.bin"),
    "rename over another": lambda path, other, place: os.rename(path, other),
    "rename a json away": lambda path, other, place: os.rename(path.with_suffix(".json"), place / "x.json"),
    "rename a folder": lambda path, other, place: os.rename(place / "in", place / "out"),
    "link": lambda path, other, place: os.link(path, place / "x.bin"),
    "symlink": lambda path, other, place: os.symlink("w.bin", place / "x.bin"),
    "mkdir": lambda path, other, place: os.mkdir(place / "new"),
    "rmdir": lambda path, other, place: os.rmdir(place / "in"),
    "mkfifo": lambda path, other, place: os.mkfifo(place / "fifo"),
    "create at the top": lambda path, other, place: os.open(place.parent / "new", os.O_CREAT | os.O_WRONLY),
    "create in .onnxfs": lambda path, other, place: os.open(place.parent / ".onnxfs/x", os.O_CREAT | os.O_WRONLY),
    "unlink a derived file": lambda path, other, place: os.unlink(place.parent / "index.tsv"),
    "rename a derived file": lambda path, other, place: os.rename(place.parent / "index.tsv", place.parent / "i"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_tree_is_fixed(mnt, name):
    before = sorted(str(path) for path in mnt.path.rglob("*"))
    with unchanged(mnt.file("w")), unchanged(mnt.file("v")):
        assert error_of(CHANGES[name], mnt.file("w"), mnt.file("v"), folder(mnt)) == errno.EPERM
    assert sorted(str(path) for path in mnt.path.rglob("*")) == before


def test_a_scratch_file_is_a_file(mnt):
    """It is listed, written, read, resized, mapped and removed like any other while it is there."""
    path = folder(mnt) / ".w.bin.swp"
    with opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL) as fd:
        assert os.write(fd, b"hello") == 5
        assert os.pwrite(fd, b"!", 10_000) == 1
        assert os.fstat(fd).st_size == path.stat().st_size == 10_001
        os.ftruncate(fd, 7)
        assert os.pread(fd, 100, 0) == b"hello\0\0"
        os.fsync(fd)
    assert ".w.bin.swp" in names(mnt)
    assert path.read_bytes() == b"hello\0\0"
    assert error_of(os.open, path, os.O_CREAT | os.O_EXCL | os.O_WRONLY) == errno.EEXIST
    os.rename(path, folder(mnt) / "w.bin~")
    assert (folder(mnt) / "w.bin~").read_bytes() == b"hello\0\0" and not path.exists()
    os.chmod(folder(mnt) / "w.bin~", 0o600)
    os.utime(folder(mnt) / "w.bin~")
    (folder(mnt) / "w.bin~").write_bytes(b"again")
    assert (folder(mnt) / "w.bin~").read_bytes() == b"again"
    (folder(mnt) / "w.bin~").unlink()
    assert "w.bin~" not in names(mnt)


def test_scratch_files_are_in_any_tensor_folder(mnt):
    for place in ("initializers", "initializers/in", "attributes/c"):
        path = make(mnt.path / place / "tmp.1")
        assert path.read_bytes() == b"scratch"
        path.unlink()


def test_a_scratch_file_that_is_removed_while_open(mnt):
    with opened(folder(mnt) / "tmp", os.O_RDWR | os.O_CREAT) as fd:
        os.write(fd, b"still there")
        os.unlink(folder(mnt) / "tmp")
        assert os.pread(fd, 100, 0) == b"still there"
    assert "tmp" not in names(mnt)


@pytest.mark.parametrize("end", ["unmount", "kill"])
def test_scratch_files_vanish_with_the_mount(mount, model, end):
    before = sorted(os.listdir(model.parent))
    with mount(model) as mnt:
        make(folder(mnt) / "left", NEW * 3000)  # 30 MB
        if end == "kill":
            kill_and_remount(mnt)
            assert "left" not in names(mnt)
    with mount(model) as mnt:
        assert "left" not in names(mnt)
        overwrite(mnt.file("w"), 0, b"x")
        assert mnt.bytes("w") == b"x" + OLD[1:]
    assert set(os.listdir(model.parent)) <= {*before, sidecar_of(model).name}
    assert sum(file.stat().st_size for file in sidecar_of(model).rglob("*")) < 20_000_000


def test_rename_over_a_tensor(mnt):
    inode = mnt.file("w").stat().st_ino
    scratch = make(folder(mnt) / "w.tmp", NEW)
    os.rename(scratch, mnt.file("w"))
    assert mnt.bytes("w") == NEW
    assert (mnt.file("w").stat().st_ino, mnt.file("w").stat().st_size) == (inode, len(NEW))
    assert "w.tmp" not in names(mnt)
    assert error_of(os.stat, scratch) == errno.ENOENT


@pytest.mark.parametrize("content", [b"", NEW[:-1], NEW + b"x"], ids=["empty", "short", "long"])
def test_rename_of_a_wrong_size(mnt, content):
    scratch = make(folder(mnt) / "w.tmp", content)
    with unchanged(mnt.file("w")):
        assert error_of(os.rename, scratch, mnt.file("w")) == errno.EINVAL
    assert scratch.read_bytes() == content


def test_rename_from_another_folder(mnt):
    scratch = make(folder(mnt) / "in" / "w.tmp", NEW)
    os.rename(scratch, mnt.file("w"))
    assert mnt.bytes("w") == NEW


def test_rename_from_outside_is_a_copy(mnt, tmp_path):
    assert error_of(os.rename, tmp_path / "new", mnt.file("w")) == errno.EXDEV
    (folder(mnt) / "x").write_bytes(NEW)
    assert error_of(os.rename, folder(mnt) / "x", tmp_path / "x") == errno.EXDEV


def test_rename_that_must_not_replace(mnt):
    """Without overwriting (RENAME_NOREPLACE), and exchanging two names (RENAME_EXCHANGE)."""
    scratch = make(folder(mnt) / "w.tmp", NEW)
    with unchanged(mnt.file("w")):
        assert run("mv", "-n", scratch, mnt.file("w")) is not None
    assert scratch.read_bytes() == NEW


def test_rename_while_the_scratch_file_is_open(mnt):
    """What is written through a handle that outlives the rename edits the tensor, or is an error."""
    fd = os.open(folder(mnt) / "w.tmp", os.O_RDWR | os.O_CREAT)
    os.write(fd, NEW)
    os.rename(folder(mnt) / "w.tmp", mnt.file("w"))
    assert mnt.bytes("w") == NEW
    wrote = error_of(os.pwrite, fd, b"late", 0) is None
    closed = error_of(os.close, fd) is None
    assert mnt.bytes("w") in ([b"late" + NEW[4:], NEW] if wrote and closed else [NEW])


def test_rename_over_strings(mnt):
    content = b"\1\0\0\0a" + b"\5\0\0\0bcdef"
    os.rename(make(folder(mnt) / "t", content), mnt.file("s"))
    assert mnt.bytes("s") == content
    assert mnt.file("s").stat().st_size == len(content)
    scratch = make(folder(mnt) / "t", content + content)
    assert error_of(os.rename, scratch, mnt.file("s")) == errno.EINVAL
    assert mnt.bytes("s") == content


def test_python_safe_save(mnt):
    temporary = folder(mnt) / ".w.bin.1234"
    with open(temporary, "xb") as file:
        file.write(NEW)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, mnt.file("w"))
    fd = os.open(folder(mnt), os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(fd)
    os.close(fd)
    assert mnt.bytes("w") == NEW


@pytest.mark.parametrize("command", [
    "rsync --inplace {new} {w}", "rsync {new} {w}", "rsync -a --no-whole-file {new} {w}",
    "rsync --inplace --no-whole-file --checksum {new} {w}",
    "cp {new} {w}.tmp && mv {w}.tmp {w}", "cp --attributes-only {new} {w}; cat {new} > {w}",
    "python3 -c 'import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])' {new} {w}",
])
def test_programs(mnt, tmp_path, command):
    command = command.format(new=tmp_path / "new", w=mnt.file("w"))
    if not shutil.which(command.split()[0]):
        pytest.skip(f"no {command.split()[0]}")
    done = run("bash", "-c", command)
    assert mnt.bytes("w") == NEW, done.stderr
    if not command.startswith("rsync -a"):  # which also wants to set owner, mode or times
        assert done.returncode == 0, done.stderr
    assert names(mnt) == ["in", "s.bin", "s.json", "v.bin", "v.json", "w.bin", "w.json"]


def test_rsync_of_a_folder(mnt, tmp_path):
    """What `rsync` copied out and somebody edited goes back with `rsync`, and only what differs is written."""
    if not shutil.which("rsync"):
        pytest.skip("no rsync")
    assert run("rsync", "-r", f"{folder(mnt)}/", tmp_path / "copy/").returncode == 0
    (tmp_path / "copy" / "w.bin").write_bytes(NEW)
    done = run("rsync", "-r", "--checksum", "--inplace", f"{tmp_path / 'copy'}/", f"{folder(mnt)}/")
    assert done.returncode == 0, done.stderr
    assert (mnt.bytes("w"), mnt.bytes("v")) == (NEW, OLD)
    assert mnt.json("w")["edited"] and not mnt.json("v")["edited"]


@pytest.mark.parametrize("command", ["install -m 644 {new} {w}", "mv {new} {w}", "cp --remove-destination {new} {w}",
                                     "rsync -c --temp-dir={there} {new} {w}", "rm -f {w}", "ln -f {new} {w}"])
def test_programs_that_remove_first(mnt, tmp_path, command):
    """From another file system, mv and others unlink what they replace: not to be had. They say so, and nothing changes."""
    (tmp_path / "there").mkdir()
    with unchanged(mnt.file("w")):
        done = run("bash", "-c", command.format(new=tmp_path / "new", w=mnt.file("w"), there=tmp_path / "there"))
        assert done.returncode != 0
        assert "not permitted" in done.stderr or "cross-device" in done.stderr
    assert (tmp_path / "new").read_bytes() == NEW


def test_vim(mnt, tmp_path):
    """A swap file, a backup, a trial file named 4913, and a file that is written over."""
    if not shutil.which("vim"):
        pytest.skip("no vim")
    done = subprocess.run(["vim", "-u", "NONE", "-es", "-c", "set binary noeol", "-c", "%s/old!/new?/g", "-c", "wq",
                           str(mnt.file("w"))], stdin=subprocess.DEVNULL, capture_output=True, timeout=20,
                          env={**os.environ, "TERM": "dumb", "HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert mnt.bytes("w") == OLD.replace(b"old!", b"new?")
    assert names(mnt) == ["in", "s.bin", "s.json", "v.bin", "v.json", "w.bin", "w.json"]


def test_an_editor_that_keeps_a_backup(mnt):
    """Emacs and others rename the file to its backup first: that is refused, and they write over it instead."""
    assert error_of(os.rename, mnt.file("w"), folder(mnt) / "w.bin~") == errno.EPERM
    (folder(mnt) / "w.bin~").write_bytes(mnt.bytes("w"))
    mnt.file("w").write_bytes(NEW)
    (folder(mnt) / "w.bin~").unlink()
    assert mnt.bytes("w") == NEW


def test_many_scratch_files(mnt):
    for number in range(300):
        make(folder(mnt) / f"t{number}", b"%d" % number)
    assert len(names(mnt)) == 307
    for number in range(300):
        assert (folder(mnt) / f"t{number}").read_bytes() == b"%d" % number
        (folder(mnt) / f"t{number}").unlink()
    assert len(names(mnt)) == 7


def test_what_is_left_is_told_at_the_unmount(mount, model, tmp_path):
    with mount(model) as mnt:
        make(folder(mnt) / "W.bin", OLD)  # w.bin was meant
        make(folder(mnt) / ".w.bin.swp")
        left = {f"initializers/{name}" for name in ("W.bin", ".w.bin.swp")}
        assert set(json.loads((mnt.path / ".onnxfs" / "status.json").read_text())["scratch_files"]) == left
        done = onnxfs("umount", "--commit", mnt.path)
        assert done.returncode == 1 and "initializers/W.bin shows no tensor" in done.stderr, done.stderr
        os.rename(folder(mnt) / "W.bin", folder(mnt) / "w.bin")
        done = onnxfs("umount", "--commit", mnt.path)
        assert done.returncode == 0 and "initializers/.w.bin.swp showed no tensor" in done.stderr, done.stderr


def test_what_is_left_in_a_folder_of_models_is_told(mount, model):
    with mount(model.parent) as mnt:
        make(mnt.path / "m.onnx" / "initializers" / "W.bin")
        done = onnxfs("umount", mnt.path)
        assert done.returncode == 0 and "m.onnx/initializers/W.bin showed no tensor" in done.stderr, done.stderr


def test_a_folder_of_models_says_why_it_refused(mount, model):
    with mount(model.parent) as mnt:
        file = mnt.path / "m.onnx" / "initializers" / "w.bin"
        assert error_of(file.write_bytes, b"four") == errno.EINVAL
        assert "4 bytes were written" in (mnt.path / ".onnxfs" / "log.txt").read_text()
        assert sorted(os.listdir(mnt.path / ".onnxfs")) == ["log.txt", "status.json"]
