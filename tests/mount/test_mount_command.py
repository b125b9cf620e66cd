"""mount(8) and fstab. They look for the program in the system's folders: a private view of the mounts puts it there."""

import os
import shutil
import signal

import pytest
from mounting import BINARY, Mount, mounts_at, run
from onnx_wire import FLOAT, graph, tensor, write_model

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="mount(8) is root's"),
    pytest.mark.skipif(not os.path.exists("/sbin/mount.fuse") or not shutil.which("unshare"),
                       reason="no mount.fuse (package fuse3)")]

# $1: a folder with the program, the rest: a mount command and the file to read then
PRIVATELY = 'set -e; mount --bind "$1" /usr/local/bin; shift; file=$1; shift; "$@"; cat "$file"'


@pytest.fixture
def mount_command(tmp_path):
    """Calls a mount command that is to read `e` from tmp_path/mnt afterwards; ends the mount with SIGTERM."""
    (tmp_path / "m.data").write_bytes(b"external")
    write_model(tmp_path / "m.onnx", graph([tensor("e", FLOAT, [2], external=[("location", "m.data")])]))
    (tmp_path / "mnt").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(BINARY, tmp_path / "bin" / "onnxfs")
    mount = Mount(tmp_path / "m.onnx", tmp_path / "mnt")

    def call(*command):
        done = run("unshare", "-m", "sh", "-c", PRIVATELY, "sh", tmp_path / "bin", mount.file("e"), *command)
        assert (done.returncode, done.stdout) == (0, "external"), done.stderr
        assert not mounts_at(mount.path), "the view of the mounts was not private"
        mount.attach()
        os.kill(mount.pid, signal.SIGTERM)
        assert mount.ended() == 0

    yield call
    mount.give_up()


@pytest.mark.parametrize("options", [[], ["-o", "ro,allow_other"], ["-r"], ["-o", "nosuid,nodev,noexec,noatime"]],
                         ids=" ".join)
def test_mount(mount_command, tmp_path, options):
    mount_command("mount", "-t", "fuse.onnxfs", *options, tmp_path / "m.onnx", tmp_path / "mnt")


@pytest.mark.parametrize("options", ["defaults", "ro,noauto,_netdev,user,x-systemd.automount,nofail"])
def test_fstab(mount_command, tmp_path, options):
    (tmp_path / "fstab").write_text(f"{tmp_path / 'm.onnx'} {tmp_path / 'mnt'} fuse.onnxfs {options} 0 0\n")
    mount_command("mount", "--fstab", tmp_path / "fstab", tmp_path / "mnt")


def test_failure_is_reported(tmp_path):
    (tmp_path / "mnt").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(BINARY, tmp_path / "bin" / "onnxfs")
    done = run("unshare", "-m", "sh", "-c", PRIVATELY, "sh", tmp_path / "bin", "/dev/null",
               "mount", "-t", "fuse.onnxfs", tmp_path / "none.onnx", tmp_path / "mnt")
    assert done.returncode != 0 and "none.onnx" in done.stderr
