"""What the other files of the mount say of an edit, from the next open on."""

import errno
import json
import os
import time

import pytest
from datatypes import string_payload
from editable import bin_path, overwrite, replacement, write_editable
from editing import opened
from mounting import error_of, onnxfs, run


@pytest.fixture
def mnt(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    os.utime(model, ns=(10**18, 10**18))
    with mount(model) as mounted:
        mounted.tensors = tensors
        yield mounted


def about(mnt, path):
    return json.loads((mnt.path / (path + ".json")).read_text())


def row(mnt, path):
    header, *rows = [line.split("\t") for line in mnt.text("index.tsv").splitlines()]
    found, = [row for row in rows if row[0] == path + ".bin"]
    return dict(zip(header, found))


def listed(mnt):
    return [line.split("\t") for line in mnt.text(".onnxfs/edits.tsv").splitlines()]


PATHS = ["initializers/raw", "initializers/float/runs", "initializers/external/a", "attributes/trees/ids",
         "subgraphs/if/then_branch/initializers/deep/i", "sparse_initializers/s/values"]


@pytest.mark.parametrize("path", PATHS)
def test_json_and_index(mnt, path):
    before = about(mnt, path)
    assert before["edited"] is False and row(mnt, path)["storage"] == before["storage"]
    overwrite(bin_path(mnt, path), 1, b"!")
    after = about(mnt, path)
    assert after["edited"] is True
    assert after["storage"] == row(mnt, path)["storage"] == "sidecar"
    for key in ("name", "kind", "scope", "dtype", "onnx_type", "bits", "shape", "elements", "nbytes", "numpy"):
        assert after[key] == before[key], key
    assert (mnt.path / (path + ".json")).stat().st_size == len((mnt.path / (path + ".json")).read_bytes())
    others = [other for other in mnt.tensors if other != path]
    assert not any(about(mnt, other)["edited"] for other in others)


def test_a_json_that_was_read_before(mnt):
    """An edit of a tensor whose JSON was read, and open, before."""
    path = mnt.path / "initializers" / "raw.json"
    with open(path, encoding="utf-8") as held:
        assert json.load(held)["edited"] is False
        for turn in range(20):
            overwrite(mnt.file("raw"), turn, b"!")
            assert json.loads(path.read_text())["edited"] is True
            assert row(mnt, "initializers/raw")["storage"] == "sidecar"


@pytest.mark.parametrize("name", ["initializers/raw.json", "index.tsv"])
def test_an_edit_between_two_reads(mnt, name):
    """Who has begun to read a file that tells of tensors reads on in the same one, whatever its size is by now."""
    def change(turn):
        if turn == 0:
            overwrite(mnt.file("raw"), 0, b"!")
            return
        elements = about(mnt, "initializers/raw")["elements"]
        shape = [elements] if turn % 2 else [1, 1, 1, elements]
        mnt.file("raw", ".json").write_text(json.dumps({**about(mnt, "initializers/raw"), "shape": shape}))

    for turn in range(6):
        before = (mnt.path / name).read_bytes()
        with opened(mnt.path / name, os.O_RDONLY) as fd, opened(mnt.path / name, os.O_RDONLY) as unread:
            first = os.read(fd, len(before) if turn % 3 else 100)
            change(turn)
            assert (mnt.path / name).read_bytes() != before
            rest = b"".join(iter(lambda: os.read(fd, 1000), b""))
            assert first + rest == before
            assert os.read(unread, 2 * len(before)) == before
        after = (mnt.path / name).read_bytes()
        assert after != before and (mnt.path / name).stat().st_size == len(after)


def test_the_log_says_why_something_was_refused(mnt):
    def refused(error, sentence, work, *arguments):
        assert error_of(work, *arguments) == error
        lines = mnt.text(".onnxfs/log.txt").splitlines()
        assert any(sentence in line for line in lines), lines

    def replace(path, data):
        with opened(path, os.O_WRONLY | os.O_TRUNC) as fd:
            os.write(fd, data)

    assert mnt.text(".onnxfs/log.txt") == ""
    refused(errno.EINVAL, "initializers/raw: 5 bytes were written", replace, mnt.file("raw"), b"short")
    refused(errno.EINVAL, "initializers/raw: what was written is no JSON object", replace, mnt.file("raw", ".json"), b"{")
    refused(errno.EROFS, "cannot be edited", os.open, mnt.path / "model.json", os.O_WRONLY)


def test_edits_tsv(mnt):
    quiet = listed(mnt)
    overwrite(mnt.file("raw"), 0, b"12345")
    overwrite(mnt.file("external/a"), 0, b"12345")
    mnt.file("strings", ".json").write_text(json.dumps({**mnt.json("strings"), "doc_string": "words"}))
    text = mnt.text(".onnxfs/edits.tsv")
    assert len(listed(mnt)) == len(quiet) + 3
    for path in ("raw", "external/a", "strings"):
        assert f"initializers/{path}" in text


def test_hash(mnt):
    path = mnt.file("raw")
    before = os.getxattr(path, "user.onnx.xxh128").decode()
    overwrite(path, 100, b"!")
    after = os.getxattr(path, "user.onnx.xxh128").decode()
    assert before != after == run("xxhsum", "-H2", path).stdout.split()[0]


def test_times(mnt):
    path, other = mnt.file("raw"), mnt.file("large")
    assert path.stat().st_mtime_ns == other.stat().st_mtime_ns == 10**18
    start = time.time() - 0.1
    overwrite(path, 0, b"!")
    first = path.stat().st_mtime
    assert start <= first <= time.time() + 0.1
    time.sleep(0.05)
    overwrite(path, 0, b"?")
    assert path.stat().st_mtime > first
    assert other.stat().st_mtime_ns == 10**18


def test_sizes(mnt):
    path = mnt.file("strings")
    for count in (0, 1000, 10):
        content = string_payload([b"x" * count] * 5)
        replacement(path, content)
        assert path.stat().st_size == about(mnt, "initializers/strings")["nbytes"] == len(content)
        assert int(row(mnt, "initializers/strings")["nbytes"]) == len(content)
        assert path.stat().st_blocks * 512 >= len(content)
    for path, editable in mnt.tensors.items():
        if not editable.is_strings:
            assert bin_path(mnt, path).stat().st_size == len(editable.payload)


def test_sizes_of_derived_files(mnt):
    """A reader never gets more or less than the size that it is told at open."""
    overwrite(mnt.file("raw"), 0, b"!")
    replacement(mnt.file("strings"), string_payload([b"y" * 70_000, b"", b"", b"", b""]))
    for path in mnt.path.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert path.stat().st_size == len(content), path


def test_status(mnt):
    overwrite(mnt.file("raw"), 0, b"!")
    for target in (mnt.path, mnt.model):
        done = onnxfs("status", target)
        assert done.returncode == 0, done.stderr
        assert "initializers/raw" in done.stdout and "initializers/large" not in done.stdout


def test_a_program_that_polls(mnt):
    """Each next open sees the edit before, however the kernel caches."""
    for turn in range(300):
        data = b"%04d" % turn
        overwrite(mnt.file("raw"), 4 * turn, data)
        assert mnt.bytes("raw")[4 * turn:4 * turn + 4] == data


def test_other_processes(mnt):
    for turn in range(20):
        done = run("bash", "-c", f"printf %04d {turn} | dd of={mnt.file('raw')} conv=notrunc bs=4 status=none && "
                                 f"head -c 4 {mnt.file('raw')}")
        assert done.stdout == f"{turn:04}"
