"""Replacements: a tensor's file is truncated and written anew, by every program that does so."""

import errno
import os
import threading

import numpy
import pytest
from editable import overwrite, replacement
from editing import close_error, opened, store, unchanged
from mounting import error_of, run
from onnx_wire import FLOAT, UINT8, graph, tensor, write_model

OLD = b"old!" * 2500
NEW = bytes(range(250)) * 40
SIZE = len(OLD)


@pytest.fixture
def mnt(mount, tmp_path):
    model = tmp_path / "m.onnx"
    write_model(model, graph([tensor("w", FLOAT, [2500], raw=OLD), tensor("odd", UINT8, [300_001], raw=bytes(300_001))]))
    original = model.read_bytes()
    (tmp_path / "new").write_bytes(NEW)
    (tmp_path / "short").write_bytes(NEW[:-1])
    (tmp_path / "long").write_bytes(NEW + b"x")
    (tmp_path / "longer").write_bytes(NEW * 100)
    with mount(model) as mounted:
        yield mounted
    assert model.read_bytes() == original, "the model itself was written to"


def shell(mnt, tmp_path, command):
    return run("bash", "-c", command.format(w=mnt.file("w"), new=tmp_path / "new", short=tmp_path / "short",
                                            long=tmp_path / "long", longer=tmp_path / "longer"))


@pytest.mark.parametrize("command", [
    "cp {new} {w}", "cp --no-preserve=all --reflink=never {new} {w}", "cat {new} > {w}", "cat < {new} 1<> {w}",
    "{{ head -c 10 {new}; tail -c +11 {new}; }} > {w}", "(head -c 10 {new}; tail -c +11 {new}) > {w}",
    "dd if={new} of={w} bs=3000", "dd if={new} of={w} bs=1M", "dd if={new} of={w} bs=100 conv=fsync",
    "tee {w} < {new} >/dev/null", "head -c 10000 {new} > {w}", "cat {short} > {w}; cat {new} > {w}",
    "exec 5> {w}; head -c 1 {new} >&5; tail -c +2 {new} >&5; exec 5>&-",
    "xxd -p {new} | xxd -r -p > {w}",
    "python3 -c 'import sys; open(sys.argv[1], \"wb\").write(sys.stdin.buffer.read())' {w} < {new}",
])
def test_programs_that_replace(mnt, tmp_path, command):
    done = shell(mnt, tmp_path, command)
    if done.returncode == 127:
        pytest.skip(done.stderr)
    if "{short}" not in command:
        assert (done.returncode, done.stderr.count("rror")) == (0, 0), done.stderr
    assert mnt.file("w").stat().st_size == SIZE
    assert mnt.bytes("w") == NEW


@pytest.mark.parametrize("command", [
    "cp {short} {w}", "cat {short} > {w}", "dd if={short} of={w} bs=1M",
    "cp {long} {w}", "cat {long} > {w}", "cp {longer} {w}", "cat {longer} > {w}", "dd if={longer} of={w} bs=1M",
    "tee {w} < {long} >/dev/null", "cp /dev/null {w}",
])
def test_a_wrong_size_is_an_error(mnt, tmp_path, command):
    with unchanged(mnt.file("w")):
        done = shell(mnt, tmp_path, command)
        assert done.returncode != 0
        wanted = "Invalid argument" if "{short}" in command or "null {w}" in command else "File too large"
        assert wanted in done.stderr, done.stderr


@pytest.mark.parametrize("command", ["> {w}", ": > {w}", "true > {w}", "{{ cat {short}; true; }} > {w}",
                                     "exec 5> {w}; exec 5>&-", "truncate -s 0 {w}", "truncate -s +1 {w}"])
def test_what_is_left_empty_or_short_is_as_before(mnt, tmp_path, command):
    """A shell does not tell its user when it closes a file in vain; the tensor is whole all the same."""
    with unchanged(mnt.file("w")):
        shell(mnt, tmp_path, command)


def test_close_tells(mnt):
    path, flags = mnt.file("w"), os.O_WRONLY | os.O_TRUNC
    with unchanged(path):
        assert close_error(path, flags) == errno.EINVAL
        assert close_error(path, flags, (0, NEW[:-1])) == errno.EINVAL
        assert close_error(path, flags, (0, b"x")) == errno.EINVAL
    assert close_error(path, flags, (0, NEW)) is None
    assert mnt.bytes("w") == NEW


def test_a_child_that_closes_its_copy(mnt):
    """Only the process that opened the file learns of a wrong size, and it is free to go on writing."""
    fd = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
    os.write(fd, NEW[:100])
    child = os.fork()
    if child == 0:
        os._exit(error_of(os.close, fd) or 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.write(fd, NEW[100:])
    os.close(fd)
    assert mnt.bytes("w") == NEW


def test_right_after_a_refused_replacement(mnt):
    """The kernel knew a smaller size a moment ago: whoever comes next reads all, and maps and stores as ever."""
    path, wanted = mnt.file("w"), bytearray(OLD)
    for turn in range(1000):
        assert close_error(path, os.O_WRONLY | os.O_TRUNC, (0, b"x" * 49)) == errno.EINVAL
        if turn % 2:
            with opened(path, os.O_RDONLY) as fd:
                assert os.pread(fd, SIZE, 100) == wanted[100:], turn
        else:
            data = bytes([turn % 256]) * 100
            wanted[5000:5100] = data
            child = os.fork()  # a store past what the kernel takes for the end is a signal
            if child == 0:
                os._exit(error_of(store, path, 5000, data) or 0)
            assert os.waitpid(child, 0)[1] == 0, turn
            assert path.read_bytes() == wanted, turn


def test_nothing_shows_after_a_refused_write(mnt):
    """A replacement in which a write was refused is void, even if its size is right in the end."""
    with unchanged(mnt.file("w")):
        fd = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
        os.write(fd, NEW)
        assert error_of(os.write, fd, b"x") == errno.EFBIG
        assert error_of(os.close, fd) in (errno.EINVAL, errno.EFBIG)


def test_ftruncate_within_a_replacement(mnt):
    with opened(mnt.file("w"), os.O_RDWR | os.O_TRUNC) as fd:
        os.write(fd, NEW[:5000])
        os.ftruncate(fd, 3000)
        os.ftruncate(fd, SIZE)
        assert os.fstat(fd).st_size == SIZE
        assert os.pread(fd, SIZE, 0) == NEW[:3000] + bytes(SIZE - 3000)
        os.pwrite(fd, b"end", SIZE - 3)
    assert mnt.bytes("w") == NEW[:3000] + bytes(SIZE - 3003) + b"end"


def test_ftruncate_past_the_end_of_a_replacement(mnt):
    """Like a write that was refused, it makes the replacement void."""
    with unchanged(mnt.file("w")):
        fd = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
        os.write(fd, NEW)
        assert error_of(os.ftruncate, fd, SIZE + 1) == errno.EFBIG
        assert error_of(os.close, fd) == errno.EINVAL


def test_ftruncate_up_alone(mnt):
    with opened(mnt.file("w"), os.O_RDWR | os.O_TRUNC) as fd:
        os.ftruncate(fd, SIZE)
    assert mnt.bytes("w") == bytes(SIZE)


def test_holes_in_a_replacement_are_zeros(mnt):
    with opened(mnt.file("w"), os.O_RDWR | os.O_TRUNC) as fd:
        os.pwrite(fd, b"last", SIZE - 4)
        os.pwrite(fd, b"some", 5000)
    assert mnt.bytes("w") == bytes(5000) + b"some" + bytes(SIZE - 5008) + b"last"


def test_writes_after_the_replacement(mnt):
    """What is written before a handle is closed with the right size belongs to it; what follows edits in place."""
    one = os.open(mnt.file("w"), os.O_RDWR | os.O_TRUNC)
    os.write(one, NEW)
    os.close(os.dup(one))
    assert mnt.bytes("w") == NEW
    os.pwrite(one, b"later", 7)
    os.close(one)
    assert mnt.bytes("w") == NEW[:7] + b"later" + NEW[12:]


def test_numpy_tofile(mnt):
    array = numpy.arange(2500, dtype="<f4")
    array.tofile(mnt.file("w"))
    assert mnt.bytes("w") == array.tobytes()
    numpy.ones(2500, "<f4").tofile(os.fspath(mnt.file("w")))
    assert numpy.all(numpy.fromfile(mnt.file("w"), "<f4") == 1)
    for count in (2499, 2501):
        with unchanged(mnt.file("w")), pytest.raises(OSError):
            numpy.ones(count, "<f4").tofile(mnt.file("w"))


def test_an_odd_size(mnt):
    content = os.urandom(300_001)
    replacement(mnt.file("odd"), content)
    assert mnt.bytes("odd") == content


def test_replacements_in_turn_and_edits_between(mnt):
    for turn in range(50):
        content = bytes([turn]) * SIZE
        replacement(mnt.file("w"), content)
        overwrite(mnt.file("w"), turn, b"!")
        assert mnt.bytes("w") == content[:turn] + b"!" + content[turn + 1:]
        assert mnt.file("w").stat().st_size == SIZE


def by_rename(path, content):
    scratch = path.with_name("scratch")
    scratch.write_bytes(content)
    os.replace(scratch, path)


@pytest.mark.parametrize("way", [replacement, by_rename], ids=lambda way: way.__name__)
def test_readers_meanwhile(mnt, way):
    """Whoever reads gets in each page one content or the other, and all of it if nothing takes effect between two pages
    (the kernel copies page by page, of any file); while a program truncates and writes, also what it has written so
    far. A rename has nothing in between."""
    contents = [bytes([letter]) * SIZE for letter in b"abc"]
    page = os.sysconf("SC_PAGE_SIZE")
    way(mnt.file("w"), contents[0])
    done, seen, wrong = threading.Event(), 0, []

    def write():
        for turn in range(300):
            way(mnt.file("w"), contents[turn % 3])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        fd = os.open(mnt.file("w"), os.O_RDONLY)
        content = os.pread(fd, 2 * SIZE, 0)
        os.close(fd)
        seen += 1
        pages = [content[begin:begin + page] for begin in range(0, len(content), page)]
        is_whole = way is replacement or len(content) == SIZE
        if not is_whole or any(len(set(of_page)) != 1 or of_page[0] not in b"abc" for of_page in pages):
            wrong.append((len(content), [sorted(set(of_page)) for of_page in pages]))
    writer.join()
    assert seen > 10
    assert not wrong, f"{len(wrong)} of {seen} reads were of neither: {wrong[:3]}"
    assert mnt.bytes("w") == contents[299 % 3]


def test_a_handle_that_reads_while_another_replaces(mnt):
    with opened(mnt.file("w"), os.O_RDONLY) as reader:
        assert os.pread(reader, 4, 0) == OLD[:4]
        writer = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
        os.write(writer, NEW)
        os.close(writer)
        assert os.pread(reader, SIZE, 0) == NEW


def test_two_replacements_at_once(mnt):
    """As of any file, what two programs write meets; the size is right, and nothing else comes in."""
    one = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
    os.write(one, b"1" * 6000)
    two = os.open(mnt.file("w"), os.O_WRONLY | os.O_TRUNC)
    error_of(os.write, two, b"2" * 10_000)
    error_of(os.write, one, b"1" * 4000)
    errors = [error_of(os.close, two), error_of(os.close, one)]
    content = mnt.bytes("w")
    assert len(content) == mnt.file("w").stat().st_size == SIZE
    assert content == OLD or set(content) <= set(b"12")
    assert None in errors or content == OLD
