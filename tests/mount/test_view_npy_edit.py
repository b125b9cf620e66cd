"""Writing to npy/ edits the tensor, whichever way numpy writes; what is not the tensor's changes nothing."""

import errno
import io
import os

import numpy
import pytest
from datatypes import SIZED, pack
from editable import replacement, write_editable
from editing import close_error, kill_and_remount, store, unchanged
from mounting import error_of, run
from onnx_wire import FLOAT, INT4, UINT8, graph, tensor, write_model
from viewed import array_of_payload, write_viewed

OLD = numpy.arange(12, dtype="<f4").reshape(3, 4)
NEW = OLD[::-1] * 0.5 - 3


def npy(mnt, name):
    return mnt.path / "npy" / "initializers" / (name + ".npy")


def saved(array, **how):
    """What numpy.save writes."""
    file = io.BytesIO()
    numpy.save(file, array, **how)
    return file.getvalue()


@pytest.fixture
def mnt(mount, tmp_path):
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("w", FLOAT, [3, 4], raw=OLD.tobytes()),
                             tensor("packed", INT4, [5], raw=bytes([0x21, 0xF3, 0x08])),
                             tensor("scalar", FLOAT, [], raw=bytes(4)), tensor("bytes", UINT8, [3], raw=b"abc")]))
    original = path.read_bytes()
    with mount(path) as mounted:
        yield mounted
    assert path.read_bytes() == original


def test_save_is_seen_in_all_views(mnt):
    numpy.save(npy(mnt, "w"), NEW)
    assert mnt.bytes("w") == NEW.tobytes()
    assert numpy.load(npy(mnt, "w")).tobytes() == NEW.tobytes()
    about = mnt.json("w")
    assert (about["edited"], about["shape"]) == (True, [3, 4])
    assert numpy.loadtxt(mnt.path / "text" / "initializers" / "w.txt", "<f4").tobytes() == NEW.tobytes()
    for view in ("live/m.onnx", "model.safetensors", "pb/initializers/w.pb"):
        content = (mnt.path / view).read_bytes()
        assert NEW.tobytes() in content and OLD.tobytes() not in content, view
    assert run("xxhsum", "-c", "XXH128SUMS", cwd=mnt.path).returncode == 0
    kill_and_remount(mnt)
    assert mnt.bytes("w") == NEW.tobytes()


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_every_type(mount, tmp_path_factory, row):
    model, tensors = write_viewed(tmp_path_factory.mktemp("viewed"))
    with mount(model) as mnt:
        for kind in ("cube", "scalar", "empty"):
            it = tensors[f"{row.onnx}/{kind}"]
            changed = it.array.ravel()[::-1].reshape(it.shape)
            numpy.save(npy(mnt, f"{row.onnx}/{kind}"), changed)
            assert mnt.bytes(f"{row.onnx}/{kind}") == pack(row.bits, it.patterns[::-1])
            assert numpy.load(npy(mnt, f"{row.onnx}/{kind}")).tobytes() == changed.tobytes()


def test_every_storage_and_place(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    wanted = {}
    with mount(model) as mnt:
        for path, it in tensors.items():
            if it.is_strings:
                continue
            row = next(row for row in SIZED if row.name == it.dtype)
            changed = array_of_payload(row, it.payload, it.shape).ravel()[::-1].reshape(it.shape)
            numpy.save(mnt.path / "npy" / (path + ".npy"), changed)
            wanted[path] = changed
        kill_and_remount(mnt)
        for path, changed in wanted.items():
            assert numpy.load(mnt.path / "npy" / (path + ".npy")).tobytes() == changed.tobytes(), path


@pytest.mark.parametrize("content", [
    saved(NEW.reshape(4, 3)), saved(NEW.ravel()), saved(numpy.asfortranarray(NEW)),
    saved(NEW.reshape(2, 3, 2)), saved(NEW.reshape(1, 12))], ids=["4,3", "12", "fortran", "2,3,2", "1,12"])
def test_as_many_elements_in_another_shape(mnt, content):
    """They are taken in row-major order, and the tensor keeps its shape."""
    elements = numpy.load(io.BytesIO(content)).ravel()
    replacement(npy(mnt, "w"), content)
    assert mnt.bytes("w") == elements.tobytes()
    assert mnt.json("w")["shape"] == [3, 4]
    assert numpy.load(npy(mnt, "w")).shape == (3, 4)



WRONG = {
    "dtype": saved(NEW.astype("<i4")), "a wider dtype": saved(NEW.astype("<f8")),
    "big-endian": saved(NEW.astype(">f4")), "too few": saved(NEW[:2]), "too many": saved(numpy.zeros(13, "<f4")), "none": saved(NEW[:0]),
    "a pickle": saved(numpy.array([None], object), allow_pickle=True), "junk": b"junk" * 44, "no header": NEW.tobytes(),
    "one byte short": saved(NEW)[:-1], "one byte more": saved(NEW) + b"x", "header only": saved(NEW)[:128],
    "half a header": saved(NEW)[:60], "one byte": b"\x93", "nothing": b"",
    "records": saved(numpy.zeros(12, [("a", "<f4")])),
    "version 9": saved(NEW).replace(b"NUMPY\1", b"NUMPY\t"),
    "a long header length": saved(NEW)[:8] + b"\xff\xff" + saved(NEW)[10:],
    "a huge shape": saved(NEW).replace(b"(3, 4), }" + b" " * 30, b"(99999999999999999999999, 4), }        "),
    "a negative shape": saved(NEW).replace(b"(3, 4), } ", b"(-3, -4),}"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_the_tensors_is_refused(mnt, what):
    with unchanged(npy(mnt, "w")), unchanged(mnt.file("w")):
        assert close_error(npy(mnt, "w"), os.O_WRONLY | os.O_TRUNC, (0, WRONG[what])) == errno.EINVAL
    assert mnt.json("w")["edited"] is False
    # And by a rename.
    scratch = npy(mnt, "w").with_name("scratch")
    scratch.write_bytes(WRONG[what])
    with unchanged(npy(mnt, "w")), unchanged(mnt.file("w")):
        assert error_of(os.rename, scratch, npy(mnt, "w")) == errno.EINVAL
    scratch.unlink()


def test_numpy_tells_its_user(mnt):
    """numpy.save itself fails: close's error is not lost."""
    with unchanged(mnt.file("w")), pytest.raises(OSError) as caught:
        numpy.save(npy(mnt, "w"), NEW[:2])
    assert caught.value.errno == errno.EINVAL


def test_elements_out_of_a_types_range(mnt):
    with unchanged(mnt.file("packed")):
        for value in (8, -9, 127):
            content = saved(numpy.array([0, 1, 2, 3, value], "i1"))
            assert close_error(npy(mnt, "packed"), os.O_WRONLY | os.O_TRUNC, (0, content)) == errno.EINVAL
    numpy.save(npy(mnt, "packed"), numpy.array([7, -8, 0, -1, 3], "i1"))
    assert mnt.bytes("packed") == bytes([0x87, 0xF0, 0x03])


def test_map(mnt):
    mapped = numpy.load(npy(mnt, "w"), mmap_mode="r+")
    mapped[1, 2] = 77
    mapped.flush()
    del mapped
    wanted = OLD.copy()
    wanted[1, 2] = 77
    assert mnt.bytes("w") == wanted.tobytes()
    assert numpy.load(npy(mnt, "w")).tobytes() == wanted.tobytes()
    kill_and_remount(mnt)
    assert mnt.bytes("w") == wanted.tobytes()


def test_a_map_that_is_not_flushed(mnt):
    store(npy(mnt, "w"), 128, b"1234")
    assert mnt.bytes("w")[:4] == b"1234"


def test_a_map_of_packed_elements(mnt):
    """A store there cannot be a patch of the payload, and still is an edit."""
    mapped = numpy.load(npy(mnt, "packed"), mmap_mode="r+")
    assert mapped.tolist() == [1, 2, 3, -1, -8]
    mapped[4] = 5
    mapped.flush()
    del mapped
    assert numpy.load(npy(mnt, "packed")).tolist() == [1, 2, 3, -1, 5]
    assert mnt.bytes("packed") == bytes([0x21, 0xF3, 0x05])


def test_bytes_into_the_middle(mnt):
    with open(npy(mnt, "w"), "r+b") as file:
        file.seek(128 + 4 * 5)
        file.write(NEW.tobytes()[20:28])
    assert mnt.bytes("w") == OLD.tobytes()[:20] + NEW.tobytes()[20:28] + OLD.tobytes()[28:]


def test_the_header_is_not_patched(mnt):
    with unchanged(npy(mnt, "w")), open(npy(mnt, "w"), "r+b", buffering=0) as file:
        assert error_of(file.write, b"junk") == errno.EINVAL
    with open(npy(mnt, "w"), "r+b", buffering=0) as file:
        file.write(saved(NEW))  # as it is, with other elements behind it
    assert mnt.bytes("w") == NEW.tobytes()


def test_a_size_cannot_be_set(mnt):
    with unchanged(npy(mnt, "w")):
        assert error_of(os.truncate, npy(mnt, "w"), 200) == errno.EINVAL
        assert error_of(os.unlink, npy(mnt, "w")) == errno.EPERM
        assert error_of(os.rename, npy(mnt, "w"), npy(mnt, "z")) == errno.EPERM


def test_rename_over_it(mnt):
    scratch = npy(mnt, "w").with_name("tmp.npy")
    numpy.save(scratch, NEW)
    os.replace(scratch, npy(mnt, "w"))
    assert mnt.bytes("w") == NEW.tobytes()
    assert not scratch.exists()


def test_cp_from_one_to_another(mnt, tmp_path):
    numpy.save(tmp_path / "new.npy", NEW)
    assert run("cp", tmp_path / "new.npy", npy(mnt, "w")).returncode == 0
    assert mnt.bytes("w") == NEW.tobytes()
    with unchanged(npy(mnt, "bytes")):
        assert run("cp", npy(mnt, "w"), npy(mnt, "bytes")).returncode != 0
    assert run("rsync", "--checksum", tmp_path / "new.npy", npy(mnt, "w")).returncode == 0
    assert run("cmp", tmp_path / "new.npy", npy(mnt, "w")).returncode == 0


def test_an_edit_of_the_payload_is_seen_by_who_has_it_open(mnt):
    with open(npy(mnt, "w"), "rb") as reader:
        before = reader.read()
        replacement(mnt.file("w"), NEW.tobytes())
        with open(npy(mnt, "w"), "rb") as later:
            assert later.read() == before[:128] + NEW.tobytes()


def test_not_editable(mount, tmp_path):
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("unknown", 99, [2], raw=b"12345678"), tensor("w", FLOAT, [1], raw=b"1234"),
                             tensor("short", FLOAT, [2], raw=b"1234")]))
    with mount(path) as mnt:
        assert numpy.load(npy(mnt, "unknown")).tobytes() == b"12345678"
        assert error_of(os.open, npy(mnt, "unknown"), os.O_WRONLY) == errno.EROFS
        assert error_of(os.open, npy(mnt, "short"), os.O_WRONLY) == errno.EROFS
    with mount(path, "ro") as mnt:
        assert error_of(os.open, npy(mnt, "w"), os.O_WRONLY) == errno.EROFS
