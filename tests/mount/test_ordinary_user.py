"""What an ordinary user gets, who mounts with fusermount3: tests that are run once more, by one. The device is root's
on some machines, so they see another one in its place, that all may use."""

import os
import re
import shutil
import stat

import pytest
from mounting import BINARY, REPOSITORY, run

USER = 65534
TESTS = ("test_commit_files.py", "test_daemon.py", "test_posix.py", "test_privacy.py", "test_write_refused.py",
         "test_write_seen.py", "test_write_survival.py")

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="all tests are run by an ordinary user"),
    pytest.mark.skipif(not all(map(shutil.which, ("fusermount3", "setpriv", "unshare"))),
                       reason="no fusermount3, setpriv or unshare")]


@pytest.fixture
def as_user(open_folder):
    """Runs a command as that user, in a folder of his that has the program and its tests."""
    home, device = open_folder / "home", open_folder / "fuse"
    for folder in ("scripts", "tests/mount"):
        shutil.copytree(REPOSITORY / folder, home / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(BINARY, home / "onnxfs")
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.stat("/dev/fuse").st_rdev)
    except OSError as error:
        pytest.skip(f"no device can be made: {error.strerror}")
    device.chmod(0o666)
    for path in (home, *home.rglob("*")):
        os.chown(path, USER, USER)
    # A copy of the mounts of other tests would keep those from ending.
    script = 'umount -a -l -t fuse.onnxfs; mount --bind "$0" /dev/fuse && exec setpriv "$@"'
    environment = dict(os.environ, HOME=str(home), TMPDIR=str(home), ONNXFS=str(home / "onnxfs"))
    return lambda *command: run(
        "unshare", "-m", "sh", "-c", script, device,
        f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command, cwd=home, env=environment, timeout=200)


@pytest.mark.limit(220)
def test_tests_of_an_ordinary_user(as_user):
    done = as_user("/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                   *(f"tests/mount/{name}" for name in TESTS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 100
