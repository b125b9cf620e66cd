"""`meson install`, and what the system makes of it: mount(8), man, systemd, and the loader of completions. A private
view of the mounts has it in /usr/local."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from mounting import BINARY, Mount, run
from onnx_wire import FLOAT, graph, tensor, write_model

BUILD = Path(BINARY).parent.parent

pytestmark = [
    pytest.mark.skipif(not (BUILD / "meson-private").is_dir(), reason=f"{BUILD} is no build directory of meson"),
    pytest.mark.skipif(not shutil.which("meson"), reason="no meson")]

FILES = {
    "bin/onnxfs",
    "lib/systemd/system/onnxfs@.service",
    "sbin/mount.fuse.onnxfs",
    "share/bash-completion/completions/onnxfs",
    "share/fish/vendor_completions.d/onnxfs.fish",
    "share/man/man1/onnxfs.1",
    "share/man/man8/mount.fuse.onnxfs.8",
    "share/zsh/site-functions/_onnxfs",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that stands for the prefix."""
    folder = tmp_path_factory.mktemp("installed")
    done = run("meson", "install", "--no-rebuild", "-C", BUILD, env=dict(os.environ, DESTDIR=str(folder)))
    assert done.returncode == 0, done.stdout + done.stderr
    program, = folder.glob("**/bin/onnxfs")
    return program.parent.parent


@pytest.fixture
def privately(installed):
    """Runs a command where that is /usr/local."""
    if os.getuid() != 0 or not shutil.which("unshare"):
        pytest.skip("a private view of the mounts is root's")
    return lambda *command, **how: run("unshare", "-m", "sh", "-c", 'mount --bind "$0" /usr/local && exec "$@"',
                                       installed, *command, **how)


def test_files(installed):
    assert {str(path.relative_to(installed)) for path in installed.glob("**/*") if not path.is_dir()} == FILES
    assert (installed / "sbin" / "mount.fuse.onnxfs").samefile(installed / "bin" / "onnxfs")
    assert run(installed / "bin" / "onnxfs", "--version").stdout.startswith("onnxfs ")


def test_no_file_names_the_prefix_or_the_build(installed):
    """So a package may move them."""
    for name in FILES - {"bin/onnxfs", "sbin/mount.fuse.onnxfs"}:
        text = (installed / name).read_text(encoding="utf-8")
        assert "/usr/local/bin/onnxfs" not in text and str(BUILD) not in text, name


@pytest.mark.skipif(not os.path.exists("/sbin/mount.fuse"), reason="no mount.fuse (package fuse3)")
def test_mount(privately, tmp_path):
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [1], raw=b"1234")]))
    (tmp_path / "mnt").mkdir()
    mount = Mount(tmp_path / "m.onnx", tmp_path / "mnt")
    try:
        done = privately("sh", "-c", 'mount -t fuse.onnxfs "$0" "$1" && cat "$2"', mount.model, mount.path,
                         mount.file("w"))
        assert (done.returncode, done.stdout) == (0, "1234"), done.stderr
        mount.attach()
        os.kill(mount.pid, signal.SIGTERM)
        assert mount.ended() == 0
    finally:
        mount.give_up()


@pytest.mark.skipif(not shutil.which("man"), reason="no man")
@pytest.mark.parametrize("page", ["onnxfs", "mount.fuse.onnxfs"])
def test_man(privately, page):
    done = privately("man", "-M", "/usr/local/share/man", "--warnings", page, env=dict(os.environ, MANWIDTH="80"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "onnxfs commit" in done.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_unit_is_valid(privately, tmp_path):
    done = privately("systemd-analyze", "verify", "--man=no", "onnxfs@resnet.service")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Each gives the service a mount namespace, and keeps its mount to itself (systemd.exec(5), PrivateMounts=).
NAMESPACED = ("Private", "Protect", "ReadOnly", "ReadWrite", "Inaccessible", "Exec", "NoExec", "Bind", "Temporary",
              "Mount", "Root", "DynamicUser", "LogNamespace", "ProcSubset", "JoinsNamespaceOf")


def test_unit_shares_the_mounts_of_the_system(installed):
    lines = (installed / "lib/systemd/system/onnxfs@.service").read_text(encoding="utf-8").splitlines()
    settings = {line.split("=")[0] for line in lines if "=" in line and not line.startswith("#")}
    assert {name for name in settings if name.startswith(NAMESPACED)} == {"ExecStart"}


def test_bash_loads_completions(privately):
    library = "/usr/share/bash-completion/bash_completion"
    if not os.path.exists(library):
        pytest.skip("no bash-completion")
    script = f"source {library}; _completion_loader onnxfs; complete -p onnxfs"
    done = privately("env", "PATH=/usr/local/bin:/usr/bin:/bin", "bash", "--norc", "-c", script)
    assert done.stdout == "complete -F _onnxfs onnxfs\n", done.stderr
