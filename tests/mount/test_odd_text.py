"""Bytes that are no text, text that is no line: what describes the model stays readable, line by line and as JSON."""

import errno
import json

import pytest
from mounting import error_of, onnxfs
from onnx_wire import FLOAT, STRING, Message, graph, model, node, tensor, value_info

NOT_TEXT = b"v\xff\xfe\0\x1b[31m\n\t\"\\"
CONTROLS = frozenset(map(chr, (*range(32), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F),
                               *range(0x2066, 0x206A))))
TURNED = "\x7f\x85\x9b31m\u061c\u200e\u2028\u202e\u2069"


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


@pytest.fixture(scope="module")
def turned(mount, tmp_path_factory):
    """A model of text that is UTF-8, and turns or moves what a terminal shows; and its mount."""
    tensors = [tensor(TURNED + "w", FLOAT, [1], raw=b"abcd").string(12, TURNED), tensor("s" + TURNED, STRING, [1]).string(6, TURNED),
               tensor(TURNED + "broken", FLOAT, [2], raw=b"1")]
    whole = model(graph(tensors, [node("A" + TURNED, ["x" + TURNED], ["y"], TURNED)], [value_info(TURNED, FLOAT, [TURNED])], [],
                        name=TURNED), producer=TURNED)
    whole.message(14, Message().string(1, TURNED).string(2, TURNED))
    path = tmp_path_factory.mktemp("turned") / "m.onnx"
    path.write_bytes(whole.to_bytes())
    with mount(path) as mounted:
        yield path, mounted


def lines_of(data):
    """The lines, which hold nothing that acts on the terminal they are shown at."""
    text = data.decode("utf-8")
    assert not set(text) & (CONTROLS - set("\n\t")), repr(text)
    return text.split("\n")


def test_no_file_moves_or_turns_what_is_shown(turned):
    _, mnt = turned
    paths = [path for path in mnt.path.rglob("*") if path.suffix in (".json", ".tsv", ".txt") or path.name == "XXH128SUMS"]
    assert len(paths) >= 3 + 3 + 4
    for path in paths:
        if path.name == "log.txt":
            continue
        assert not set(str(path)) & CONTROLS, path
        if "broken" in path.name and path.suffix == ".txt":
            continue
        data = path.read_bytes()
        assert len(data) == path.stat().st_size, path
        lines_of(data)
        if path.suffix == ".json":
            assert isinstance(json.loads(data), dict)
    assert json.loads(next(mnt.path.glob("initializers/*w.json")).read_bytes())["doc_string"] == TURNED
    assert json.loads(next(mnt.path.glob("text/initializers/s*.txt")).read_bytes()) == TURNED
    assert list(json.loads(mnt.text("model.json"))["metadata_props"].items()) == [(TURNED, TURNED)]


def test_no_command_does(turned, tmp_path):
    path, mnt = turned
    other = tmp_path / "other.onnx"
    other.write_bytes(model(graph([tensor("o" + TURNED, FLOAT, [1], raw=b"abcd")], [node("B" + TURNED, [], ["y"], TURNED)])).to_bytes())
    for words in (("ls", path), ("ls", "-l", path), ("ls", "--json", path), ("diff", path, other), ("diff", "--json", path, other),
                  ("check", path), ("check", "--json", path), ("stats", path), ("stats", "--json", path), ("status", mnt.path)):
        done = onnxfs(*words)
        lines_of((done.stdout + done.stderr).encode())
        assert len(done.stdout) > 10, words
        if "--json" in words:
            json.loads(done.stdout)


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
