"""A folder of models as one mount."""

import json
import os
import shutil
import struct

import pytest
from editable import overwrite
from mounting import SLOWNESS, Mount, anonymous_memory, onnxfs, refusal, run, until
from onnx_wire import FLOAT, Hole, graph, tensor, write_model


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def write(path, *values):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_model(path, graph([tensor("w", FLOAT, [len(values)], raw=floats(*values))]))


def names(folder):
    return sorted(os.listdir(folder))


@pytest.fixture
def zoo(tmp_path):
    zoo = tmp_path / "zoo"
    write(zoo / "a.onnx", 1)
    write(zoo / "sub/deeper/b.onnx", 2)
    (zoo / "sub/value.pb").write_bytes(tensor("v", FLOAT, [1], raw=floats(3)).to_bytes())
    (zoo / "sub/notes.txt").write_text("not shown")
    (zoo / "broken.onnx").write_bytes(b"PK\x03\x04" + bytes(100))
    (zoo / "folder.onnx").mkdir()
    (zoo / "folder.onnx" / "c.onnx").symlink_to("../a.onnx")
    (zoo / "loop").symlink_to(".")
    return zoo


@pytest.fixture
def mount_at():
    """Mounts a folder at a path of the test's; the mounts end with it."""
    made = []

    def start(folder, path):
        path.mkdir()
        made.append(Mount(folder, path))
        return made[-1].start()

    yield start
    for each in reversed(made):
        each.give_up()


def test_layout(mount, zoo):
    with mount(zoo) as mnt:
        assert names(mnt.path) == [".onnxfs", "a.onnx", "broken.onnx", "folder.onnx", "sub"]
        assert names(mnt.path / "sub") == ["deeper", "value.pb"]
        assert (mnt.path / "a.onnx/initializers/w.bin").read_bytes() == floats(1)
        assert (mnt.path / "sub/deeper/b.onnx/initializers/w.bin").read_bytes() == floats(2)
        assert (mnt.path / "sub/value.pb/values/v.bin").read_bytes() == floats(3)
        assert (mnt.path / "folder.onnx/c.onnx/initializers/w.bin").read_bytes() == floats(1)
        assert os.getxattr(mnt.path / "a.onnx/initializers/w.bin", "user.onnx.dtype") == b"float32"
        assert json.loads(mnt.text(".onnxfs/status.json"))["model"] == str(zoo)
        assert not (mnt.path / "a.onnx/.onnxfs").exists()
        assert not (mnt.path / "nothing").exists() and not (mnt.path / "a.onnx/nothing").exists()


def test_commands_take_the_folder_of_a_model(mount, zoo):
    with mount(zoo) as mnt:
        overwrite(mnt.path / "sub/deeper/b.onnx/initializers/w.bin", 0, floats(7))
        done = onnxfs("status", "--json", mnt.path / "sub/deeper/b.onnx")
        status = json.loads(done.stdout)
        assert status["model"] == str(zoo / "sub/deeper/b.onnx")
        assert [edit["bin"] for edit in status["edits"]] == ["initializers/w.bin"]
        assert "Nothing is edited in" in onnxfs("status", mnt.path / "a.onnx").stdout
        for path in (mnt.path / "sub", mnt.path / "a.onnx/initializers"):
            assert str(path) in refusal("status", path)
        assert "ask for a model by its path" in refusal("status", mnt.path)


def test_what_cannot_be_parsed(mount, zoo):
    with mount(zoo) as mnt:
        assert names(mnt.path / "broken.onnx") == ["problems.txt"]
        problems = mnt.text("broken.onnx/problems.txt")
        assert "zip" in problems and len(problems.splitlines()) == 1


def evil(place, location):
    write_model(place, graph([tensor("w", FLOAT, [2], external=[("location", location), ("offset", "0"), ("length", "8")])]))


@pytest.mark.parametrize("link", [None, "mnt/evil.onnx/initializers/w.bin", "absolute", "sub/over"])
def test_data_in_its_own_mount(mount_at, zoo, link):
    """To open it would be to wait for oneself, which not even SIGKILL ends."""
    inside = "mnt/evil.onnx/initializers/w.bin"
    if link:
        (zoo / "over").symlink_to(inside)
        (zoo / "sub" / "over").symlink_to("../over")
        (zoo / "w.data").symlink_to(zoo / inside if link == "absolute" else link)
    evil(zoo / "evil.onnx", "w.data" if link else inside)
    mnt = mount_at(zoo, zoo / "mnt")
    assert "lies in a mount of onnxfs" in run("cat", mnt.path / "evil.onnx/problems.txt").stdout
    assert run("cat", mnt.path / "evil.onnx/initializers/w.bin").returncode != 0
    assert (mnt.path / "a.onnx/initializers/w.bin").read_bytes() == floats(1)


@pytest.mark.parametrize("target", ["mnt/x.onnx", "mnt/x.onnx/live/x.onnx", "mnt/sub/y.onnx/live/y.onnx"])
def test_a_model_that_is_a_link_into_its_own_mount(mount_at, zoo, target):
    (zoo / "x.onnx").symlink_to(target)
    (zoo / "sub" / "y.onnx").symlink_to(zoo / "mnt/x.onnx")
    mnt = mount_at(zoo, zoo / "mnt")
    for name in ("x.onnx", "sub/y.onnx"):
        assert run("stat", mnt.path / name).returncode != 0
    assert run("ls", mnt.path).stdout.split() == ["a.onnx", "broken.onnx", "folder.onnx", "sub"]


def test_a_link_into_its_own_mount_after_it_was_looked_at(mount_at, zoo):
    (zoo / "x.onnx").symlink_to("a.onnx")
    mnt = mount_at(zoo, zoo / "mnt")
    assert (mnt.path / "x.onnx").stat()
    (zoo / "x.onnx").unlink()
    (zoo / "x.onnx").symlink_to("mnt/x.onnx/live/x.onnx")
    assert run("ls", mnt.path / "x.onnx").returncode != 0


@pytest.mark.parametrize("link", ["a.onnx.sidecar", "a.onnx.sidecar/base.json", "a.onnx.sidecar/commit.journal"])
def test_edits_in_their_own_mount(mount_at, zoo, link):
    link = zoo / link
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(zoo / "mnt/a.onnx")
    mnt = mount_at(zoo, zoo / "mnt")
    assert run("ls", mnt.path / "a.onnx").returncode != 0
    assert f"{link} leads into a mount of onnxfs" in mnt.text(".onnxfs/log.txt")
    assert (mnt.path / "folder.onnx/c.onnx/initializers/w.bin").read_bytes() == floats(1)


def test_a_sidecar_that_becomes_a_link_into_its_own_mount(mount_at, zoo):
    mnt = mount_at(zoo, zoo / "mnt")
    weights = mnt.path / "a.onnx/initializers/w.bin"
    assert weights.read_bytes() == floats(1)
    (zoo / "a.onnx.sidecar").symlink_to("mnt/a.onnx/initializers")
    assert run("dd", f"of={weights}", "conv=notrunc", "if=/dev/zero", "bs=1", "count=1").returncode != 0
    assert run("touch", mnt.path / "a.onnx/initializers/scratch").returncode != 0
    assert weights.read_bytes() == floats(1)


def test_its_own_mount_in_an_overlay(mount_at, zoo):
    """Which is of another type in the mount table."""
    evil(zoo / "evil.onnx", "over/evil.onnx/initializers/w.bin")
    for name in ("over", "empty"):
        (zoo / name).mkdir()
    mnt = mount_at(zoo, zoo / "mnt")
    if run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={mnt.path}:{zoo / 'empty'}", zoo / "over").returncode:
        pytest.skip("no overlay can be mounted here")
    try:
        assert "lies in a mount of onnxfs" in run("cat", mnt.path / "evil.onnx/problems.txt").stdout
        assert run("cat", mnt.path / "evil.onnx/initializers/w.bin").returncode != 0
        assert (mnt.path / "a.onnx/initializers/w.bin").read_bytes() == floats(1)
    finally:
        assert run("umount", "-l", zoo / "over").returncode == 0


def test_a_folder_that_is_moved(mount, zoo):
    """Models are found, and their edits kept, where it is now."""
    with mount(zoo) as mnt:
        assert (mnt.path / "a.onnx/initializers/w.bin").read_bytes() == floats(1)
        moved = zoo.rename(zoo.with_name("moved"))
        assert (mnt.path / "sub/deeper/b.onnx/initializers/w.bin").read_bytes() == floats(2)
        overwrite(mnt.path / "sub/deeper/b.onnx/initializers/w.bin", 0, floats(7))
        assert (moved / "sub/deeper/b.onnx.sidecar/base.json").exists() and not zoo.exists()


def test_two_mounts_that_look_into_each_other(mount_at, zoo):
    """Each would show the other, and that it again, and so on."""
    evil(zoo / "evil.onnx", "b/twin.onnx/initializers/w.bin")
    evil(zoo / "twin.onnx", "a/evil.onnx/initializers/w.bin")
    a, b = mount_at(zoo, zoo / "a"), mount_at(zoo, zoo / "b")
    for mnt, model in ((a, "evil.onnx"), (b, "twin.onnx")):
        assert run("find", mnt.path, "-mindepth", "1", "-name", "[ab]").stdout == ""
        assert "lies in a mount of onnxfs" in run("cat", mnt.path / model / "problems.txt").stdout


@pytest.mark.skipif(os.getuid() != 0, reason="mount(8) is root's")
def test_a_mount_of_another_kind_in_the_folder(mount_at, zoo):
    """It is as any folder, for models and for their data."""
    (zoo / "disk").mkdir()
    assert run("mount", "-t", "tmpfs", "tmpfs", zoo / "disk").returncode == 0
    try:
        (zoo / "disk" / "w.data").write_bytes(floats(7, 8))
        (zoo / "disk" / "m.onnx").write_bytes((zoo / "a.onnx").read_bytes())
        (zoo / "linked.data").symlink_to("disk/w.data")
        evil(zoo / "far.onnx", "disk/w.data")
        evil(zoo / "linked.onnx", "linked.data")
        mnt = mount_at(zoo, zoo / "mnt")
        assert (mnt.path / "disk/m.onnx/initializers/w.bin").read_bytes() == floats(1)
        for model in ("far.onnx", "linked.onnx"):
            assert (mnt.path / model / "initializers/w.bin").read_bytes() == floats(7, 8)
        mnt.finish()
    finally:
        assert run("umount", zoo / "disk").returncode == 0


def test_inodes_and_parents(mount, zoo):
    def inodes():
        with mount(zoo) as mnt:
            found = {str(p.relative_to(mnt.path)): p.lstat().st_ino for p in mnt.path.rglob("*")}
            assert len(set(found.values())) == len(found)
            for path in ("sub/deeper/b.onnx/initializers", "sub/deeper", "a.onnx"):
                assert (mnt.path / path / "..").stat().st_ino == (mnt.path / path).parent.stat().st_ino
            return found

    assert inodes() == inodes()


def test_files_that_come_and_go(mount, zoo):
    with mount(zoo) as mnt:
        before = names(mnt.path)
        write(zoo / "new.onnx", 7)
        until(lambda: "new.onnx" in names(mnt.path), "a new file shows up")
        assert (mnt.path / "new.onnx/initializers/w.bin").read_bytes() == floats(7)
        (zoo / "new.onnx").unlink()
        until(lambda: names(mnt.path) == before, "a removed file vanishes")
        until(lambda: not (mnt.path / "new.onnx").exists(), "and cannot be looked up")
        (zoo / "fresh").mkdir()
        write(zoo / "fresh/x.onnx", 8)
        until(lambda: (mnt.path / "fresh/x.onnx/initializers/w.bin").exists(), "a new folder shows up")


@pytest.mark.parametrize("replace", [True, False], ids=["by rename", "in place"])
def test_a_file_that_changes(mount, zoo, replace):
    with mount(zoo) as mnt:
        file = mnt.path / "a.onnx/initializers/w.bin"
        assert file.read_bytes() == floats(1)
        with open(file, "rb") as opened:
            write(zoo / "next", 4, 5)
            if replace:
                os.rename(zoo / "next", zoo / "a.onnx")
                assert opened.read() == floats(1)
            else:
                (zoo / "a.onnx").write_bytes((zoo / "next").read_bytes())
        def changed():
            try:
                return file.read_bytes() == floats(4, 5)
            except OSError:
                return False  # ESTALE, of the file that was
        until(changed, "the new content shows up")


@pytest.mark.limit(90)
@pytest.mark.skipif(SLOWNESS > 1, reason="sanitizers take memory of their own")
def test_many_models_cost_no_memory(mount, tmp_path):
    """A thousand models of 64 MB each (holes) and more values are walked by one find."""
    zoo = tmp_path / "zoo"
    for i in range(40):
        (zoo / f"{i}").mkdir(parents=True)
        first = zoo / f"{i}/0.onnx"
        write_model(first, graph([tensor(f"w{k}", FLOAT, [1 << 20], raw=Hole(4 << 20)) for k in range(16)]))
        for k in range(1, 25):
            os.link(first, zoo / f"{i}/{k}.onnx")
    with mount(zoo) as mnt:
        count = sum(len(files) for _, _, files in os.walk(mnt.path))
        assert count == 1000 * (16 * 5 + 6) + 2
        assert anonymous_memory(mnt.pid) < 24 * 1024
        assert len(os.listdir(f"/proc/{mnt.pid}/fd")) < 200
    shutil.rmtree(zoo)


def test_mounted_inside_itself(zoo):
    """README's own example. The mount does not show itself, and asks itself nothing."""
    mount = Mount(zoo, zoo / "mnt")
    try:
        (zoo / "mnt").mkdir()
        mount.start()
        assert names(mount.path) == [".onnxfs", "a.onnx", "broken.onnx", "folder.onnx", "sub"]
        assert not (mount.path / "mnt").exists()
        assert sum(len(files) for _, _, files in os.walk(mount.path)) > 10
    finally:
        mount.finish()


@pytest.mark.parametrize("place", [".", ".."])
def test_mounted_over_itself(zoo, place):
    assert "hide" in refusal(zoo, zoo / place)


def test_a_folder_that_is_missing(tmp_path):
    done = onnxfs(tmp_path / "nothing", tmp_path / "mnt")
    assert done.returncode == 1 and not (tmp_path / "mnt").exists()
