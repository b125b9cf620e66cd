"""pb/: each tensor as a TensorProto, for onnx.load_tensor; newer types than that knows are read field by field."""

import onnx
import pytest
from datatypes import SIZED
from editable import split_strings, write_editable
from everything import payload
from onnx_wire import tensor
from viewed import SHAPES

KNOWN_TO_ONNX = onnx.TensorProto.BFLOAT16  # and all before it


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_every_type(viewed, row):
    mnt, tensors = viewed
    for kind, shape in SHAPES.items():
        name = f"{row.onnx}/{kind}"
        path = mnt.path / "pb" / "initializers" / (name + ".pb")
        content = path.read_bytes()
        assert path.stat().st_size == len(content)
        # Field by field, as the format has them.
        assert content == tensor(name, row.number, shape, raw=tensors[name].payload).to_bytes()
        message = onnx.load_tensor(str(path))
        assert (message.name, message.data_type, tuple(message.dims)) == (name, row.number, shape)
        assert message.raw_data == tensors[name].payload
        if row.number <= KNOWN_TO_ONNX:
            onnx.checker.check_tensor(message)
            if row.onnx != "BFLOAT16":  # of which that reader makes float32
                assert onnx.numpy_helper.to_array(message).tobytes() == tensors[name].payload


def test_every_storage_and_place(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    with mount(model, "ro") as mnt:
        for path, it in tensors.items():
            message = onnx.load_tensor(str(mnt.path / "pb" / (path + ".pb")))
            assert tuple(message.dims) == it.shape
            assert payload(message) == it.payload, path
            if it.is_strings:
                assert list(message.string_data) == split_strings(it.payload)
                assert not message.raw_data


def test_one_can_be_mounted_again(viewed, mount, tmp_path):
    """A tensor taken out of one model is a model of its own to look at."""
    mnt, tensors = viewed
    (tmp_path / "t.pb").write_bytes((mnt.path / "pb" / "initializers" / "FLOAT" / "cube.pb").read_bytes())
    with mount(tmp_path / "t.pb") as again:
        assert (again.path / "values" / "FLOAT" / "cube.bin").read_bytes() == tensors["FLOAT/cube"].payload
        assert (again.path / "pb" / "values" / "FLOAT" / "cube.pb").read_bytes() == (tmp_path / "t.pb").read_bytes()
