"""The hardened systemd unit still mounts, edits and heals: its command, under what it takes from it (as_service.py)."""

import ctypes.util
import errno
import os
import shlex
import shutil
import signal
import sys
from pathlib import Path

import pytest
from as_service import settings
from editable import overwrite
from mounting import BINARY, REPOSITORY, Mount, error_of, run, until
from onnx_wire import FLOAT, graph, tensor, write_model

UNIT = REPOSITORY / "share" / "onnxfs@.service"

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="capabilities are root's to lose"),
    pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze"),
    pytest.mark.skipif(not ctypes.util.find_library("seccomp"), reason="no libseccomp")]


def as_service(*command):
    # Where it is built with AddressSanitizer: its search for leaks traces the process, which the unit forbids.
    environment = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    return run(sys.executable, "-B", Path(__file__).with_name("as_service.py"), UNIT, *command, env=environment)


def started(mount, options):
    """Runs the unit's ExecStart= with these values of /etc/onnxfs/NAME.conf."""
    values = {"OPTIONS": options, "MODEL": os.fspath(mount.model), "MNT": os.fspath(mount.path)}
    program, *words = shlex.split(settings(UNIT)["ExecStart"])
    assert program == "onnxfs"
    for name, value in values.items():
        words = [word.replace(f"${{{name}}}", value) for word in words]
    return as_service(BINARY, *words)


@pytest.fixture
def service_mount(tmp_path):
    """A model and a mount point in a folder of another user, which nobody else may enter."""
    home = tmp_path / "home"
    home.mkdir()
    write_model(home / "m.onnx", graph([tensor("w", FLOAT, [2], raw=b"12345678")]))
    (home / "mnt").mkdir()
    for path in (home, *home.iterdir()):
        os.chown(path, 1234, 1234)
        os.chmod(path, 0o700)
    mount = Mount(home / "m.onnx", home / "mnt")
    yield mount
    mount.give_up()


def test_it_takes_away_what_it_says():
    script = ("import ctypes, mmap, os, socket\n"
              "def refused(call, *words):\n"
              "    try: return call(*words) and False\n"
              "    except OSError: return True\n"
              "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
              "print(int(status['CapEff'], 16) == int(status['CapBnd'], 16) == 1 << 1 | 1 << 2 | 1 << 21,\n"
              "      status['NoNewPrivs'].strip(), status['Seccomp'].strip(), oct(os.umask(0)),\n"
              "      refused(socket.socket, socket.AF_INET), refused(socket.socket, socket.AF_UNIX),\n"
              "      refused(mmap.mmap, -1, 4096, mmap.MAP_PRIVATE, mmap.PROT_WRITE | mmap.PROT_EXEC),\n"
              "      ctypes.CDLL(None).reboot(0x4321fedc))")
    done = as_service(sys.executable, "-c", script)
    assert done.stdout == "True 1 2 0o77 True False True -1\n", done.stderr


def test_mounts_and_edits(service_mount):
    done = started(service_mount, "defaults")
    assert (done.returncode, done.stderr) == (0, "")
    service_mount.attach()
    overwrite(service_mount.file("w"), 0, b"edit")
    assert service_mount.bytes("w") == b"edit5678"
    assert service_mount.json("w")["dtype"] == "float32"
    os.kill(service_mount.pid, signal.SIGTERM)
    assert service_mount.ended() == 0
    assert not os.path.ismount(service_mount.path)
    assert started(service_mount, "ro").returncode == 0, "what it left must be found again"
    service_mount.attach()
    assert service_mount.bytes("w") == b"edit5678"
    assert error_of(overwrite, service_mount.file("w"), 0, b"more") == errno.EROFS


def test_takes_the_place_of_a_dead_mount(service_mount):
    """As systemd does with Restart=on-failure."""
    assert started(service_mount, "defaults").returncode == 0
    service_mount.attach()
    os.kill(service_mount.pid, signal.SIGKILL)
    assert service_mount.ended() == -signal.SIGKILL
    until(lambda: error_of(os.listdir, service_mount.path) == errno.ENOTCONN, "the mount is dead")
    done = started(service_mount, "defaults")
    assert (done.returncode, done.stderr) == (0, "")
    assert service_mount.attach().bytes("w") == b"12345678"
