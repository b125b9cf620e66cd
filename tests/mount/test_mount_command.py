"""mount(8) and fstab. They look for the program in the system's folders: a private view of the mounts puts it there,
by its own name, which mount.fuse finds, or as the helper that mount(8) looks for itself."""

import os
import shutil
import signal

import pytest
from mounting import BINARY, Mount, mounts_at, one_line, run
from onnx_wire import FLOAT, graph, tensor, write_model

pytestmark = pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="mount(8) is root's")

# $1: a folder with the program, $2: where it is to stand, the rest: the command. Without an environment, as mount(8)
# may be called, nothing but its own defaults leads to the program.
PRIVATELY = 'mount --bind "$1" "$2" && shift 2 && exec env -i /bin/sh -c \'"$@" && cat "$0"\' "$@"'
PLACES = {"mount.fuse": ("/usr/local/bin", "onnxfs"), "helper": ("/usr/sbin", "mount.fuse.onnxfs")}


@pytest.fixture(params=PLACES)
def privately(request, tmp_path):
    """Runs a command where the program is installed, and then reads a file."""
    if request.param == "mount.fuse" and not os.path.exists("/sbin/mount.fuse"):
        pytest.skip("no mount.fuse (package fuse3)")
    place, name = PLACES[request.param]
    (tmp_path / "bin").mkdir()
    shutil.copy(BINARY, tmp_path / "bin" / name)
    return lambda file, *command: run("unshare", "-m", "sh", "-c", PRIVATELY, "sh", tmp_path / "bin", place, file,
                                      *command)


@pytest.fixture
def mount_command(privately, tmp_path):
    """Calls a mount command that is to read `e` from tmp_path/mnt afterwards; ends the mount with SIGTERM."""
    (tmp_path / "m.data").write_bytes(b"external")
    write_model(tmp_path / "m.onnx", graph([tensor("e", FLOAT, [2], external=[("location", "m.data")])]))
    (tmp_path / "mnt").mkdir()
    mount = Mount(tmp_path / "m.onnx", tmp_path / "mnt")

    def call(*command):
        done = privately(mount.file("e"), *command)
        assert (done.returncode, done.stdout) == (0, "external"), done.stderr
        assert not mounts_at(mount.path), "the view of the mounts was not private"
        mount.attach()
        os.kill(mount.pid, signal.SIGTERM)
        assert mount.ended() == 0

    yield call
    mount.give_up()


@pytest.mark.parametrize("options", [[], ["-o", "ro,allow_other"], ["-r"], ["-o", "nosuid,nodev,noexec,noatime"],
                                     ["-v", "-n"]], ids=" ".join)
def test_mount(mount_command, tmp_path, options):
    mount_command("mount", "-t", "fuse.onnxfs", *options, tmp_path / "m.onnx", tmp_path / "mnt")


@pytest.mark.parametrize("options", ["defaults", "ro,noauto,_netdev,user,x-systemd.automount,nofail"])
def test_fstab(mount_command, tmp_path, options):
    (tmp_path / "fstab").write_text(f"{tmp_path / 'm.onnx'} {tmp_path / 'mnt'} fuse.onnxfs {options} 0 0\n")
    mount_command("mount", "--fstab", tmp_path / "fstab", tmp_path / "mnt")


def test_fstab_with_spaces(mount_command, tmp_path):
    (tmp_path / "my model.onnx").symlink_to("m.onnx")
    path = str(tmp_path / "my model.onnx").replace(" ", "\\040")
    (tmp_path / "fstab").write_text(f"{path} {tmp_path / 'mnt'} fuse.onnxfs ro 0 0\n")
    mount_command("mount", "--fstab", tmp_path / "fstab", tmp_path / "mnt")


def test_failure_is_reported(privately, tmp_path):
    (tmp_path / "mnt").mkdir()
    done = privately("/dev/null", "mount", "-t", "fuse.onnxfs", tmp_path / "none.onnx", tmp_path / "mnt")
    assert done.returncode != 0 and "none.onnx" in done.stderr


@pytest.fixture
def helper(tmp_path):
    """Runs the program by the name that mount(8) has for it."""
    (tmp_path / "mount.fuse.onnxfs").symlink_to(BINARY)
    write_model(tmp_path / "m.onnx", graph([tensor("e", FLOAT, [2], raw=b"12345678")]))
    (tmp_path / "mnt").mkdir()
    return lambda *words: run(tmp_path / "mount.fuse.onnxfs", tmp_path / "m.onnx", tmp_path / "mnt", *words)


def test_fake_mounts_nothing(helper, tmp_path):
    """To mount(8), -f is fake; to the program, it is foreground."""
    done = helper("-f", "-n", "-o", "rw")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not mounts_at(tmp_path / "mnt")
    assert "no_such_option" in one_line(helper("-f", "-o", "no_such_option"))


def test_sloppy(helper, tmp_path):
    assert "vers=3" in one_line(helper("-o", "ro,vers=3"))
    mount = Mount(tmp_path / "m.onnx", tmp_path / "mnt")
    done = helper("-s", "-o", "ro,vers=3,hard")
    try:
        assert done.returncode == 0, done.stderr
        assert mount.attach().bytes("e") == b"12345678"
        with pytest.raises(OSError, match="Read-only"):
            open(mount.file("e"), "r+b")
        mount.finish()
    finally:
        mount.give_up()


def test_helper_has_no_commands(helper, tmp_path):
    """The word behind its name is a model, whatever it is called."""
    done = run(tmp_path / "mount.fuse.onnxfs", "check", tmp_path / "mnt", cwd=tmp_path)
    assert done.returncode == 1 and "check" in one_line(done)
    assert helper("--foreground").returncode == 2
