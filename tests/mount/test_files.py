"""A read-only mount as files: attributes, the files about the model, and the programs that people use on them."""

import errno
import json
import os
import stat
import struct
import subprocess
import tarfile

import pytest
from mounting import error_of, run
from onnx_wire import FLOAT, INT64, Message, attribute_ints, graph, model, node, tensor, value_info

WEIGHT = struct.pack("<" + "9408f", *range(9408))
EXTERNAL = bytes(range(256)) * 5
MTIME = 1_234_567_890_123_456_789
TENSORS = {"conv1.weight": WEIGHT, "block/bn/scale": struct.pack("<3f", 1, 2, 3), "empty": b"",
           "block/shape": struct.pack("<2q", 1, -1), "block.data": EXTERNAL, "typed": struct.pack("<3i", 1, -1, 70000)}


@pytest.fixture(scope="module")
def mnt(mount, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "m.data").write_bytes(EXTERNAL)
    tensors = [
        tensor("conv1.weight", FLOAT, [64, 3, 7, 7], raw=WEIGHT),
        tensor("block/bn/scale", FLOAT, [3]).bytes(4, TENSORS["block/bn/scale"]),
        tensor("block/shape", INT64, [2]).packed_varints(7, [1, -1]),
        tensor("empty", FLOAT, [0]),
        tensor("block.data", 2, [1280], external=[("location", "m.data")]),
        tensor("typed", 6, [3]).packed_varints(5, [1, -1, 70000])]
    nodes = [node("Conv", ["x", "conv1.weight"], ["c"], "/conv1/Conv", [attribute_ints("pads", [3, 3, 3, 3])]),
             node("Relu", ["c"], ["r"]), node("Fused", ["r"], ["y"], "two\nlines\tname", domain="com.example")]
    inputs, outputs = [value_info("x", FLOAT, ["batch", 3, 224, 224])], [value_info("y", FLOAT, [1, "classes"])]
    whole = model(graph(tensors, nodes, inputs, outputs, name="the graph"), ir_version=9, opset=19,
                  domains=[("com.example", 3)], producer="a producer")
    whole.string(3, "1.2.3").string(6, "about the model")
    whole.message(14, Message().string(1, "author").string(2, "somebody é"))
    (folder / "m.onnx").write_bytes(whole.to_bytes())
    os.utime(folder / "m.onnx", ns=(MTIME, MTIME))
    with mount(folder / "m.onnx", "ro") as mounted:
        mounted.folder = folder
        yield mounted


def every_file(root):
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_attributes_of_a_file(mnt):
    for name, payload in TENSORS.items():
        for suffix in (".bin", ".json"):
            status = mnt.file(name, suffix).lstat()
            assert stat.S_ISREG(status.st_mode)
            assert stat.S_IMODE(status.st_mode) == 0o444
            assert status.st_nlink == 1
            assert (status.st_uid, status.st_gid) == (os.getuid(), os.getgid())
            assert status.st_mtime_ns == MTIME
            assert status.st_ino != 0
        status = mnt.file(name).lstat()
        assert status.st_size == len(payload)
        assert status.st_size <= status.st_blocks * 512 < status.st_size + 4096


def test_modes_where_files_can_be_written(mnt, mount):
    with mount(mnt.folder / "m.onnx") as writable:
        for path in every_file(writable.path):
            is_written = "initializers" in path.parts and path.suffix in (".bin", ".json", ".npy")
            assert stat.S_IMODE(path.stat().st_mode) == (0o644 if is_written else 0o444), path
        assert stat.S_IMODE((writable.path / "initializers").stat().st_mode) == 0o755


def test_attributes_of_a_folder(mnt):
    for folder in (mnt.path, mnt.path / "initializers", mnt.path / "initializers" / "block", mnt.path / ".onnxfs"):
        status = folder.lstat()
        assert stat.S_ISDIR(status.st_mode)
        assert stat.S_IMODE(status.st_mode) & 0o555 == 0o555
        assert status.st_nlink >= 1 and status.st_ino != 0
        assert (status.st_uid, status.st_gid) == (os.getuid(), os.getgid())


def test_sizes_are_what_is_read(mnt):
    for path in every_file(mnt.path):
        assert len(path.read_bytes()) == path.stat().st_size, path


def test_contents(mnt):
    assert {name: mnt.bytes(name) for name in TENSORS} == TENSORS


def test_top_folder(mnt):
    assert set(os.listdir(mnt.path)) >= {"model.json", "index.tsv", "graph.txt", "initializers", ".onnxfs"}
    assert "problems.txt" not in os.listdir(mnt.path)
    assert error_of(os.stat, mnt.path / "problems.txt") == errno.ENOENT


def test_a_model_without_tensors_has_no_folder_for_them(mount, tmp_path):
    (tmp_path / "m.onnx").write_bytes(model(graph(nodes=[node("Identity", ["x"], ["y"])])).to_bytes())
    with mount(tmp_path / "m.onnx") as bare:
        assert "initializers" not in os.listdir(bare.path)
        assert error_of(os.stat, bare.path / "initializers") == errno.ENOENT
        assert len(bare.text("index.tsv").splitlines()) == 1


def words(value):
    """All keys and plain values in a JSON value, as text."""
    if isinstance(value, dict):
        return [word for key, inner in value.items() for word in [key, *words(inner)]]
    if isinstance(value, list):
        return [word for inner in value for word in words(inner)]
    return [str(value)]


def test_model_json(mnt):
    found = json.loads(mnt.text("model.json"))
    assert found["ir_version"] == 9
    assert {"a producer", "1.2.3", "about the model", "the graph"} <= set(words(found))
    assert {"19", "com.example", "3"} <= set(words(found["opset_import"]))
    assert {"author", "somebody é"} <= set(words(found["metadata_props"]))
    assert {"x", "batch", "224"} <= set(words(found["inputs"]))
    assert {"y", "classes"} <= set(words(found["outputs"]))
    assert str(len(TENSORS)) in words(found) and "3" in words(found)


def test_index(mnt):
    text = mnt.text("index.tsv")
    header, *rows = [line.split("\t") for line in text.splitlines()]
    assert text.endswith("\n")
    assert header == ["path", "dtype", "shape", "nbytes", "storage"]
    assert sorted(rows) == sorted([
        ["initializers/conv1.weight.bin", "float32", "[64,3,7,7]", "37632", "raw_data"],
        ["initializers/block/bn/scale.bin", "float32", "[3]", "12", "float_data"],
        ["initializers/block/shape.bin", "int64", "[2]", "16", "int64_data"],
        ["initializers/empty.bin", "float32", "[0]", "0", "none"],
        ["initializers/block.data.bin", "uint8", "[1280]", "1280", "external"],
        ["initializers/typed.bin", "int32", "[3]", "12", "int32_data"]])
    for path, _, _, nbytes, _ in rows:
        assert (mnt.path / path).stat().st_size == int(nbytes)


def test_index_has_null_for_a_type_that_has_no_name(mount, tmp_path):
    tensors = [tensor("u", 99, [], raw=b"12"), tensor("s", 8, []).bytes(6, b"text")]
    (tmp_path / "m.onnx").write_bytes(model(graph(tensors)).to_bytes())
    with mount(tmp_path / "m.onnx") as odd:
        rows = [line.split("\t") for line in odd.text("index.tsv").splitlines()[1:]]
        assert sorted(row[1] for row in rows) == ["null", "string"]
        assert {row[2] for row in rows} == {"[]"}


def test_graph_txt(mnt, mount):
    text = mnt.text("graph.txt")
    lines = text.splitlines()
    assert len(lines) == 3 and text.endswith("\n")
    mentioned = [("Conv", "/conv1/Conv", "x", "conv1.weight", "pads"), ("Relu", "c", "r"), ("Fused", "com.example")]
    for line, wanted in zip(lines, mentioned):
        assert all(word in line for word in wanted), line
    with mount(mnt.folder / "m.onnx") as again:
        assert again.text("graph.txt") == text


def test_status(mnt):
    assert isinstance(json.loads(mnt.text(".onnxfs/status.json")), dict)


def test_missing_names(mnt):
    for name in ("nothing", "initializers/conv1.weight", "initializers/conv1.weight.bin.bin",
                 "initializers/block/none.bin", "initializers/CONV1.weight.bin", "initializers/conv1.weight@2.bin",
                 ".onnxfs/none", "initializers/block.bin"):
        for _ in range(2):  # the second answer may come from the kernel's cache
            assert error_of(os.stat, mnt.path / name) == errno.ENOENT, name
            assert error_of(open, mnt.path / name) == errno.ENOENT, name
    assert error_of(os.stat, mnt.file("empty") / "x") == errno.ENOTDIR
    assert error_of(os.stat, mnt.path / ("n" * 256)) in (errno.ENAMETOOLONG, errno.ENOENT)
    assert error_of(os.listdir, mnt.file("empty")) == errno.ENOTDIR
    assert error_of(open, mnt.path / "initializers", "rb") == errno.EISDIR
    assert error_of(os.readlink, mnt.file("empty")) == errno.EINVAL


def test_xattrs(mnt):
    path = mnt.file("conv1.weight")
    digest = run("xxhsum", "-H2", path).stdout.split()[0]
    wanted = {"user.onnx.name": b"conv1.weight", "user.onnx.dtype": b"float32", "user.onnx.xxh128": digest.encode()}
    assert {name: os.getxattr(path, name) for name in wanted} == wanted
    assert json.loads(os.getxattr(path, "user.onnx.shape")) == [64, 3, 7, 7]
    assert {*wanted, "user.onnx.shape"} <= set(os.listxattr(path))
    assert error_of(os.getxattr, path, "user.onnx.none") == errno.ENODATA
    assert error_of(os.getxattr, path, "security.capability") in (errno.ENODATA, errno.EOPNOTSUPP)


def test_hash_of_each_tensor(mnt):
    """The xattr is the file's hash, whatever way the bytes are stored."""
    for name in TENSORS:
        path = mnt.file(name)
        assert os.getxattr(path, "user.onnx.xxh128").decode() == run("xxhsum", "-H2", path).stdout.split()[0], name


def test_xattrs_of_odd_tensors(mount, tmp_path):
    tensors = [tensor(b"n\0ul\xff", FLOAT, [], raw=b"1234"), tensor("broken", FLOAT, [2], raw=b"1"),
               tensor("text", 8, []).string(6, "é")]
    (tmp_path / "m.onnx").write_bytes(model(graph(tensors)).to_bytes())
    with mount(tmp_path / "m.onnx") as odd:
        assert os.getxattr(odd.file("n%00ul%FF"), "user.onnx.name") == b"n\0ul\xff"
        assert os.getxattr(odd.file("text"), "user.onnx.dtype") == b"string"
        assert os.getxattr(odd.file("text"), "user.onnx.shape") == b"[]"
        assert os.getxattr(odd.file("broken"), "user.onnx.dtype") == b"float32"
        assert error_of(os.getxattr, odd.file("broken"), "user.onnx.xxh128") in (errno.EIO, errno.ENODATA)


# Calls that would change something: given a tensor's path, another's, and their folder.
CHANGES = {
    "open to write": lambda path, other, folder: os.open(path, os.O_WRONLY),
    "open to read and write": lambda path, other, folder: os.open(path, os.O_RDWR),
    "open to append": lambda path, other, folder: os.open(path, os.O_WRONLY | os.O_APPEND),
    "open and truncate": lambda path, other, folder: os.open(path, os.O_WRONLY | os.O_TRUNC),
    "truncate": lambda path, other, folder: os.truncate(path, 0),
    "truncate to the same size": lambda path, other, folder: os.truncate(path, len(WEIGHT)),
    "create": lambda path, other, folder: os.open(folder / "new.bin", os.O_CREAT | os.O_WRONLY),
    "unlink": lambda path, other, folder: os.unlink(path),
    "rename": lambda path, other, folder: os.rename(path, folder / "new.bin"),
    "rename over": lambda path, other, folder: os.rename(path, other),
    "link": lambda path, other, folder: os.link(path, folder / "new.bin"),
    "symlink": lambda path, other, folder: os.symlink("x", folder / "new.bin"),
    "mkdir": lambda path, other, folder: os.mkdir(folder / "new"),
    "rmdir": lambda path, other, folder: os.rmdir(folder / "block"),
    "mknod": lambda path, other, folder: os.mkfifo(folder / "fifo"),
    "chmod": lambda path, other, folder: os.chmod(path, 0o600),
    "chown": lambda path, other, folder: os.chown(path, os.getuid(), os.getgid()),
    "utime": lambda path, other, folder: os.utime(path, (1, 1)),
    "setxattr": lambda path, other, folder: os.setxattr(path, "user.onnx.dtype", b"x"),
    "setxattr of another": lambda path, other, folder: os.setxattr(path, "user.x", b"x"),
    "removexattr": lambda path, other, folder: os.removexattr(path, "user.onnx.dtype"),
    "write a derived file": lambda path, other, folder: os.open(folder.parent / "model.json", os.O_WRONLY),
    "write a json": lambda path, other, folder: os.open(path.with_suffix(".json"), os.O_WRONLY | os.O_TRUNC),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_refused(mnt, name):
    path, other = mnt.file("conv1.weight"), mnt.file("empty")
    assert error_of(CHANGES[name], path, other, path.parent) == errno.EROFS
    assert mnt.bytes("conv1.weight") == WEIGHT


def test_access(mnt):
    assert os.access(mnt.file("empty"), os.R_OK)
    assert not os.access(mnt.file("empty"), os.W_OK)


def test_statvfs(mnt):
    status = os.statvfs(mnt.path)
    assert status.f_namemax >= 250 and status.f_bsize > 0


def test_programs_that_walk(mnt, tmp_path):
    files = {os.path.relpath(path, mnt.path) for path in every_file(mnt.path)}
    found = run("find", mnt.path, "-type", "f", "-printf", "%P\n").stdout.splitlines()
    assert len(found) == len(files) and set(found) == files
    assert run("ls", "-laR", mnt.path).returncode == 0
    copied = run("cp", "-r", mnt.path, tmp_path / "copy")
    assert copied.returncode == 0, copied.stderr
    assert run("diff", "-r", mnt.path, tmp_path / "copy").returncode == 0
    assert {name: (tmp_path / "copy" / "initializers" / (name + ".bin")).read_bytes() for name in TENSORS} == TENSORS
    done = subprocess.run(["tar", "-C", mnt.path, "-cf", tmp_path / "all.tar", "."], stderr=subprocess.PIPE, timeout=20)
    assert (done.returncode, done.stderr) == (0, b"")
    with tarfile.open(tmp_path / "all.tar") as archive:
        assert {os.path.normpath(member.name) for member in archive if member.isfile()} == files
        assert archive.extractfile("./initializers/conv1.weight.bin").read() == WEIGHT


def test_du_ranks_tensors(mnt):
    rows = run("du", "-a", "--block-size=1", mnt.path / "initializers").stdout.splitlines()
    sizes = {os.path.basename(path): int(size) for size, path in (row.split("\t") for row in rows)}
    assert sizes["conv1.weight.bin"] >= len(WEIGHT) > sizes["block.data.bin"] >= len(EXTERNAL)


def test_cmp_and_dd(mnt, tmp_path):
    (tmp_path / "w").write_bytes(WEIGHT)
    assert run("cmp", mnt.file("conv1.weight"), tmp_path / "w").returncode == 0
    done = run("dd", f"if={mnt.file('conv1.weight')}", f"of={tmp_path / 'part'}", "bs=1", "skip=4001", "count=33")
    assert done.returncode == 0
    assert (tmp_path / "part").read_bytes() == WEIGHT[4001:4034]
