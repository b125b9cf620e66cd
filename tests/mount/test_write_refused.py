"""What cannot be edited says so with EROFS, and looks it where the whole mount is read-only."""

import errno
import os
import stat

import pytest
from editable import overwrite
from editing import opened, sidecar_of, unchanged
from mounting import Mount, error_of, onnxfs, run
from onnx_wire import FLOAT, STRING, Message, graph, node, tensor, write_model

DATA = b"12345678"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.onnx"
    attributes = [Message().string(1, key).bytes(4, value).varint(20, 3)
                  for key, value in (("filename", os.fsencode(tmp_path / "d.bin")),)]
    (tmp_path / "d.bin").write_bytes(DATA)
    delayed = node("DelayedInitializer", [], ["late"], "late", [
        *attributes, Message().string(1, "dtype").varint(3, 1).varint(20, 2),
        Message().string(1, "shape").varint(8, 2).varint(20, 7)], domain="ai.rt")
    write_model(path, graph([
        tensor("w", FLOAT, [2], raw=DATA), tensor("wrong size", FLOAT, [3], raw=DATA),
        tensor("no data", FLOAT, [2]), tensor("unknown", 99, [2], raw=DATA), tensor("undefined", 0, [2], raw=DATA),
        tensor("missing", FLOAT, [2], external=[("location", "missing.data")]),
        tensor("outside", FLOAT, [2], external=[("location", "../outside")]),
        tensor("bad strings", STRING, [2]).bytes(6, b"one"),
    ], [delayed, node("Relu", ["w"], ["y"])]))
    return path


@pytest.fixture
def mnt(mount, model):
    with mount(model) as mounted:
        yield mounted


FLAGS = {"write": os.O_WRONLY, "read and write": os.O_RDWR, "truncate": os.O_WRONLY | os.O_TRUNC,
         "append": os.O_WRONLY | os.O_APPEND}
NOT_EDITABLE = ["initializers/wrong size.bin", "initializers/no data.bin", "initializers/unknown.bin",
                "initializers/undefined.bin", "initializers/missing.bin", "initializers/outside.bin",
                "initializers/bad strings.bin", "delayed/late.bin",
                "model.json", "index.tsv", "graph.txt", "problems.txt", ".onnxfs/status.json"]


@pytest.mark.parametrize("name", NOT_EDITABLE)
def test_erofs(mnt, model, name):
    assert os.access(mnt.path / name, os.R_OK) and not os.access(mnt.path / name, os.W_OK)
    for words, flags in FLAGS.items():
        assert error_of(os.open, mnt.path / name, flags) == errno.EROFS, words
    assert error_of(os.truncate, mnt.path / name, 0) == errno.EROFS
    assert not sidecar_of(model).exists()


@pytest.mark.parametrize("name", [name for name in NOT_EDITABLE if "/" in name and "status" not in name])
def test_erofs_by_rename(mnt, name):
    folder = (mnt.path / name).parent
    (folder / "scratch").write_bytes(DATA)
    assert error_of(os.rename, folder / "scratch", mnt.path / name) == errno.EROFS
    (folder / "scratch").unlink()


def test_modes(mnt):
    """What can be written looks so; nothing is ever executable, or a link."""
    assert stat.S_IMODE(mnt.file("w").stat().st_mode) == 0o644
    assert stat.S_IMODE(mnt.file("w", ".json").stat().st_mode) == 0o644
    for path in mnt.path.rglob("*"):
        if path.is_file():
            assert stat.S_IMODE(path.lstat().st_mode) in (0o644, 0o444), path
            assert path.lstat().st_nlink == 1


def test_owner_mode_and_times_stay(mnt):
    """Programs that copy set them as well, so what changes nothing succeeds."""
    path = mnt.file("w")
    before = path.stat()
    for attempt in (lambda: os.chmod(path, 0o600), lambda: os.chown(path, 12345, 12345)):
        assert error_of(attempt) in (None, errno.EPERM)
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert path.read_bytes() == DATA


def test_xattrs_are_read_only(mnt):
    assert error_of(os.setxattr, mnt.file("w"), "user.onnx.dtype", b"int32") in (errno.EPERM, errno.EROFS,
                                                                                errno.EOPNOTSUPP)
    assert os.getxattr(mnt.file("w"), "user.onnx.dtype") == b"float32"


@pytest.fixture
def read_only(mount, model):
    with mount(model, "ro") as mounted:
        yield mounted


def test_read_only_mount(read_only, model):
    path = read_only.file("w")
    for words, flags in FLAGS.items():
        assert error_of(os.open, path, flags) == errno.EROFS, words
    assert run("cp", model, path).returncode != 0
    for file in read_only.path.rglob("*"):
        if file.is_file():
            assert stat.S_IMODE(file.stat().st_mode) == 0o444
    assert read_only.bytes("w") == DATA
    assert not sidecar_of(model).exists()


def test_read_only_mount_shows_edits(mount, model):
    with mount(model) as mnt:
        overwrite(mnt.file("w"), 2, b"edit")
    with mount(model, "ro") as mnt:
        assert mnt.bytes("w") == b"12edit78"
        assert mnt.json("w")["edited"] is True


def test_a_folder_that_cannot_be_written(mount, model):
    """Reads go on; the first write says what is wrong, and leaves nothing."""
    run("chattr", "+i", model.parent)
    try:
        if error_of((model.parent / "probe").touch) is None:
            pytest.skip("no folder here is immutable")
        with mount(model) as mnt, unchanged(mnt.file("w")):
            assert error_of(overwrite, mnt.file("w"), 0, b"x") in (errno.EPERM, errno.EACCES, errno.EROFS)
    finally:
        run("chattr", "-i", model.parent)
    with mount(model) as mnt:
        overwrite(mnt.file("w"), 0, b"x")
        assert mnt.bytes("w") == b"x" + DATA[1:]


def test_a_sidecar_elsewhere(mount, model, tmp_path):
    mnt = Mount(model, tmp_path / "mnt")
    try:
        for turn in (b"one", b"two"):
            done = onnxfs(model, mnt.path, "--sidecar", tmp_path / "edits")
            assert done.returncode == 0, done.stderr
            mnt.attach()
            assert mnt.bytes("w")[:3] == (DATA[:3] if turn == b"one" else b"one")
            overwrite(mnt.file("w"), 0, turn)
            mnt.finish()
    finally:
        mnt.give_up()
    assert (tmp_path / "edits").is_dir() and not sidecar_of(model).exists()
    assert stat.S_IMODE((tmp_path / "edits").stat().st_mode) == 0o700
    with mount(model) as plain:
        assert plain.bytes("w") == DATA


def test_nothing_is_made_before_the_first_write(mount, model):
    before = sorted(os.listdir(model.parent))
    with mount(model) as mnt:
        assert mnt.bytes("w") == DATA
        with opened(mnt.file("w"), os.O_RDWR):
            pass
        assert error_of(os.open, mnt.file("missing"), os.O_RDWR) == errno.EROFS
        assert sorted(os.listdir(model.parent)) == before
        overwrite(mnt.file("w"), 0, b"x")
        sidecar = sidecar_of(model)
        assert sorted(os.listdir(model.parent)) == sorted([*before, sidecar.name])
        assert stat.S_IMODE(sidecar.stat().st_mode) == 0o700
        assert all(not stat.S_IMODE(path.stat().st_mode) & 0o077 for path in sidecar.rglob("*"))
