"""Bytes that are no text, text that is no line: what describes the model stays readable, line by line and as JSON."""

import errno
import json

import pytest
from mounting import error_of
from onnx_wire import FLOAT, Message, graph, model, node, tensor, value_info

NOT_TEXT = b"v\xff\xfe\0\x1b[31m\n\t\"\\"


@pytest.fixture(scope="module")
def mnt(mount, tmp_path_factory):
    """Every string of the model is hostile. Three tensors are broken, two share a name, two are sound."""
    tensors = [tensor(b"one\nbroken", FLOAT, [2], raw=b"1"), tensor(b"two\xff", FLOAT, [2], raw=b"1"),
               tensor("three", FLOAT, [1], external=[("location", NOT_TEXT), (NOT_TEXT, NOT_TEXT)]),
               tensor("documented", FLOAT, [1], raw=b"abcd").bytes(12, NOT_TEXT),
               tensor("plain", FLOAT, [1], raw=b"abcd"),
               tensor("twin", FLOAT, [1], raw=b"abcd"), tensor("twin", FLOAT, [1], raw=b"efgh")]
    nodes = [node(NOT_TEXT, [NOT_TEXT], [NOT_TEXT], NOT_TEXT, domain=NOT_TEXT),
             node("Add", ["", "a b, c"], ["y = z"], "# no\r\n"), Message().string(2, "bare")]
    inputs = [value_info(NOT_TEXT, FLOAT, [NOT_TEXT.decode("latin-1"), 2])]
    whole = model(graph(tensors, nodes, inputs, [value_info("y", 99, [-1])], name=NOT_TEXT), producer=NOT_TEXT)
    whole.bytes(6, NOT_TEXT).message(14, Message().bytes(1, NOT_TEXT).bytes(2, NOT_TEXT))
    whole.message(14, Message().string(1, "key"))
    path = tmp_path_factory.mktemp("text") / "m.onnx"
    path.write_bytes(whole.to_bytes())
    with mount(path) as mounted:
        yield mounted


def test_every_json_is_json(mnt):
    files = [path for path in mnt.path.rglob("*.json")]
    assert len(files) == 7 + 2
    for path in files:
        assert isinstance(json.loads(path.read_bytes().decode("utf-8")), dict), path


def test_one_line_a_node(mnt):
    lines = mnt.text("graph.txt").split("\n")
    assert len(lines) == 4 and lines[-1] == ""
    assert "bare" in lines[2]
    for line in lines:
        assert not set(line) & set(map(chr, (*range(32), 127))), repr(line)


def test_one_line_a_problem(mnt):
    lines = mnt.text("problems.txt").split("\n")
    assert lines.pop() == ""
    for word in ("one", "two", "three", "twin"):
        assert sum(word in line for line in lines) >= 1, word
    assert all(any(word in line for word in ("one", "two", "three", "twin")) for line in lines), lines
    assert not any(set(line) & set(map(chr, (*range(32), 127))) for line in lines)


def test_index_has_one_row_a_tensor(mnt):
    rows = mnt.text("index.tsv").split("\n")
    assert len(rows) == 1 + 7 + 1 and rows[-1] == ""
    assert {len(row.split("\t")) for row in rows[:-1]} == {5}


def test_tensors_work(mnt):
    assert mnt.bytes("documented") == mnt.bytes("plain") == b"abcd"
    assert [mnt.bytes("twin"), mnt.bytes("twin@2")] == [b"abcd", b"efgh"]
    for stem in ("one%0Abroken", "two%FF", "three"):
        assert error_of(mnt.bytes, stem) == errno.EIO
    assert mnt.json("documented")["doc_string"].startswith("v")
