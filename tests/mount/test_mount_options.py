"""What -o means, and who may look into a mount."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys

import pytest
from mounting import BINARY, Mount, mounts_at, one_line, onnxfs, refusal, run, tried, until
from onnx_wire import FLOAT, graph, tensor, write_model

root_only = pytest.mark.skipif(os.getuid() != 0, reason="needs to act as other users")


@pytest.fixture
def model(open_folder):
    write_model(open_folder / "m.onnx", graph([tensor("dir/w", FLOAT, [2], raw=b"12345678")]))
    return open_folder / "m.onnx"


@pytest.fixture
def mounted(model, open_folder):
    """Mounts with options; the mount ends with the test."""
    made = []

    def start(*options):
        made.append(Mount(model, open_folder / "mnt", options))
        return made[-1].start()

    yield start
    for mount in made:
        mount.give_up()


@pytest.mark.parametrize("options", [
    "ro", "rw", "defaults", "default_permissions", "dev", "suid", "nodev,nosuid", "exec,noexec", "noatime", "_netdev",
    "noauto", "auto", "user", "nouser", "users", "nofail", "x-foo", "x-systemd.automount", "x-gvfs-name=a model",
    "ro,default_permissions,dev,suid,_netdev,noauto,user,x-foo"])
def test_accepted(mounted, options):
    assert mounted(options).bytes("dir/w") == b"12345678"


@root_only
@pytest.mark.parametrize("options", ["allow_other", "allow_other,default_permissions", "allow_root"])
def test_accepted_from_root(mounted, options):
    assert mounted(options).bytes("dir/w") == b"12345678"


def test_sidecar(mounted, model, tmp_path):
    mount = mounted(f"sidecar={tmp_path / 'edits'},noatime")
    mount.file("dir/w").write_bytes(b"ABCDEFGH")
    assert json.loads((mount.path / ".onnxfs" / "status.json").read_bytes())["sidecar"] == str(tmp_path / "edits")
    assert (tmp_path / "edits").is_dir() and not list(model.parent.glob("*.sidecar"))
    assert "dir/w" in onnxfs("status", model, "--sidecar", tmp_path / "edits").stdout


def test_several_o(model, tmp_path):
    with tried(model, tmp_path / "mnt", "-o", "ro", "-o", "umask=077") as (mount, done):
        assert mount, done.stderr
        assert stat.S_IMODE(mount.file("dir/w").stat().st_mode) == 0o400


@pytest.mark.parametrize("option", [
    "no_such_option", "uid=", "uid=me", "uid=-1", "gid=1x", "umask=9", "umask=", "ro,wrong=1", "allow_othe"])
def test_refused(model, tmp_path, option):
    assert option.split(",")[-1].split("=")[0] in refusal(model, tmp_path / "mnt", "-o", option)


@root_only
def test_uid_and_gid(mounted):
    mount = mounted("uid=1234", "gid=5678")
    for path in (mount.path, mount.path / "initializers", mount.path / "model.json", mount.file("dir/w"),
                 mount.file("dir/w", ".json")):
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


@pytest.mark.parametrize("umask, mode", [("0", 0o644), ("022", 0o644), ("027", 0o640), ("0277", 0o400), ("077", 0o600)])
def test_umask(mounted, umask, mode):
    mount = mounted(f"umask={umask}")
    assert stat.S_IMODE(mount.file("dir/w").stat().st_mode) == mode
    folder = stat.S_IMODE((mount.path / "initializers").stat().st_mode)
    assert folder & 0o555 == 0o555 & ~int(umask, 8)


def test_umask_of_a_read_only_mount(mounted):
    mount = mounted("umask=027", "ro")
    assert stat.S_IMODE(mount.file("dir/w").stat().st_mode) == 0o440


READ = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"


def read_as(user, path):
    """What another user reads, None if refused."""
    done = subprocess.run([sys.executable, "-S", "-E", "-c", READ, path], user=user, group=user, extra_groups=[],
                          cwd="/", capture_output=True, timeout=20)
    assert done.returncode == 0 or b"PermissionError" in done.stderr, done.stderr
    return done.stdout if done.returncode == 0 else None


@root_only
def test_others_need_allow_other(mounted):
    assert read_as(65534, mounted().file("dir/w")) is None


@root_only
def test_allow_other(mounted):
    assert read_as(65534, mounted("allow_other").file("dir/w")) == b"12345678"


@root_only
def test_permissions_are_checked_when_asked_for(mounted):
    path = mounted("allow_other", "default_permissions", "uid=65534", "gid=65534", "umask=077").file("dir/w")
    assert read_as(65534, path) == b"12345678"
    assert read_as(1, path) is None


@root_only
def test_auto_unmount(mounted):
    """The mount of a killed daemon goes away by itself."""
    mount = mounted("auto_unmount", "allow_other")
    assert mount.bytes("dir/w") == b"12345678"
    os.kill(mount.pid, signal.SIGKILL)
    assert mount.ended() == -signal.SIGKILL
    until(lambda: not mounts_at(mount.path), "fusermount3 unmounts it")


@root_only
def test_one_line_when_the_system_refuses(model, open_folder):
    """Another user may not mount on root's folder; libfuse and fusermount3 say so in words of their own."""
    (open_folder / "mnt").mkdir()
    shutil.copy(BINARY, open_folder / "onnxfs")
    done = run(open_folder / "onnxfs", model, open_folder / "mnt", user=65534, group=65534, extra_groups=[])
    assert str(open_folder / "mnt") in one_line(done)
    assert not mounts_at(open_folder / "mnt")
