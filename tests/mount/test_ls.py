"""Listing the tensors of a model, of its file and of a mount."""

import csv
import json
import struct

import pytest
from editable import overwrite, write_editable
from mounting import BINARY, one_line, onnxfs, run
from onnx_wire import FLOAT, graph, tensor, write_model


def ls(*words, **how):
    done = onnxfs("ls", *words, **how)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def ls_json(*words):
    return json.loads(ls(*words, "--json"))


@pytest.fixture
def editable(tmp_path):
    return write_editable(tmp_path)


def test_it_is_what_a_mount_shows(mount, editable):
    model, _ = editable
    with mount(model) as mnt:
        overwrite(mnt.file("raw"), 4, b"edit")
        listed = ls_json(mnt.path)["tensors"]
        with open(mnt.path / "index.tsv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        assert [[item["path"] + ".bin", item["dtype"], item["shape"], item["nbytes"], item["storage"]]
                for item in listed] == [[row["path"], row["dtype"], json.loads(row["shape"]), int(row["nbytes"]),
                                         row["storage"]] for row in rows]
        for item in listed:
            about = json.loads((mnt.path / (item["path"] + ".json")).read_text())
            for key in ("name", "dtype", "shape", "nbytes", "storage", "file", "offset", "length", "edited", "problem"):
                assert item[key] == about[key], (item["path"], key)
        assert [item["path"] for item in listed if item["edited"]] == ["initializers/raw"]
    assert ls_json(model)["tensors"] == listed


def test_a_model_in_a_mounted_folder(mount, editable):
    model, tensors = editable
    with mount(model.parent) as mnt:
        assert ls(mnt.path / model.name, "--paths").splitlines() == [*ls(model, "--paths").splitlines()]
    assert set(ls(model, "--paths").splitlines()) == set(tensors)


def test_sums(editable):
    model, tensors = editable
    totals = ls_json(model)["totals"]
    assert totals["nbytes"] == sum(len(it.payload) for it in tensors.values())
    for item in totals["by_dtype"]:
        assert item["nbytes"] == sum(len(it.payload) for it in tensors.values() if it.dtype == item["dtype"])
    for by in ("by_dtype", "by_layer"):
        assert sum(item["nbytes"] for item in totals[by]) == totals["nbytes"]
        assert sum(item["tensors"] for item in totals[by]) == len(tensors)


def test_it_fails_in_one_line(editable, tmp_path):
    model, _ = editable
    assert "nowhere*" in one_line(onnxfs("ls", model, "nowhere*"))
    assert "none.onnx" in one_line(onnxfs("ls", tmp_path / "none.onnx"))
    done = run("sh", "-c", '"$0" ls "$1" >/dev/full', BINARY, model)
    assert "standard output" in one_line(done)


def test_many_tensors_take_a_moment(tmp_path):
    """Shells ask for the paths while somebody types."""
    path = tmp_path / "many.onnx"
    data = struct.pack("<f", 1)
    write_model(path, graph([tensor(f"layers.{i // 10}.w{i % 10}", FLOAT, [1], raw=data) for i in range(20_000)]))
    assert len(ls(path, "--paths", timeout=5).splitlines()) == 20_000
