"""All views of tensors that are broken, unknown, empty or strings, and of the test models of ONNX itself."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest
import safetensors_reader
from mounting import error_of, run
from onnx_wire import FLOAT, INT64, STRING, graph, tensor, write_model
from views import FOLDERS, contents_of_views, view

GOOD = b"12345678"


def late():
    """Found to be broken only when its entries are counted."""
    return tensor("late", INT64, [3]).packed_varints(7, [1, 2])


BROKEN = {
    "short": tensor("short", FLOAT, [2], raw=b"1234"),
    "lost": tensor("lost", FLOAT, [1], external=[("location", "nowhere")]),
    "outside": tensor("outside", FLOAT, [1], external=[("location", "../../etc/passwd")]),
    "negative": tensor("negative", FLOAT, [-1], raw=b"1234"),
    "huge": tensor("huge", FLOAT, [1 << 62, 1 << 62], raw=b"1234"),
    "few strings": tensor("few strings", STRING, [3]).bytes(6, b"x"),
}


@pytest.fixture
def mnt(mount, tmp_path):
    good = tensor("good", FLOAT, [2], raw=GOOD)
    write_model(tmp_path / "m.onnx", graph([*BROKEN.values(), late(), good]))
    with mount(tmp_path / "m.onnx") as mounted:
        yield mounted


@pytest.mark.parametrize("name", [*BROKEN, "late"])
def test_broken_ones_give_an_error(mnt, name):
    """They are listed, and the JSON says why."""
    for folder in FOLDERS:
        path = view(mnt, folder, f"initializers/{name}")
        if (folder, name) == ("npy", "few strings"):
            assert not path.exists()
            continue
        assert path.name in os.listdir(path.parent)
        assert error_of(path.read_bytes) == errno.EIO, folder
        assert path.stat().st_size >= 0
    assert mnt.json(name)["problem"]


def test_broken_ones_hide_nothing(mnt):
    mnt.json("late")
    found = contents_of_views(mnt.path)
    assert found["npy/initializers/good.npy"][128:] == GOOD
    assert found["live/m.onnx"] == mnt.model.read_bytes()
    assert found["XXH128SUMS"].count(b"\n") == 1
    tensors, metadata = safetensors_reader.read(found["model.safetensors"])
    assert set(tensors) == {"good"}
    assert {key for key in metadata if key.startswith("problem:")} == {
        f"problem:initializers/{name}" for name in [*BROKEN, "late"]}
    failed = {path for path, content in found.items() if content is None}
    assert failed == {f"{folder}/initializers/{name}{suffix}" for folder, suffix in FOLDERS.items()
                      for name in [*BROKEN, "late"] if (folder, name) != ("npy", "few strings")}


def test_what_only_reading_shows_to_be_broken(mnt):
    """Whoever is first may get an error, never a wrong byte; from then on the files are without it."""
    for name in ("XXH128SUMS", "model.safetensors"):
        path = mnt.path / name
        if error_of(path.read_bytes) is not None:
            assert error_of(path.read_bytes) is None
        assert len(path.read_bytes()) == path.stat().st_size
    assert set(safetensors_reader.read((mnt.path / "model.safetensors").read_bytes())[0]) == {"good"}
    assert run("xxhsum", "-c", "XXH128SUMS", cwd=mnt.path).returncode == 0


ODD = {
    "unknown": (tensor("t", 99, [2], raw=b"abc"), "97\n 98\n 99"),
    "undefined": (tensor("t", 0, [3], raw=b"abc"), "97\n 98\n 99"),
    "empty": (tensor("t", FLOAT, [0, 7]), ""),
    "empty strings": (tensor("t", STRING, [0]), ""),
    "scalar": (tensor("t", INT64, [], raw=b"\xff" * 8), "-1"),
    "one string": (tensor("t", STRING, []).bytes(6, b"x"), '"x"'),
    "no name": (tensor("", FLOAT, [1], raw=bytes(4)), "0.0"),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_ones(mount, tmp_path, what):
    message, text = ODD[what]
    write_model(tmp_path / "m.onnx", graph([message]))
    with mount(tmp_path / "m.onnx") as mnt:
        found = contents_of_views(mnt.path)
        assert None not in found.values()
        stem = "unnamed" if what == "no name" else "t"
        assert found[f"text/initializers/{stem}.txt"].decode().strip() == text
        safetensors_reader.read(found["model.safetensors"])
        if "string" not in what:
            assert numpy.load(view(mnt, "npy", f"initializers/{stem}")).tobytes() == mnt.bytes(stem)


def test_a_model_without_tensors(mount, tmp_path):
    write_model(tmp_path / "m.onnx", graph())
    with mount(tmp_path / "m.onnx") as mnt:
        assert not any((mnt.path / folder).exists() for folder in FOLDERS)
        found = contents_of_views(mnt.path)
        assert found["live/m.onnx"] == (tmp_path / "m.onnx").read_bytes() and found["XXH128SUMS"] == b""


def test_data_file_cut_while_mounted(mount, tmp_path):
    """A view is never a mixture: it is stale as the payload is."""
    (tmp_path / "m.data").write_bytes(bytes(40_000))
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [10_000], external=[("location", "m.data")])]))
    with mount(tmp_path / "m.onnx") as mnt:
        os.truncate(tmp_path / "m.data", 100)
        files = [view(mnt, folder, "initializers/w") for folder in FOLDERS]
        for path in [*files, mnt.path / "live" / "m.data", mnt.path / "model.safetensors", mnt.path / "XXH128SUMS"]:
            assert error_of(path.read_bytes) == errno.ESTALE, path


def sample_of_testdata():
    listed = run("dpkg", "-L", "libonnx-testdata").stdout.splitlines()
    found = sorted(Path(line) for line in listed if line.endswith((".onnx", ".pb")))
    if not found:
        pytest.skip("the package libonnx-testdata is not installed")
    return found[::len(found) // 120]


@pytest.mark.limit(60)
def test_sample_of_libonnx_testdata(mount):
    files = sample_of_testdata()
    root = Path(os.path.commonpath(files))

    def look(path):
        mounted = mnt.path / path.relative_to(root)
        found = contents_of_views(mounted)
        assert None not in found.values(), path
        assert found[f"live/{path.name}"] == path.read_bytes()
        safetensors_reader.read(found["model.safetensors"])
        payloads = {str(file.relative_to(mounted))[:-4] for file in mounted.rglob("*.bin")
                    if file.relative_to(mounted).parts[0] not in (*FOLDERS, "live")}
        for folder, suffix in (("text", ".txt"), ("pb", ".pb")):
            assert {name[len(folder) + 1:-len(suffix)] for name in found if name.startswith(folder + "/")} == payloads
        assert {line.split("  ")[1][:-4] for line in found["XXH128SUMS"].decode().splitlines()} == payloads
        for name in found:
            if name.startswith("npy/"):
                numpy.load(mounted / name)
        return len(payloads)

    with mount(root) as mnt, ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(look, files)) > 50
