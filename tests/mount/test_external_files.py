"""External data in the folders of real life: caches of links, a file for each tensor, files that change under the mount."""

import errno
import os
import struct

import pytest
from locations import CONTENT, FIRST, at
from mounting import BINARY, Mount, error_of, run
from onnx_wire import FLOAT, Message, graph, tensor, write_model


def test_hugging_face_cache(mount, tmp_path):
    """Model and data are links into blobs/, which lies beside the folder of the links."""
    snapshot, blobs = tmp_path / "snapshots" / "0123", tmp_path / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    (tmp_path / "refs").write_bytes(CONTENT)
    tensors = [tensor("w", FLOAT, [2], external=at("model.onnx_data", offset=8)),
               tensor("direct", FLOAT, [2], external=at("beside.bin")),
               tensor("stray", FLOAT, [2], external=at("stray.bin"))]
    write_model(blobs / "aaaa", graph(tensors))
    (blobs / "bbbb").write_bytes(CONTENT)
    (snapshot / "model.onnx").symlink_to("../../blobs/aaaa")
    (snapshot / "model.onnx_data").symlink_to("../../blobs/bbbb")
    (snapshot / "beside.bin").write_bytes(CONTENT)
    (snapshot / "stray.bin").symlink_to("../../refs")
    with mount(snapshot / "model.onnx") as mnt:
        assert mnt.bytes("w") == CONTENT[8:16]
        assert mnt.bytes("direct") == FIRST
        assert error_of(mnt.bytes, "stray") == errno.EIO


def test_model_link_with_data_beside_its_target(mount, tmp_path):
    """The folder of the resolved model is allowed too."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "data.bin").write_bytes(CONTENT)
    write_model(tmp_path / "real" / "m.onnx", graph([tensor("w", FLOAT, [2], external=at("data.bin"))]))
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "m.onnx").symlink_to("../real/m.onnx")
    (tmp_path / "links" / "data.bin").symlink_to("../real/data.bin")
    with mount(tmp_path / "links" / "m.onnx") as mnt:
        assert mnt.bytes("w") == FIRST


def test_a_file_for_each_tensor(tmp_path):
    """As old exporters write large models: more files than the usual limit of descriptors, and all work."""
    tensors = []
    for place in range(1500):
        (tmp_path / f"t{place}").write_bytes(struct.pack("<2I", place, 7))
        tensors.append(tensor(f"w{place}", FLOAT, [2], external=at(f"t{place}")))
    write_model(tmp_path / "m.onnx", graph(tensors))
    mount = Mount(tmp_path / "m.onnx", tmp_path / "mnt")
    try:
        done = run("sh", "-c", 'ulimit -S -n 1024; exec "$@"', "sh", BINARY, mount.model, mount.path)
        assert done.returncode == 0, done.stderr
        mount.attach()
        for place in range(1500):
            assert mount.bytes(f"w{place}") == struct.pack("<2I", place, 7)
        assert mount.problems() == []
    finally:
        mount.give_up()


@pytest.fixture
def pair(tmp_path):
    """A model with two tensors in one data file, so large that a read of one caches nothing of the other."""
    data = [struct.pack("<I", page) * 4096 for page in range(2)]
    (tmp_path / "m.data").write_bytes(b"".join(data))
    tensors = [tensor(name, FLOAT, [4096], external=at("m.data", offset=place * 16384))
               for place, name in enumerate("ab")]
    write_model(tmp_path / "m.onnx", graph([*tensors, tensor("inline", FLOAT, [2], raw=FIRST)]))
    return tmp_path / "m.onnx", tmp_path / "m.data", data


def test_data_file_replaced_by_rename(mount, pair, tmp_path):
    model, path, data = pair
    with mount(model) as mnt:
        assert mnt.bytes("a") == data[0]
        (tmp_path / "new").write_bytes(b"n" * 32768)
        os.replace(tmp_path / "new", path)
        assert (mnt.bytes("a"), mnt.bytes("b")) == (data[0], data[1])


@pytest.mark.parametrize("change", ["shrink", "rewrite"])
def test_data_file_changed_on_disk(mount, pair, change):
    model, path, data = pair
    with mount(model) as mnt:
        assert mnt.bytes("a") == data[0]
        if change == "shrink":
            os.truncate(path, 16384)
        else:
            with open(path, "r+b") as file:
                file.write(b"new bytes")
            os.utime(path, (1, 1))
        assert error_of(mnt.bytes, "b") == errno.ESTALE
        assert mnt.bytes("inline") == FIRST


def test_symlink_swapped_while_mounted(mount, tmp_path):
    """A link that is turned outwards after the mount leads nowhere new."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").write_bytes(CONTENT)
    (tmp_path / "secret").write_bytes(b"secret!!" * 8)
    (folder / "link").symlink_to("w.bin")
    write_model(folder / "m.onnx", graph([tensor("w", FLOAT, [2], external=at("link"))]))
    with mount(folder / "m.onnx") as mnt:
        (folder / "link").unlink()
        (folder / "link").symlink_to("../secret")
        try:
            assert mnt.bytes("w") == FIRST
        except OSError as error:
            assert error.errno in (errno.EIO, errno.ESTALE)


def test_unused_entries_are_ignored(mount, tmp_path):
    """external_data counts only with data_location EXTERNAL."""
    message = tensor("w", FLOAT, [2], raw=FIRST).message(13, Message().string(1, "location").string(2, "missing"))
    write_model(tmp_path / "m.onnx", graph([message, tensor("n", FLOAT, [2]).message(
        13, Message().string(1, "location").string(2, "m.onnx"))]))
    with mount(tmp_path / "m.onnx") as mnt:
        assert mnt.bytes("w") == FIRST
        assert mnt.json("w")["storage"] == "raw_data"
        assert error_of(mnt.bytes, "n") == errno.EIO
