"""What all mount tests share: the `mount` fixture, a time limit for each test, and the reason for a skip."""

import faulthandler
import os
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))
pytest.register_assert_rewrite("mounting")

import mounting  # noqa: E402
import onnxruntime_node  # noqa: E402
from viewed import write_viewed  # noqa: E402
from workplace import sample_workplace  # noqa: E402

LIMIT_SECONDS = 30


class TookTooLong(Exception):
    pass


def pytest_configure(config):
    config.addinivalue_line("markers", f"limit(seconds): time limit of this test instead of {LIMIT_SECONDS} s")
    mounting.adopt_orphans()


def why_no_fuse():
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse: {error.strerror}"
    if os.getuid() != 0 and not shutil.which("fusermount3"):
        return "no fusermount3, which mounts for users other than root"
    return None


def pytest_collection_modifyitems(items):
    reason = why_no_fuse()
    for item in items if reason else ():
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def program():
    """The binary under test; all tests fail without it."""
    if not os.access(mounting.BINARY, os.X_OK):
        pytest.fail(f"{mounting.BINARY} is not there: build first, or set ONNXFS", pytrace=False)
    return mounting.BINARY


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """A test over its limit fails. Its daemons are killed first: a read from one that hangs takes no other signal."""
    marker = item.get_closest_marker("limit")
    seconds = (marker.args[0] if marker else LIMIT_SECONDS) * mounting.SLOWNESS

    expired = []

    def expire():
        expired.append(True)
        sys.__stderr__.write(f"\n{item.nodeid}: over {seconds} s\n")
        faulthandler.dump_traceback(sys.__stderr__)
        mounting.kill_daemons()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)

    def fail(*_):
        raise TookTooLong(f"over {seconds} s")

    before = signal.signal(signal.SIGALRM, fail)
    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    faulthandler.dump_traceback_later(2 * seconds + 30, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        timer.cancel()
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
        if expired:
            give_up_all()


def give_up_all():
    for left in list(mounting.LIVE):
        left.give_up()


def pytest_sessionfinish():
    """After an interrupt too, nothing stays mounted."""
    give_up_all()


@contextmanager
def _mounted(model, *options):
    folder = Path(tempfile.mkdtemp(prefix="onnxfs-test-"))
    mount = mounting.Mount(model, folder / "mnt", options)
    mount.path.mkdir()
    try:
        mount.start()
        yield mount
    except BaseException:
        mount.give_up()
        raise
    else:
        mount.finish()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def mount(program):
    """`with mount(model, *options) as mnt:` mounts in the background in a folder of its own. Leaving the block
    unmounts, and fails unless the daemon ended with status 0."""
    return _mounted


@pytest.fixture(scope="session")
def runtime():
    """onnxruntime_node.run; without ONNX Runtime, its tests are skipped."""
    reason = onnxruntime_node.why_not()
    if reason:
        pytest.skip(reason)
    return onnxruntime_node.run


@pytest.fixture(scope="module")
def viewed(mount, tmp_path_factory):
    """A mount of a model with all types in several shapes (viewed.py), and its tensors by their names."""
    model, tensors = write_viewed(tmp_path_factory.mktemp("viewed"))
    with mount(model) as mnt:
        yield mnt, tensors


@pytest.fixture
def workplace(tmp_path):
    """Runs commands of a document (workplace.py)."""
    with sample_workplace(tmp_path) as run:
        yield run


@pytest.fixture
def open_folder():
    """A temporary folder that every user may enter, unlike tmp_path."""
    folder = Path(tempfile.mkdtemp(prefix="onnxfs-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
