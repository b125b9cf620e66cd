"""What is no ONNX model is refused in one line that says what it is."""

import gzip
import io
import os
import pickle
import random
import shutil
import zipfile

import pytest
from mounting import BINARY, one_line, onnxfs, refusal, run
from onnx_wire import FLOAT, INT64, Message, graph, model, tensor


def zipped(member="model/weights.txt"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member, b"weights")
    return buffer.getvalue()


def saved_model():
    meta = Message().message(1, Message().string(4, "serve").string(5, "2.15.0")).bytes(2, b"\x0a\x03\xff\xfe\xfd")
    return Message().varint(1, 1).message(2, meta).to_bytes()


def graph_def():
    part = Message()
    for name in ("a", "b"):
        part.message(1, Message().string(1, name).string(2, "Const").string(4, "/cpu:0"))
    return part.message(4, Message().varint(1, 440)).to_bytes()


LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 132735\n"
ONNX_TEXT = b"""<
   ir_version: 8,
   opset_import: ["" : 17]
>
agraph (float[N] x) => (float[N] y) { y = Identity(x) }
"""

# name: (file name, content, what the line must mention, in lower case)
KINDS = {
    "git-lfs pointer": ("m.onnx", LFS_POINTER, "lfs"),
    "zip": ("m.onnx", zipped(), "zip"),
    "what torch.save writes": ("m.pt", zipped("archive/data.pkl"), "pytorch"),
    "gzip": ("m.onnx", gzip.compress(model(graph()).to_bytes()), "gzip"),
    "pickle 2": ("m.onnx", pickle.dumps({"w": [1.0, 2.0]}, 2), "pickle"),
    "pickle 4": ("m.pkl", pickle.dumps({"w": [1.0, 2.0]}, 4), "pickle"),
    "html": ("m.onnx", b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n", "html"),
    "html in lower case": ("m.onnx", b"<html>404</html>", "html"),
    "ort": ("m.ort", b"\x18\0\0\0ORTM" + bytes(range(64)), "ort"),
    "savedmodel": ("saved_model.pb", saved_model(), "savedmodel"),
    "textproto": ("m.onnx", b'ir_version: 8\nproducer_name: "pytorch"\ngraph {\n  name: "g"\n}\n', "text"),
    "textproto that starts with a comment": ("m.textproto", b"# a model\nir_version: 8\ngraph {\n}\n", "text"),
    "onnx text": ("m.onnxtxt", ONNX_TEXT, "text"),
    "json": ("m.onnx", b'{\n  "irVersion": "8",\n  "graph": {"name": "g"}\n}\n', "json"),
    "json in one line": ("m.json", b'{"irVersion":"8","graph":{"name":"g"}}', "json"),
    "empty": ("m.onnx", b"", "empty"),
    "garbage": ("m.onnx", random.Random(4).randbytes(4096), ""),
    "zeros": ("m.onnx", bytes(4096), ""),
    "english": ("m.onnx", b"This is not a model.\n", ""),
    "one byte": ("m.onnx", b"\x08", ""),
    "version only": ("m.onnx", b"\x08\x08", ""),
    "tensor": ("m.onnx", tensor("x", FLOAT, [2], raw=b"12345678").to_bytes(), "tensorproto"),
    "tensor with int64_data": ("m.onnx", tensor("x", INT64, [2]).packed_varints(7, [1, 2]).to_bytes(), "tensorproto"),
    "tensor whose int64_data reads like a graph": (
        "m.onnx", tensor("x", INT64, [2]).packed_varints(7, [10, 0]).to_bytes(), "tensorproto"),
    "graph def": ("frozen.pb", graph_def(), ""),
}


@pytest.mark.parametrize("name", KINDS)
def test_refused_with_its_name(tmp_path, name):
    file, content, mention = KINDS[name]
    (tmp_path / file).write_bytes(content)
    line = refusal(tmp_path / file, tmp_path / "mnt")
    said = line.replace(str(tmp_path), "").replace(file, "<file>").lower()
    assert mention in said
    assert "<file>" in said
    assert "html" not in said or "html" in name


def test_zip_is_not_called_gzip(tmp_path):
    (tmp_path / "m").write_bytes(zipped())
    assert "gzip" not in refusal(tmp_path / "m", tmp_path / "mnt").replace(str(tmp_path), "").lower()


def test_missing_file(tmp_path):
    assert "No such file" in refusal(tmp_path / "none.onnx", tmp_path / "mnt")


@pytest.mark.parametrize("kind", ["fifo", "null", "zero", "loop"])
def test_special_files_do_not_hang(tmp_path, kind):
    path = tmp_path / "m.onnx"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to("m.onnx")
    else:
        path = f"/dev/{kind}"
    refusal(path, tmp_path / "mnt", timeout=5)


@pytest.mark.skipif(os.getuid() != 0, reason="another user is needed to lack a permission")
def test_unreadable_model(open_folder):
    (open_folder / "m.onnx").write_bytes(model(graph([tensor("w", FLOAT, [1], raw=b"1234")])).to_bytes())
    (open_folder / "m.onnx").chmod(0o600)
    shutil.copy(BINARY, open_folder / "onnxfs")
    done = run(open_folder / "onnxfs", open_folder / "m.onnx", open_folder / "mnt", user=65534, group=65534,
               extra_groups=[])
    assert "m.onnx" in one_line(done) and "Permission denied" in done.stderr


@pytest.mark.parametrize("words", [
    [], ["only-one-word"], ["a", "b", "c"], ["a", "b", "-o"], ["a", "b", "--no-such-flag"]], ids=" ".join)
def test_wrong_command_lines(tmp_path, words):
    done = onnxfs(*words, cwd=tmp_path)
    assert done.returncode > 0 and done.stderr.strip()
    assert os.listdir(tmp_path) == []


def test_umount_of_what_is_not_mounted(tmp_path):
    assert str(tmp_path) in one_line(onnxfs("umount", tmp_path))
    assert tmp_path.is_dir()
