"""Edits stay with a model that was touched, copied or moved, and never meet the bytes of another one."""

import errno
import os
import shutil

import pytest
from edited_model import OLD, all_bytes, edit, overwritten, tensors, write_small
from editable import overwrite
from editing import sidecar_of
from mounting import error_of, one_line, onnxfs, refusal
from onnx_wire import FLOAT, graph, tensor, write_model


@pytest.fixture
def saved(tmp_path):
    return write_small(tmp_path)


def touch(model):
    os.utime(model)


def copy_anew(model):
    shutil.copyfile(model, model.with_name("copy"))
    os.replace(model.with_name("copy"), model)


@pytest.mark.parametrize("change", [touch, copy_anew], ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["m.onnx", "m.data"])
def test_a_touched_model_keeps_its_edits(mount, saved, change, name):
    wanted = edit(mount, saved)
    change(saved.with_name(name))
    with mount(saved) as mnt:
        assert all_bytes(mnt) == wanted
        overwrite(mnt.file("v"), 0, b"goes on")
        assert mnt.bytes("v")[:7] == b"goes on"


def test_a_moved_model_keeps_its_edits(mount, saved, tmp_path):
    wanted = edit(mount, saved)
    (tmp_path / "elsewhere").mkdir()
    for path in (saved, saved.with_name("m.data"), sidecar_of(saved)):
        shutil.copytree(path, tmp_path / "elsewhere" / path.name) if path.is_dir() else shutil.copy(
            path, tmp_path / "elsewhere")
    with mount(tmp_path / "elsewhere" / "m.onnx") as mnt:
        assert all_bytes(mnt) == wanted


def replaced_bytes(saved):
    overwritten(saved, saved.read_bytes().index(OLD) + 4002, b"x")


def structure(saved):
    write_model(saved, graph(tensors(), name="main-graph"))


def another_size(saved):
    write_model(saved, graph([*tensors(), tensor("more", FLOAT, [1], raw=b"1234")]))


def data_file(saved):
    overwritten(saved.with_name("m.data"), 104, b"x")


def data_file_size(saved):
    with open(saved.with_name("m.data"), "ab") as file:
        file.write(b"more")


RETRAINED = [replaced_bytes, structure, another_size, data_file, data_file_size]


@pytest.mark.parametrize("change", RETRAINED, ids=lambda change: change.__name__)
def test_a_retrained_model_is_refused(mount, saved, tmp_path, change):
    """Mount and commit name the way out; after it the model is as it is, without the edits."""
    edit(mount, saved)
    change(saved)
    files = {name: saved.with_name(name).read_bytes() for name in ("m.onnx", "m.data")}
    line = refusal(saved, tmp_path / "mnt")
    assert "onnxfs discard" in line and "m.onnx" in line
    line = one_line(onnxfs("commit", saved))
    assert "onnxfs discard" in line and "m.onnx" in line
    assert {name: saved.with_name(name).read_bytes() for name in files} == files
    assert sidecar_of(saved).is_dir()
    assert onnxfs("discard", saved).returncode == 0
    assert not sidecar_of(saved).exists()
    with mount(saved) as mnt:
        assert mnt.json("w")["edited"] is False


def test_bytes_elsewhere_may_change(mount, saved):
    """Of a model of the same size and structure, what counts is what the edits replaced."""
    edit(mount, saved)
    overwritten(saved, saved.read_bytes().index(OLD[::-1]) + 10, b"other")
    with mount(saved) as mnt:
        assert mnt.bytes("w")[4000:4006] == b"edited"
        assert mnt.bytes("v")[10:15] == b"other"


def test_a_model_that_changes_under_the_mount(mount, saved):
    """Nothing is written for a model that is no longer there."""
    with mount(saved) as mnt:
        overwrite(mnt.file("w"), 0, b"before")
        overwritten(saved, 0, saved.read_bytes()[:1])
        os.utime(saved, ns=(1, 1))
        assert error_of(overwrite, mnt.file("v"), 0, b"after") == errno.ESTALE
    with mount(saved) as mnt:
        assert mnt.bytes("w")[:6] == b"before"
        assert mnt.bytes("v") == OLD[::-1]
