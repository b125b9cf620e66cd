"""Tensor names become paths: nothing hidden, no path used twice, the same on every mount."""

import base64
import json
import os
import random
import struct

import pytest
from naming import stems_of
from onnx_wire import FLOAT, graph, tensor, write_model

SEEDS = [int(os.environ["ONNXFS_SEED"])] if "ONNXFS_SEED" in os.environ else [1, 2, 3, 4, 5, 6]

LISTED = [os.fsencode(name) for name in (
    "a", "a/b", "a/b/c", "/a", "//a", "a/", "a//b", ".", "..", "../../etc/passwd", "./x", "x/../y", "A", "W", "w", "",
    "  ", " lead", "trail ", "new\nline", "tab\t", 'q"uote', "it's", "back\\slash", "star*?", "semi;$(rm)", "per%cent",
    "%2F", "a%2Fb", "é-nfc", "e\u0301-nfd", "日本語/重み", "emoji😀", "L" * 255, "M" * 256, "N" * 1000,
    "dir/" + "P" * 300, "onnx::MatMul_12", "x:0", "onnx::Add_1", "con", "nul.txt", "-rf", "a.npy", "a.bin", "dup",
    "dup", "ctl\x01\x1b[31m", "nul\x00byte", ".hidden", "\u202eevil",
    "a" * 10 + "".join(f"/d{level}" for level in range(200)), "notutf8", "/", "///", "...", "%2E", "%2E%2E",
    "c1\u0085\u009f", "turned\u202e\u2066\u061c", "line\u2028", "del\x7f", "unnamed", "@2", "a@2", "a@3", "a.bin/x", "a.json/x", "a.txt/x", "a.txt/x",
    "a.pb/deep/er", "a.npy/x", "z.bin/x", "z", "z@2", "y/z.json/x", "y/z", "y/z", "~", "\u00a0", "\ufeff", "\uffff",
    "model.json", ".onnxfs/status.json", "index.tsv")] + [
    b"bad\xff\xfeutf8", b"\xff", b"\x80", b"\xe6\x97", b"\xe6\x97\xe6\x97\xa5", b"\xc0\x80", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\xf0\x9f\x98", b"\xc2\x80\xc2", b"d\xff/\xfe", b"%FF", b"%ff"]

# Around the cut: escapes and characters of several bytes must not be parted.
TAILS = ["é".encode(), "重".encode(), "😀".encode(), "\u0085".encode(), b"\x01", b"\xff", b"%41"]  # %41: no escape
LONG = [b"x" * size for size in (199, 200, 201, 202)] + [
    b"q" * (198 - shift) + tail * 9 for tail in TAILS for shift in range(5)] + [
    b"v" * (176 + shift) + tail * 30 for tail in TAILS for shift in range(5)] + [
    b"\x01" * 66, b"\x01" * 67, b"\x01" * 100, "é".encode() * 100, "é".encode() * 101, b"." * 250, b"k" * 300,
    b"k" * 301, b"k" * 300, b"deep/" + b"k" * 250 + b"/" + b"k" * 250]

WORDS = [b"a", b"b", b"a.bin", b"a.json", b"a.npy", b"a.txt", b"a.pb", b"a@2", b"a@2.bin", b"a.bin@2", b"b.bin",
         b"b.bin@2", b".", b"..", b"...", b"", b"%2E", b"%2e", b"~", b"@2", b"unnamed", b"unnamed.bin", b"\x00", b"\n",
         b"%0A", b"\x7f", b"\xc2\x85", "é".encode(), b"\xff", b"%FF", b"\xe6\x97", b" ", b"-", b"l" * 200, b"l" * 201,
         b"l" * 201 + b".bin", b"\x01" * 70, "重".encode() * 70]


def random_names(seed):
    """Names of few words, so that they meet each other all the time."""
    generator = random.Random(seed)
    words = generator.sample(WORDS, 12) + [b"a", b"a.bin"]
    return [b"/".join(generator.choice(words) for _ in range(generator.choice((1, 1, 2, 2, 3, 4)))) for _ in range(250)]


def write(path, names):
    write_model(path, graph([tensor(name, FLOAT, [1], raw=struct.pack("<I", place))
                             for place, name in enumerate(names)]))


def tree(root):
    """{path: (inode, is a folder)} of everything below `root`, found with descriptors, however long the paths get."""
    found = {}

    def walk(fd, prefix):
        for name in os.listdir(fd):
            raw = os.fsencode(name)
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            folder = (status.st_mode & 0o170000) == 0o040000
            assert prefix + raw not in found, f"{prefix + raw} is listed twice"
            found[prefix + raw] = status.st_ino, folder
            if folder:
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
                try:
                    walk(inner, prefix + raw + b"/")
                finally:
                    os.close(inner)

    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        walk(fd, b"")
    finally:
        os.close(fd)
    return found


def read(root, path):
    """A file's bytes, component by component: a path may be longer than the kernel takes at once."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        *folders, last = path.split(b"/")
        for name in folders:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = inner
        inner = os.open(last, os.O_RDONLY, dir_fd=fd)
        with open(inner, "rb") as file:
            return file.read()
    finally:
        os.close(fd)


def check(mount, model, names):
    write(model, names)
    stems = stems_of(names)
    assert len(set(stems)) == len(stems), "the test's own mapping is at fault"
    with mount(model) as mnt:
        first = tree(mnt.path)
        root = mnt.path / "initializers"
        for place, (name, stem) in enumerate(zip(names, stems)):
            try:
                content = read(root, stem + b".bin")
            except OSError as error:
                raise AssertionError(f"{name} is not at {stem}: {error}") from error
            assert content == struct.pack("<I", place), f"{stem} is not {name}, number {place}, but another"
            found = json.loads(read(root, stem + b".json").decode("utf-8"))
            try:
                assert found["name"] == name.decode("utf-8")
            except UnicodeDecodeError:
                assert base64.b64decode(found["name_base64"], validate=True) == name
                assert isinstance(found["name"], str)
        files = {path for path, (_, folder) in first.items() if path.startswith(b"initializers/") and not folder}
        assert files == {b"initializers/" + stem + suffix for stem in stems for suffix in (b".bin", b".json")}
        rows = (mnt.path / "index.tsv").read_bytes().split(b"\n")[1:-1]
        listed = [row.split(b"\t")[0] for row in rows]
        assert sorted(listed) == sorted(b"initializers/" + stem + b".bin" for stem in stems)
    inodes = [inode for inode, _ in first.values()]
    assert len(set(inodes)) == len(inodes) and 0 not in inodes, "two entries share an inode number"
    with mount(model) as mnt:
        assert tree(mnt.path) == first, "the second mount of the same file differs"


def test_listed_names(mount, tmp_path):
    check(mount, tmp_path / "m.onnx", LISTED)


def test_listed_names_backwards(mount, tmp_path):
    """File order decides who keeps a path."""
    check(mount, tmp_path / "m.onnx", LISTED[::-1])


def test_long_names(mount, tmp_path):
    check(mount, tmp_path / "m.onnx", LONG)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_names(mount, tmp_path, seed):
    """Set ONNXFS_SEED to try another seed."""
    print("seed", seed)
    check(mount, tmp_path / "m.onnx", random_names(seed))


def test_many_duplicates(mount, tmp_path):
    check(mount, tmp_path / "m.onnx", [b"dup"] * 40 + [b"dup@5", b"/dup", b"dup.bin/x"] + [b""] * 12)


def test_path_longer_than_the_kernel_takes(mount, tmp_path):
    """4096 bytes is the most for one call; the folders can still be entered one after another."""
    check(mount, tmp_path / "m.onnx", [b"/".join([b"p" * 150] * 40), b"/".join([b"p" * 150] * 40) + b"/x", b"short"])


def test_ordinary_names_are_their_own_paths(mount, tmp_path):
    names = ["conv1.weight", "/layers.0/attn/Constant_3_output_0", "onnx::MatMul_636", "gpu_0/conv1_w_0",
             "StatefulPartitionedCall/model/dense/MatMul/ReadVariableOp:0",
             "model.layers.0.attn.qkv_proj.MatMul.weight_Q4"]
    write(tmp_path / "m.onnx", [name.encode() for name in names])
    with mount(tmp_path / "m.onnx") as mnt:
        for place, name in enumerate(names):
            with open(f"{mnt.path}/initializers/{name}.bin", "rb") as file:
                assert file.read() == struct.pack("<I", place)


def test_duplicates_are_named_in_problems(mount, tmp_path):
    write(tmp_path / "m.onnx", [b"one", b"two", b"one"])
    with mount(tmp_path / "m.onnx") as mnt:
        assert any("one" in line for line in mnt.problems())
        assert not any("two" in line for line in mnt.problems())


def test_same_paths_by_another_path_to_the_model(mount, tmp_path):
    """The mapping depends on the file alone, not on where it lies or when it was written."""
    names = random_names(99)
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "m.onnx", names)
    write(tmp_path / "elsewhere" / "m.onnx", names)
    os.utime(tmp_path / "elsewhere" / "m.onnx", (5, 5))
    with mount(tmp_path / "m.onnx") as one, mount(tmp_path / "elsewhere" / "m.onnx") as two:
        assert tree(one.path) == tree(two.path)
