"""XXH128SUMS: what xxhsum checks, and what diff tells of two models."""

import os
import re

import pytest
from editable import bin_path, overwrite, payloads, replacement, write_editable
from editing import kill_and_remount
from mounting import run
from onnx_wire import FLOAT, STRING, Message, graph, tensor, write_model

LINE = re.compile(r"([0-9a-f]{32})  (.+)\.bin")


def sums(mnt):
    """{path without its suffix: hash}"""
    path = mnt.path / "XXH128SUMS"
    size = path.stat().st_size
    content = path.read_text()
    assert len(content.encode()) == size
    return {path: digest for digest, path in (LINE.fullmatch(line).groups() for line in content.splitlines())}


def check(mnt, program=("xxhsum",)):
    done = run(*program, "-c", "XXH128SUMS", cwd=mnt.path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.count(": OK")


@pytest.mark.parametrize("checker", [("xxhsum",), ("xxh128sum",), ("xxhsum", "-H2"), ("xxhsum", "--strict", "--warn")])
def test_programs_check_it(mount, tmp_path, checker):
    model, tensors = write_editable(tmp_path)
    with mount(model) as mnt:
        assert check(mnt, checker) == len(tensors)
        assert set(sums(mnt)) == set(tensors)
        replacement(bin_path(mnt, "initializers/raw"), bytes(6000))
        assert check(mnt, checker) == len(tensors)


def test_it_is_the_attribute(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    with mount(model) as mnt:
        for path, digest in sums(mnt).items():
            assert os.getxattr(bin_path(mnt, path), "user.onnx.xxh128").decode() == digest


def test_it_is_what_xxhsum_writes(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    with mount(model) as mnt:
        paths = [path + ".bin" for path in sums(mnt)]
        assert run("xxhsum", "-H2", *paths, cwd=mnt.path).stdout == mnt.text("XXH128SUMS")


def test_an_edit_changes_its_line(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    with mount(model) as mnt:
        before = sums(mnt)
        size = (mnt.path / "XXH128SUMS").stat().st_size
        for path in ("initializers/raw", "initializers/external/b", "initializers/strings"):
            was = sums(mnt)
            if path == "initializers/strings":
                replacement(bin_path(mnt, path), b"\1\0\0\0x" + bytes(16))
            else:
                overwrite(bin_path(mnt, path), 1, b"!?")
            now = sums(mnt)
            assert {it for it in now if now[it] != was[it]} == {path}
            check(mnt)
        assert (mnt.path / "XXH128SUMS").stat().st_size == size
        kill_and_remount(mnt)
        assert sums(mnt) == now
        for path in ("initializers/raw", "initializers/external/b"):
            replacement(bin_path(mnt, path), payloads(tensors)[path])
            assert sums(mnt)[path] == before[path]


def test_diff_names_the_edited_tensor(mount, tmp_path):
    model, _ = write_editable(tmp_path)
    (tmp_path / "other").mkdir()
    other, _ = write_editable(tmp_path / "other")
    with mount(model) as one, mount(other) as two:
        files = [mnt.path / "XXH128SUMS" for mnt in (one, two)]
        assert run("diff", *files).returncode == 0
        overwrite(bin_path(two, "initializers/float/packed"), 400, b"\1\2\3\4")
        done = run("diff", *files)
        assert done.returncode == 1
        changed = {line.split("  ")[1] for line in done.stdout.splitlines() if line[:1] in "<>"}
        assert changed == {"initializers/float/packed.bin"}


def test_equal_weights_have_equal_lines(mount, tmp_path):
    write_model(tmp_path / "m.onnx", graph([tensor("a", FLOAT, [2], raw=b"12345678"), tensor("empty", FLOAT, [0]),
                                            tensor("b", 2, [8]).packed_varints(5, b"12345678")]))
    with mount(tmp_path / "m.onnx") as mnt:
        found = sums(mnt)
        assert found["initializers/a"] == found["initializers/b"]
        assert found["initializers/empty"] == "99aa06d3014798d86001c324468d497f"  # of nothing
        check(mnt)


def test_names_that_are_escaped(mount, tmp_path):
    names = ["a b", " lead", "trail ", "two  spaces", "back\\slash", "new\nline", b"\xff", "\u00e9", "*star", "a:b"]
    write_model(tmp_path / "m.onnx", graph([tensor(name, FLOAT, [1], raw=b"1234") for name in names]))
    with mount(tmp_path / "m.onnx") as mnt:
        assert len(sums(mnt)) == len(names)
        assert check(mnt) == len(names)


def test_broken_ones_have_no_line(mount, tmp_path):
    late = tensor("late", 7, [3]).packed_varints(7, [1, 2])  # found to be broken when its entries are counted
    write_model(tmp_path / "m.onnx", graph([
        tensor("short", FLOAT, [2], raw=b"1234"), tensor("good", FLOAT, [1], raw=b"1234"), late,
        tensor("s", STRING, [1]).bytes(6, b"x")]))
    with mount(tmp_path / "m.onnx") as mnt:
        mnt.file("late", ".json").read_bytes()
        assert set(sums(mnt)) == {"initializers/good", "initializers/s"}
        assert check(mnt) == 2


def test_values(mount, tmp_path):
    sequence = Message().string(1, "seq").varint(2, 1)
    for name in "ab":
        sequence.message(3, tensor(name, FLOAT, [1], raw=name.encode() * 4))
    (tmp_path / "v.pb").write_bytes(sequence.to_bytes())
    with mount(tmp_path / "v.pb") as mnt:
        assert set(sums(mnt)) == {"values/0", "values/1"}
        assert check(mnt) == 2
