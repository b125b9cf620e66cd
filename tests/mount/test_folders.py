"""Large folders, and many readers at once."""

import ctypes
import os
import random
import struct
import threading

import pytest
from onnx_wire import FLOAT, INT32, graph, tensor, write_model

COUNT = 5000


@pytest.fixture(scope="module")
def wide(mount, tmp_path_factory):
    path = tmp_path_factory.mktemp("wide") / "m.onnx"
    tensors = [tensor(f"tensor_number_{place}", FLOAT, [], raw=struct.pack("<I", place)) for place in range(COUNT)]
    write_model(path, graph([*tensors, *[tensor(f"sub_{place}/x", FLOAT, [], raw=b"abcd") for place in range(50)]]))
    with mount(path) as mnt:
        yield mnt


def expected_names():
    return sorted([f"tensor_number_{place}{suffix}" for place in range(COUNT) for suffix in (".bin", ".json")]
                  + [f"sub_{place}" for place in range(50)])


def test_each_entry_once(wide):
    for _ in range(2):  # the second time from the kernel's cache
        assert sorted(os.listdir(wide.path / "initializers")) == expected_names()


def test_entries_agree_with_stat(wide):
    with os.scandir(wide.path / "initializers") as entries:
        for entry in entries:
            status = os.stat(entry.path)
            assert entry.inode() == status.st_ino
            assert entry.is_dir(follow_symlinks=False) == entry.name.startswith("sub_")
            assert entry.is_file(follow_symlinks=False) != entry.name.startswith("sub_")


class Entry(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("length", ctypes.c_uint16),
                ("type", ctypes.c_uint8), ("name", ctypes.c_char * 256)]


def test_seekdir(wide):
    """A position in a folder can be returned to, as NFS and rm do."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.opendir.restype = ctypes.c_void_p
    libc.readdir.restype = ctypes.POINTER(Entry)
    libc.readdir.argtypes = libc.closedir.argtypes = libc.rewinddir.argtypes = libc.telldir.argtypes = [ctypes.c_void_p]
    libc.telldir.restype = ctypes.c_long
    libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
    stream = libc.opendir(os.fsencode(wide.path / "initializers"))
    assert stream
    try:
        names, places = [], []
        while True:
            places.append(libc.telldir(stream))
            entry = libc.readdir(stream)
            if not entry:
                break
            names.append(entry.contents.name)
        assert names[:2] == [b".", b".."]
        assert sorted(os.fsdecode(name) for name in names[2:]) == expected_names()
        assert len(set(places)) == len(places)
        generator = random.Random(1)
        for at in [0, len(names) - 1, *(generator.randrange(len(names)) for _ in range(30))]:
            libc.seekdir(stream, places[at])
            assert libc.readdir(stream).contents.name == names[at]
        libc.rewinddir(stream)
        assert libc.readdir(stream).contents.name == b"."
    finally:
        libc.closedir(stream)


def test_a_tensor_of_many(wide):
    for place in (0, 1, 4095, COUNT - 1):
        assert wide.bytes(f"tensor_number_{place}") == struct.pack("<I", place)


def test_many_readers(mount, tmp_path):
    """Eight threads read mapped, decoded and external tensors in any order; each gets its own bytes."""
    generator = random.Random(3)
    payloads, tensors, data = {}, [], b""
    for place in range(12):
        values = [generator.randrange(-1 << 31, 1 << 31) for _ in range(40_000)]
        name, payload = f"t{place}", struct.pack("<40000i", *values)
        payloads[name] = payload
        if place % 3 == 0:
            tensors.append(tensor(name, INT32, [40_000]).packed_varints(5, values))
        elif place % 3 == 1:
            tensors.append(tensor(name, INT32, [40_000], raw=payload))
        else:
            tensors.append(tensor(name, INT32, [40_000], external=[("location", "d"), ("offset", str(len(data)))]))
            data += payload
    (tmp_path / "d").write_bytes(data)
    write_model(tmp_path / "m.onnx", graph(tensors))
    wrong = []

    def reader(seed):
        pick = random.Random(seed)
        try:
            for _ in range(60):
                name = pick.choice(list(payloads))
                offset = pick.randrange(160_000)
                fd = os.open(mnt.file(name), os.O_RDONLY | pick.choice((0, os.O_DIRECT)))
                got = os.pread(fd, 30_000, offset)
                os.close(fd)
                if got != payloads[name][offset:offset + 30_000]:
                    wrong.append((name, offset))
        except OSError as error:
            wrong.append(error)

    with mount(tmp_path / "m.onnx") as mnt:
        threads = [threading.Thread(target=reader, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
