"""scripts/package, of the build under test: what is in the package, what lintian says, and that it works where it is
installed."""

import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from mounting import BINARY, REPOSITORY, Mount, onnxfs, run
from onnx_wire import FLOAT, graph, tensor, write_model

BUILD = Path(BINARY).parent.parent

pytestmark = [
    pytest.mark.limit(600),
    pytest.mark.skipif(not (BUILD / "meson-private").is_dir(), reason=f"{BUILD} is no build directory of meson"),
    pytest.mark.skipif(not shutil.which("dh") or not shutil.which("lintian"),
                       reason="no debhelper and lintian (scripts/install-deps package)")]

FILES = {
    "usr/bin/onnxfs",
    "usr/lib/systemd/system/onnxfs@.service",
    "usr/sbin/mount.fuse.onnxfs",
    "usr/share/bash-completion/completions/onnxfs",
    "usr/share/doc/onnxfs/README.md.gz",
    "usr/share/doc/onnxfs/changelog.gz",
    "usr/share/doc/onnxfs/copyright",
    "usr/share/fish/vendor_completions.d/onnxfs.fish",
    "usr/share/man/man1/onnxfs.1.gz",
    "usr/share/man/man8/mount.fuse.onnxfs.8.gz",
    "usr/share/zsh/vendor-completions/_onnxfs",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    done = run(REPOSITORY / "scripts" / "package", "--build", BUILD, tmp_path_factory.mktemp("package"), timeout=500)
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.rstrip("\n"))
    assert list(path.parent.iterdir()) == [path], "it left something beside the package"
    return path


@pytest.fixture(scope="module")
def unpacked(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    assert run("dpkg-deb", "-x", package, folder).returncode == 0
    return folder


def control(package):
    fields = run("dpkg-deb", "-f", package).stdout
    return dict(re.findall(r"^([\w-]+): (.*)$", fields, re.MULTILINE))


def test_control(package):
    fields = control(package)
    assert fields["Package"] == "onnxfs"
    assert f"onnxfs {fields['Version']}\n" == onnxfs("--version").stdout
    assert package.name == f"onnxfs_{fields['Version']}_{fields['Architecture']}.deb"
    needed = {entry.split()[0] for entry in fields["Depends"].split(", ")}
    # For users other than root, and for libraries that ${shlibs:Depends} stands for.
    assert {"fuse3", "libc6", "libfuse3-3", "libstdc++6"} <= needed


def test_files(unpacked):
    assert {str(path.relative_to(unpacked)) for path in unpacked.glob("**/*") if not path.is_dir()} == FILES
    assert all(path.lstat().st_uid == os.getuid() for path in unpacked.glob("**/*"))
    assert (unpacked / "usr/sbin/mount.fuse.onnxfs").samefile(unpacked / "usr/bin/onnxfs")
    assert "not stripped" not in run("file", unpacked / "usr/bin/onnxfs").stdout
    assert run(unpacked / "usr/bin/onnxfs", "--version").stdout == onnxfs("--version").stdout


def test_lintian(package):
    """No errors and no warnings."""
    done = run("lintian", "--allow-root", "--fail-on", "error,warning", package, timeout=500)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="a private view of the mounts is root's")
def test_mount(unpacked, tmp_path):
    """mount(8) finds the program where the package is laid over the system's files."""
    overlay = f"lowerdir={unpacked / 'usr'}:/usr"
    if run("unshare", "-m", "mount", "-t", "overlay", "overlay", "-o", overlay, "/usr").returncode != 0:
        pytest.skip("no overlay of /usr")
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [1], raw=b"1234")]))
    (tmp_path / "mnt").mkdir()
    (tmp_path / "fstab").write_text(f"{tmp_path / 'm.onnx'} {tmp_path / 'mnt'} fuse.onnxfs ro 0 0\n")
    mount = Mount(tmp_path / "m.onnx", tmp_path / "mnt")
    script = 'mount -t overlay overlay -o "$0" /usr && env -i mount --fstab "$1" "$2" && cat "$3"'
    try:
        done = run("unshare", "-m", "sh", "-c", script, overlay, tmp_path / "fstab", mount.path, mount.file("w"))
        assert (done.returncode, done.stdout) == (0, "1234"), done.stderr
        mount.attach()
        program = os.readlink(f"/proc/{mount.pid}/exe")
        assert program.endswith("/usr/bin/onnxfs")
        os.kill(mount.pid, signal.SIGTERM)
        assert mount.ended() == 0
    finally:
        mount.give_up()


def test_what_is_no_build_directory(tmp_path):
    done = run(REPOSITORY / "scripts" / "package", "--build", tmp_path, tmp_path / "out")
    assert done.returncode == 1 and str(tmp_path) in done.stderr
    assert not (tmp_path / "out").exists()
    assert run(REPOSITORY / "scripts" / "package", "--help").returncode == 2
