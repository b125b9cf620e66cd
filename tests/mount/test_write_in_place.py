"""Writes into a tensor as it is, by every program that edits files in place."""

import errno
import mmap
import os
import subprocess

import numpy
import pytest
from editable import overwrite
from editing import close_error, opened, store, unchanged
from mounting import error_of, run
from onnx_wire import FLOAT, graph, tensor, write_model

OLD = bytes(range(250)) * 40  # 10,000 bytes: two pages and a part of a third
BIG = bytes(1 << 20) * 3


@pytest.fixture
def mnt(mount, tmp_path):
    model = tmp_path / "m.onnx"
    write_model(model, graph([tensor("w", FLOAT, [2500], raw=OLD), tensor("other", FLOAT, [2], raw=b"untouched"[:8]),
                              tensor("big", FLOAT, [3 << 18], raw=BIG), tensor("empty", FLOAT, [0])]))
    original = model.read_bytes()
    with mount(model) as mounted:
        yield mounted
        assert mounted.bytes("other") == b"untouche"
    assert model.read_bytes() == original, "the model itself was written to"


def patched(old, offset, data):
    return old[:offset] + data + old[offset + len(data):]


@pytest.mark.parametrize("offset, size", [(0, 1), (0, 10_000), (4095, 2), (4096, 4096), (9999, 1), (17, 9000)])
def test_dd(mnt, tmp_path, offset, size):
    data = b"\xa5" * size
    (tmp_path / "data").write_bytes(data)
    done = run("dd", f"if={tmp_path / 'data'}", f"of={mnt.file('w')}", f"bs={size}", f"seek={offset}",
               "oflag=seek_bytes", "conv=notrunc")
    assert done.returncode == 0, done.stderr
    assert mnt.bytes("w") == patched(OLD, offset, data)


def test_dd_with_fsync_and_o_direct(mnt, tmp_path):
    (tmp_path / "data").write_bytes(b"d" * 8192)
    done = run("dd", f"if={tmp_path / 'data'}", f"of={mnt.file('w')}", "bs=4096", "conv=notrunc,fsync", "oflag=direct")
    assert done.returncode == 0, done.stderr
    assert mnt.bytes("w") == patched(OLD, 0, b"d" * 8192)


def test_dd_past_the_end(mnt, tmp_path):
    (tmp_path / "data").write_bytes(b"d" * 4)
    with unchanged(mnt.file("w")):
        done = run("dd", f"if={tmp_path / 'data'}", f"of={mnt.file('w')}", "seek=9998", "bs=4", "oflag=seek_bytes",
                   "conv=notrunc")
        assert done.returncode != 0 and "File too large" in done.stderr


def test_python_file(mnt):
    with open(mnt.file("w"), "r+b") as file:
        file.seek(5000)
        file.write(b"five thousand")
        file.seek(0)
        assert file.read() == patched(OLD, 5000, b"five thousand")
        file.seek(-3, os.SEEK_END)
        file.write(b"end")
    assert mnt.bytes("w") == patched(patched(OLD, 5000, b"five thousand"), 9997, b"end")


def test_pwrite_is_seen_before_close(mnt):
    with opened(mnt.file("w"), os.O_RDWR) as fd:
        assert os.pwrite(fd, b"abc", 4094) == 3
        assert os.pread(fd, 5, 4093) == OLD[4093:4094] + b"abc" + OLD[4097:4098]
        assert mnt.bytes("w")[4094:4097] == b"abc"
        os.fsync(fd)
        os.fdatasync(fd)


@pytest.mark.parametrize("flags", [os.O_SYNC, os.O_DSYNC, os.O_RDWR | os.O_CREAT, os.O_APPEND])
def test_other_flags(mnt, flags):
    """O_CREAT finds the file; O_APPEND makes pwrite append on Linux, so only where nothing is written it is harmless."""
    with opened(mnt.file("w"), os.O_WRONLY | flags if not flags & os.O_RDWR else flags) as fd:
        if flags != os.O_APPEND:
            assert os.pwrite(fd, b"new", 100) == 3
    assert mnt.bytes("w") == (OLD if flags == os.O_APPEND else patched(OLD, 100, b"new"))


def test_o_excl(mnt):
    assert error_of(os.open, mnt.file("w"), os.O_WRONLY | os.O_CREAT | os.O_EXCL) == errno.EEXIST


@pytest.mark.parametrize("command", ["printf x >> {}", "printf x | tee -a {}", "dd if=/dev/zero of={} bs=1 count=1 "
                                     "conv=notrunc oflag=append"])
def test_appending_is_past_the_end(mnt, command):
    with unchanged(mnt.file("w")):
        done = run("bash", "-c", command.format(mnt.file("w")))
        assert done.returncode != 0 and "File too large" in done.stderr


@pytest.mark.parametrize("offset, size", [(10_000, 1), (9999, 2), (8192, 4096), (20_000, 1), (1 << 40, 1), (0, 10_001),
                                          ((1 << 63) - 2, 1)])
def test_a_write_past_the_end(mnt, offset, size):
    """One that the kernel passes on in one piece leaves nothing at all; one that spans pages may end at a page."""
    with opened(mnt.file("w"), os.O_RDWR) as fd:
        def attempt():
            written = 0
            while written < size:
                written += os.pwrite(fd, b"\xee" * (size - written), offset + written)
        assert error_of(attempt) == errno.EFBIG
    assert mnt.file("w").stat().st_size == len(OLD)
    assert mnt.bytes("w") == OLD


def test_a_tensor_without_elements(mnt):
    with unchanged(mnt.file("empty")) as content:
        assert content == b""
        assert error_of(overwrite, mnt.file("empty"), 0, b"x") == errno.EFBIG
        assert close_error(mnt.file("empty"), os.O_WRONLY | os.O_TRUNC) is None


@pytest.mark.parametrize("offset, size", [(0, 1), (4090, 12), (9999, 1), (0, 10_000)])
def test_map(mnt, offset, size):
    store(mnt.file("w"), offset, b"\x5a" * size)
    assert mnt.bytes("w") == patched(OLD, offset, b"\x5a" * size)


def test_map_stores_after_close(mnt):
    fd = os.open(mnt.file("w"), os.O_RDWR)
    area = mmap.mmap(fd, 0)
    os.close(fd)
    area[4000:4200] = b"m" * 200
    area.close()
    assert mnt.bytes("w") == patched(OLD, 4000, b"m" * 200)


def test_msync(mnt):
    with opened(mnt.file("w"), os.O_RDWR) as fd, mmap.mmap(fd, 0) as area:
        area[1:5] = b"sync"
        area.flush()
        direct = subprocess.run(["dd", f"if={mnt.file('w')}", "iflag=direct", "bs=4096"], capture_output=True, timeout=20)
        assert direct.stdout == patched(OLD, 1, b"sync")


def test_private_maps_change_nothing(mnt):
    with unchanged(mnt.file("w")), opened(mnt.file("w"), os.O_RDONLY) as fd:
        with mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE) as area:
            area[:4] = b"mine"


def test_numpy_memmap(mnt):
    weights = numpy.memmap(mnt.file("w"), "<f4", "r+", shape=(50, 50))
    weights[7, :] = 2.5
    weights.flush()
    wanted = numpy.frombuffer(OLD, "<f4").reshape(50, 50).copy()
    wanted[7, :] = 2.5
    assert mnt.bytes("w") == wanted.tobytes()
    weights[49, 49] = -1
    del weights
    wanted[49, 49] = -1
    assert mnt.bytes("w") == wanted.tobytes()


def test_numpy_memmap_made_anew(mnt):
    """Mode w+ truncates the file, writes its last byte, and maps it."""
    weights = numpy.memmap(mnt.file("w"), "<f4", "w+", shape=2500)
    weights[:] = range(2500)
    del weights
    assert mnt.bytes("w") == numpy.arange(2500, dtype="<f4").tobytes()


def test_big_writes(mnt):
    """Over the largest request of FUSE, at offsets that are aligned to nothing."""
    data = bytes(range(256)) * 8192
    overwrite(mnt.file("big"), 777, data)
    assert mnt.bytes("big") == patched(BIG, 777, data)


def test_two_handles(mnt):
    with opened(mnt.file("w"), os.O_RDWR) as one, opened(mnt.file("w"), os.O_RDWR) as two:
        os.pwrite(one, b"11", 0)
        os.pwrite(two, b"2", 1)
        assert os.pread(one, 3, 0) == os.pread(two, 3, 0) == b"12" + OLD[2:3]
    assert mnt.bytes("w") == patched(OLD, 0, b"12")


def test_truncate_to_another_size(mnt):
    for size in (0, 1, 9999, 10_001, 1 << 50):
        with unchanged(mnt.file("w")):
            assert error_of(os.truncate, mnt.file("w"), size) == errno.EINVAL, size
            with opened(mnt.file("w"), os.O_RDWR) as fd:
                assert error_of(os.ftruncate, fd, size) == errno.EINVAL, size


def test_truncate_to_the_same_size(mnt):
    with unchanged(mnt.file("w")), opened(mnt.file("w"), os.O_RDWR) as fd:
        os.truncate(mnt.file("w"), len(OLD))
        os.ftruncate(fd, len(OLD))


def test_fallocate(mnt):
    """Room is there already; neither a hole nor another size can be made."""
    with unchanged(mnt.file("w")):
        done = run("fallocate", "-l", str(len(OLD) + 1), mnt.file("w"))
        assert done.returncode != 0
        assert run("fallocate", "--punch-hole", "-o", "0", "-l", "4096", mnt.file("w")).returncode != 0


def test_hex_editor(mnt):
    done = run("bash", "-c", f"printf '0000100: deadbeef\\n' | xxd -r - {mnt.file('w')}")
    if done.returncode == 127:
        pytest.skip("no xxd")
    assert done.returncode == 0, done.stderr
    assert mnt.bytes("w") == patched(OLD, 0x100, bytes.fromhex("deadbeef"))


def test_a_tensor_that_is_written_all_over(mnt):
    """In pieces that go to and fro, and overlap."""
    wanted = bytearray(OLD)
    with opened(mnt.file("w"), os.O_RDWR) as fd:
        for turn in range(200):
            offset = turn * 7919 % 9900
            data = bytes([turn]) * (turn % 100 + 1)
            os.pwrite(fd, data, offset)
            wanted[offset:offset + len(data)] = data
        assert os.pread(fd, 10_000, 0) == wanted
    assert mnt.bytes("w") == wanted
