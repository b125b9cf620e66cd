"""npy/: what numpy reads of each tensor, loaded and mapped."""

import os

import numpy
import pytest
from datatypes import SIZED
from editable import write_editable
from onnx_wire import STRING, graph, tensor, write_model
from viewed import SHAPES, array_of_payload


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_every_type(viewed, row):
    mnt, tensors = viewed
    for kind, shape in SHAPES.items():
        path = mnt.path / "npy" / "initializers" / row.onnx / (kind + ".npy")
        wanted = tensors[f"{row.onnx}/{kind}"].array
        loaded = numpy.load(path)
        assert (loaded.dtype, loaded.shape) == (wanted.dtype, shape)
        assert loaded.tobytes() == wanted.tobytes()
        assert path.stat().st_size == len(path.read_bytes())
        if wanted.size:  # numpy maps nothing that is empty
            mapped = numpy.load(path, mmap_mode="r")
            assert mapped.offset % 64 == 0 and mapped.offset + wanted.nbytes == path.stat().st_size
            assert mapped.shape == shape and mapped.tobytes() == wanted.tobytes()


def test_header_is_what_numpy_writes(viewed, tmp_path):
    mnt, tensors = viewed
    for name, it in tensors.items():
        numpy.save(tmp_path / "x.npy", it.array)
        assert (mnt.path / "npy" / "initializers" / (name + ".npy")).read_bytes() == (tmp_path / "x.npy").read_bytes()


def test_every_storage_and_place(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    with mount(model, "ro") as mnt:
        found = {os.path.relpath(path, mnt.path / "npy")[:-4] for path in (mnt.path / "npy").rglob("*.npy")}
        assert found == {path for path, it in tensors.items() if not it.is_strings}
        for path in found:
            it = tensors[path]
            row = next(row for row in SIZED if row.name == it.dtype)
            wanted = array_of_payload(row, it.payload, it.shape)
            loaded = numpy.load(mnt.path / "npy" / (path + ".npy"))
            assert (loaded.dtype, loaded.shape, loaded.tobytes()) == (wanted.dtype, it.shape, wanted.tobytes()), path


def test_strings_have_none(mount, tmp_path):
    """And a folder that would hold nothing else is not there."""
    model, _ = write_editable(tmp_path)
    with mount(model, "ro") as mnt:
        assert not os.path.lexists(mnt.path / "npy" / "initializers" / "strings.npy")
        assert not os.path.lexists(mnt.path / "npy" / "attributes" / "trees" / "modes.npy")
        assert (mnt.path / "text" / "initializers" / "strings.txt").exists()
        assert not list((mnt.path / "npy").rglob("*.bin")) and not list((mnt.path / "npy").rglob("*.json"))
    write_model(tmp_path / "s.onnx", graph([tensor("s", STRING, [1]).bytes(6, b"x")]))
    with mount(tmp_path / "s.onnx") as mnt:
        assert not (mnt.path / "npy").exists() and (mnt.path / "text").exists()
