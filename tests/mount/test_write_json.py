"""Writing a tensor's JSON edits its documentation and its shape, and nothing else."""

import errno
import json
import os

import pytest
from editing import close_error, kill_and_remount, unchanged
from mounting import error_of, run
from onnx_wire import FLOAT, INT4, INT64, STRING, graph, tensor, write_model

DATA = bytes(range(240))


@pytest.fixture
def mnt(mount, tmp_path):
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("w", FLOAT, [6, 10], raw=DATA).string(12, "old words"),
                             tensor("bare", INT64, [2], raw=DATA[:16]), tensor("packed", INT4, [3], raw=b"\x21\x03"),
                             tensor("s", STRING, [2]).bytes(6, b"a").bytes(6, b"b"),
                             tensor("broken", FLOAT, [2], raw=b"1")]))
    with mount(path) as mounted:
        yield mounted


def changed(mnt, tensor="w", /, **values):
    return json.dumps({**mnt.json(tensor), **values}, indent=1).encode()


def by_write(path, content):
    path.write_bytes(content)


def by_rename(path, content):
    temporary = path.with_name("tmp.json")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        if temporary.exists():
            temporary.unlink()


WAYS = pytest.mark.parametrize("write", [by_write, by_rename], ids=lambda write: write.__name__)


@WAYS
def test_doc_string(mnt, write):
    for text in ("new words", "", "é ✓ \n\t\"quoted\" \\ " + "x" * 5000, "old words"):
        write(mnt.file("w", ".json"), changed(mnt, doc_string=text))
        assert mnt.json("w")["doc_string"] == text
        assert mnt.file("w", ".json").stat().st_size == len(mnt.file("w", ".json").read_bytes())
    assert mnt.json("w")["shape"] == [6, 10]
    assert mnt.bytes("w") == DATA


@WAYS
@pytest.mark.parametrize("shape", [[60], [10, 6], [1, 60, 1], [2, 3, 2, 5]])
def test_shape(mnt, write, shape):
    write(mnt.file("w", ".json"), changed(mnt, shape=shape))
    found = mnt.json("w")
    assert (found["shape"], found["elements"], found["nbytes"]) == (shape, 60, 240)
    assert json.loads(os.getxattr(mnt.file("w"), "user.onnx.shape")) == shape
    assert mnt.bytes("w") == DATA
    row, = [line for line in mnt.text("index.tsv").splitlines() if line.startswith("initializers/w.bin\t")]
    assert row.split("\t")[2] == json.dumps(shape, separators=(",", ":"))


def test_both_at_once_and_only_some_keys(mnt):
    mnt.file("bare", ".json").write_text(json.dumps({"shape": [1, 2], "doc_string": "both"}))
    assert (mnt.json("bare")["shape"], mnt.json("bare")["doc_string"]) == ([1, 2], "both")
    mnt.file("packed", ".json").write_text(json.dumps({"shape": [3, 1]}))
    assert mnt.json("packed")["shape"] == [3, 1]
    mnt.file("s", ".json").write_text(changed(mnt, "s", shape=[2, 1]).decode())
    assert mnt.json("s")["shape"] == [2, 1]


def test_what_was_read_can_be_written(mnt):
    """The same content changes nothing."""
    content = mnt.file("w", ".json").read_bytes()
    mnt.file("w", ".json").write_bytes(content)
    assert mnt.json("w") == json.loads(content)


WRONG = {
    "another count": {"shape": [6, 11]}, "no elements": {"shape": [0, 10]}, "a scalar": {"shape": []},
    "a negative dimension": {"shape": [-6, -10]}, "an inferred dimension": {"shape": [-1, 10]},
    "an overflow": {"shape": [1 << 62, 1 << 62, 60]}, "not a number": {"shape": ["6", 10]},
    "not a list": {"shape": 60}, "a fraction": {"shape": [6.5, 10]}, "null shape": {"shape": None},
    "another type": {"dtype": "int32"}, "another onnx_type": {"onnx_type": "INT32"}, "another name": {"name": "v"},
    "another size": {"nbytes": 4}, "another storage": {"storage": "external"}, "another kind": {"kind": "value"},
    "a problem": {"problem": "mine"}, "an unknown key": {"color": "red"}, "doc_string of a number": {"doc_string": 5},
    "doc_string and a wrong shape": {"doc_string": "x", "shape": [7]},
    "an offset": {"offset": 0},
}


@WAYS
@pytest.mark.parametrize("name", WRONG)
def test_anything_else_is_refused(mnt, write, name):
    path = mnt.file("w", ".json")
    with unchanged(path), unchanged(mnt.file("w")):
        assert error_of(write, path, changed(mnt, **WRONG[name])) == errno.EINVAL


NOT_JSON = [b"", b" ", b"{", b"[]", b"null", b"5", b'{"shape": [6, 10]} x', b'{"shape": [6, 10], }', b"\xff\xfe",
            b'{"doc_string": "\xff"}', b"[" * 100_000, b'{"doc_string": "a", "doc_string": "b"}{']


@WAYS
@pytest.mark.parametrize("content", NOT_JSON, ids=lambda content: repr(content[:24]))
def test_bad_json_is_refused(mnt, write, content):
    path = mnt.file("w", ".json")
    with unchanged(path):
        assert error_of(write, path, content) == errno.EINVAL


def test_an_error_at_close(mnt):
    path = mnt.file("w", ".json")
    with unchanged(path):
        assert close_error(path, os.O_WRONLY | os.O_TRUNC, (0, b"no json")) == errno.EINVAL


def test_sed(mnt):
    """It writes a temporary file beside, and renames it."""
    done = run("sed", "-i", "s/old words/new words/", mnt.file("w", ".json"))
    assert done.returncode == 0, done.stderr
    assert mnt.json("w")["doc_string"] == "new words"
    assert sorted(os.listdir(mnt.path / "initializers")) == sorted(
        name + suffix for name in ("w", "bare", "packed", "s", "broken") for suffix in (".bin", ".json"))


def test_sed_that_makes_no_sense(mnt):
    path = mnt.file("w", ".json")
    with unchanged(path):
        done = run("sed", "-i", "s/float32/float64/", path)
        assert done.returncode != 0 and "Invalid argument" in done.stderr


def test_jq(mnt):
    path = mnt.file("w", ".json")
    done = run("bash", "-c", f"jq '.shape = [60]' {path} > {path}.tmp && mv {path}.tmp {path}")
    assert done.returncode == 0, done.stderr
    assert mnt.json("w")["shape"] == [60]


def test_python_json_dump_in_place(mnt):
    with open(mnt.file("w", ".json"), "r+", encoding="utf-8") as file:
        value = json.load(file)
        value["doc_string"] = "short"
        file.seek(0)
        json.dump(value, file)
        file.truncate()
    assert mnt.json("w")["doc_string"] == "short"


def test_a_broken_tensor(mnt):
    with unchanged(mnt.file("broken", ".json")):
        assert error_of(mnt.file("broken", ".json").write_text, '{"doc_string": "x"}') == errno.EROFS


def test_it_lasts(mount, mnt):
    mnt.file("w", ".json").write_bytes(changed(mnt, shape=[2, 30], doc_string="lasting"))
    kill_and_remount(mnt)
    assert (mnt.json("w")["shape"], mnt.json("w")["doc_string"]) == ([2, 30], "lasting")
    assert mnt.json("w")["edited"] is True
    assert mnt.bytes("w") == DATA


def test_words_and_bytes_together(mnt):
    mnt.file("w", ".json").write_bytes(changed(mnt, shape=[60]))
    mnt.file("w").write_bytes(bytes(240))
    mnt.file("w", ".json").write_bytes(changed(mnt, doc_string="d"))
    assert mnt.bytes("w") == bytes(240)
    assert (mnt.json("w")["shape"], mnt.json("w")["doc_string"]) == ([60], "d")
