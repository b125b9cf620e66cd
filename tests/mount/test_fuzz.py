"""Damaged models, held against protobuf: what it can parse is mounted with the same bytes; nothing hurts the daemon."""

import errno
import os
import random
import struct
import warnings

import pytest
from mounting import error_of, one_line, tried
from naming import stems_of
from onnx_wire import Message, attribute_ints, graph, model, node, tensor, value_info

onnx = pytest.importorskip("onnx", reason="python3-onnx is not installed")
from google.protobuf.message import DecodeError  # noqa: E402
from onnx import numpy_helper  # noqa: E402

SEEDS = [int(os.environ["ONNXFS_SEED"])] if "ONNXFS_SEED" in os.environ else [1, 2, 3, 4, 5]
CASES = 60


def whole_model():
    """Small, with each kind of field."""
    inner = graph([tensor("s", 1, [1], raw=b"sub!")], [node("Identity", ["a"], ["b"])], name="inner")
    branch = Message().string(1, "then_branch").message(6, inner).varint(20, 5)
    tensors = [
        tensor("w", 1, [2, 1], raw=b"12345678"), tensor("i", 6, [3]).packed_varints(5, [1, -1, 300]),
        tensor("f", 1, [2]).bytes(4, b"abcdefgh"), tensor("d", 11, [1]).bytes(10, b"abcdefgh"),
        tensor("l", 7, [2]).varint(7, 5).varint(7, -5), tensor("u", 12, [2]).packed_varints(11, [5, 1 << 31]),
        tensor("t", 8, [2]).bytes(6, b"x").bytes(6, b"yz"), tensor("h", 10, [2]).packed_varints(5, [15360, 49152])]
    nodes = [node("If", ["c"], ["o"], "if", [branch]),
             node("Conv", ["x", "w"], ["y"], "cv", [attribute_ints("k", [1, 2])])]
    return model(graph(tensors, nodes, [value_info("x", 1, ["n", 3])], [value_info("y", 1, [1])])).to_bytes()


def damage(content, generator):
    content = bytearray(content)
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        at, kind = generator.randrange(len(content)), generator.randrange(5)
        if kind == 0:
            content[at] = generator.randrange(256)
        elif kind == 1:
            content[at] ^= 1 << generator.randrange(8)
        elif kind == 2:
            del content[at:at + generator.randrange(1, 4)]
        elif kind == 3:
            content[at:at] = generator.randbytes(generator.randrange(1, 4))
        else:
            other = generator.randrange(len(content))
            content[at:at + 4] = content[other:other + 4]
    return bytes(content)


def parse(content):
    """The ModelProto, or None if protobuf refuses the bytes or reads only their beginning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            proto = onnx.ModelProto.FromString(content)
        except DecodeError:
            return None
    return None if caught else proto


def payload(proto):
    """What numpy_helper reads; None where it fails, or where its notion of an array says nothing of the bytes."""
    if proto.data_type == onnx.TensorProto.STRING:
        return b"".join(struct.pack("<I", len(text)) + text for text in proto.string_data)
    try:
        return numpy_helper.to_array(proto).tobytes()
    except Exception:  # of any kind: that reader does not check what it reads
        return None


def check_files(mnt):
    """Each file is read to its size, or refused as broken."""
    for folder, _, names in os.walk(mnt.path):
        for name in names:
            path = os.path.join(folder, name)
            if error_of(open, path, "rb") != errno.EIO:
                with open(path, "rb") as file:
                    assert len(file.read()) == os.stat(path).st_size, path


def check_tensors(mnt, proto):
    parts = proto.graph.initializer
    names = [part.name if isinstance(part.name, bytes) else part.name.encode() for part in parts]
    for part, stem in zip(parts, stems_of(names)):
        path = os.path.join(os.fsencode(mnt.path), b"initializers", stem + b".bin")
        if error_of(open, path, "rb") == errno.EIO:
            # Broken. The other reader must fail too, but for the -1 in a shape, which it takes for "the rest".
            excused = part.data_type == onnx.TensorProto.STRING or min(part.dims, default=0) < 0
            assert excused or payload(part) is None, stem
            continue
        with open(path, "rb") as file:
            content = file.read()
        if payload(part) is not None:
            assert content == payload(part), stem


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_model(tmp_path, seed):
    """Set ONNXFS_SEED to try another seed."""
    content = whole_model()
    for case in range(CASES):
        damaged = damage(content, random.Random(f"{seed}/{case}"))
        print(f"seed {seed} case {case}: {damaged.hex()}")
        (tmp_path / "m.onnx").write_bytes(damaged)
        proto = parse(damaged)
        with tried(tmp_path / "m.onnx", tmp_path / "mnt") as (mnt, done):
            if mnt is None:
                one_line(done)
                assert proto is None or not proto.HasField("graph"), done.stderr
            else:
                check_files(mnt)
                if proto:
                    check_tensors(mnt, proto)
                assert os.waitpid(mnt.pid, os.WNOHANG) == (0, 0), "the daemon died"
