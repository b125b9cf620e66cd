"""A small model with tensors in its file and in a data file, and edits of it, for the tests of what becomes of edits."""

from editable import overwrite, replacement
from editing import sidecar_of
from onnx_wire import FLOAT, INT64, graph, tensor, write_model

OLD = bytes(range(250)) * 40
DATA = b"data" * 2000


def tensors():
    return [tensor("w", FLOAT, [2500], raw=OLD), tensor("v", FLOAT, [2500], raw=OLD[::-1]),
            tensor("typed", INT64, [3]).packed_varints(7, [1, -1, 5]),
            tensor("e", FLOAT, [1000], external=[("location", "m.data"), ("offset", "0"), ("length", "4000")]),
            tensor("f", FLOAT, [1000], external=[("location", "m.data"), ("offset", "4000"), ("length", "4000")])]


def write_small(folder):
    (folder / "m.data").write_bytes(DATA)
    write_model(folder / "m.onnx", graph(tensors()))
    return folder / "m.onnx"


def edit(mount, saved):
    """Leaves edits in the sidecar, and gives the contents with them."""
    with mount(saved) as mnt:
        overwrite(mnt.file("w"), 4000, b"edited")
        replacement(mnt.file("typed"), b"t" * 24)
        overwrite(mnt.file("e"), 100, b"external")
        return all_bytes(mnt)


def all_bytes(mnt):
    return {name: mnt.bytes(name) for name in ("w", "v", "typed", "e", "f")}


def overwritten(path, offset, data):
    """Changes a file in place as another program would."""
    content = bytearray(path.read_bytes())
    content[offset:offset + len(data)] = data
    path.write_bytes(content)


def blobs(model):
    found = sorted(sidecar_of(model).rglob("*.blob"), key=lambda path: path.stat().st_size)
    assert found, sorted(sidecar_of(model).rglob("*"))
    return found
