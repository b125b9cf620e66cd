"""Listing the tensors of a model, of its file and of a mount."""

import csv
import json
import struct

import pytest
from editable import overwrite, write_editable
from mounting import BINARY, on_terminal, one_line, onnxfs, run
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
        assert [[item["bin"], item["dtype"], item["shape"], item["nbytes"], item["storage"]]
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


def columns_of(lines, word):
    return {line.index(word) for line in lines if word in line}


@pytest.mark.parametrize("words", [[], ["--long"], ["--totals"]])
def test_long_paths_keep_columns_in_line(tmp_path, words):
    names = ["w", "encoder." + "very_long_name." * 8 + "weight", "encoder." + "very_long_name." * 5 + "bias"]
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor(name, FLOAT, [1], raw=b"1234") for name in names]))
    word = " B" if words else "float32 "
    piped = ls(path, *words).split("\n\n")[-1 if words == ["--totals"] else 0].splitlines()
    assert len(piped) == 4 and len(columns_of(piped[1:], " 4" if word == " B" else word)) == 1
    if words != ["--totals"]:
        assert [line.split()[0] for line in piped[1:]] == ["initializers/" + name for name in names]
    shown = on_terminal(80, "ls", path, *words)
    cut = [line for line in shown if "…" in line]
    assert len(cut) == 2 and all(len(line) <= 80 for line in shown) and all(line.startswith("init") for line in cut)
    if not words:
        assert len(columns_of(shown[1:4], word)) == 1 and "weight " in cut[0] and "bias " in cut[1]
    assert on_terminal(300, "ls", path, *words) == ls(path, *words).splitlines()


def test_broken_tensors_in_totals(tmp_path):
    """One meaning in ls and stats: tensors of no bytes."""
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("w", FLOAT, [1], raw=b"1234"), tensor("b", FLOAT, [10], raw=b"12")]))
    totals = ls_json(path)["totals"]
    assert (totals["tensors"], totals["nbytes"], totals["broken"]) == (2, 4, 1)
    assert [(item["tensors"], item["nbytes"]) for item in totals["by_dtype"]] == [(2, 4)]
    for words in ([], ["--totals"]):
        assert "2 tensors, 4 B; 1 broken, of no bytes in sums\n" in ls(path, *words)
    done = onnxfs("stats", path)
    assert done.stdout.endswith("2 tensors, 1 element, 4 bytes; 0 with NaN or Inf; 1 broken, of no bytes in sums\n")


def test_names_and_near_misses(tmp_path):
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor(name, FLOAT, [1], raw=b"1234") for name in ("conv1.weight", "conv1.bias", "fc")]))
    both = ["initializers/conv1.weight", "initializers/conv1.bias"]
    for pattern in ("conv1*", "initializers/conv1*", "conv?.*", "*conv1.*"):
        assert ls(path, "--paths", pattern).splitlines() == both
    for pattern in ("conv1.weight", "conv1.weight.bin", "initializers/conv1.weight.npy"):
        assert ls(path, "--paths", pattern).splitlines() == both[:1]
    for command in ("ls", "stats", "discard"):
        line = one_line(onnxfs(command, path, "conv1.wieght"))
        assert line.endswith('has no tensor "conv1.wieght"; did you mean initializers/conv1.weight?')
    assert "did you mean initializers/fc?" in one_line(onnxfs("diff", path, path, "initialisers/fc"))
    assert "`onnxfs ls` lists them" in one_line(onnxfs("ls", path, "quite.another"))


def test_a_folder_is_no_model(tmp_path):
    for words in (["ls", "."], ["stats", "."], ["diff", ".", "."], ["status", "."], ["export", ".", "o", "--inline"]):
        assert ". is a folder: neither a model's file nor" in one_line(onnxfs(*words, cwd=tmp_path)), words


def test_many_tensors_take_a_moment(tmp_path):
    """Shells ask for the paths while somebody types."""
    path = tmp_path / "many.onnx"
    data = struct.pack("<f", 1)
    write_model(path, graph([tensor(f"layers.{i // 10}.w{i % 10}", FLOAT, [1], raw=data) for i in range(20_000)]))
    assert len(ls(path, "--paths", timeout=5).splitlines()) == 20_000
