"""Who may see what: edits and what a commit writes meanwhile are their owner's alone, and no file gains rights."""

import os
import stat

import pytest
from editable import overwrite
from mounting import onnxfs
from onnx_wire import FLOAT, graph, tensor, write_model


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("w", FLOAT, [2], raw=b"12345678")]))
    return path


def test_edits_are_private_whatever_the_umask(mount, model):
    before = os.umask(0)
    try:
        with mount(model) as mnt:
            overwrite(mnt.file("w"), 0, b"edit")
            folder = model.with_name("m.onnx.sidecar")
            assert mode(folder) == 0o700
            files = list(folder.iterdir())
            assert len(files) >= 2
            assert {mode(path) for path in files} == {0o600}
    finally:
        os.umask(before)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("bits", [0o640, 0o604, 0o4755, 0o2755])
def test_a_commit_keeps_mode_and_owner_but_no_special_bits(mount, model, bits):
    with mount(model) as mnt:
        overwrite(mnt.file("w"), 0, b"edit")
    os.chown(model, 1234, 5678)
    os.chmod(model, bits)
    assert onnxfs("commit", model).returncode == 0
    status = model.stat()
    assert mode(model) == bits & 0o777
    assert (status.st_uid, status.st_gid) == (1234, 5678)
    assert model.read_bytes().count(b"edit5678") == 1
