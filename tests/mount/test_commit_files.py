"""A commit never writes through links or into files that others may have, and loses nothing where there is no room."""

import errno
import hashlib
import os
import shutil

import pytest
from committed import by_onnx, commit
from edited_model import DATA, OLD, all_bytes, edit, tensors, write_small
from editable import overwrite
from editing import sidecar_of
from mounting import one_line, onnxfs, run
from onnx_wire import FLOAT, graph, tensor, write_model


@pytest.fixture
def saved(tmp_path):
    return write_small(tmp_path)


def named_by_onnx(path):
    return {name.removeprefix("initializers/"): payload for name, payload in by_onnx(path).items()}


@pytest.fixture
def cache(tmp_path):
    """As the caches of Hugging Face are: all names are links to blobs that are named by their hash."""
    root = tmp_path / "models--org--name"
    (root / "blobs").mkdir(parents=True)
    snapshot = root / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    write_small(snapshot)
    for path in list(snapshot.iterdir()):
        blob = root / "blobs" / hashlib.sha256(path.read_bytes()).hexdigest()
        path.rename(blob)
        path.symlink_to(os.path.relpath(blob, snapshot))
    return root


@pytest.mark.parametrize("names", [["w"], ["e"], ["w", "e"]], ids="+".join)
def test_links_into_a_cache(mount, cache, names):
    """The blobs are as they were, the model's folder has new files, and the user is told."""
    model = next(cache.glob("snapshots/*/m.onnx"))
    blobs = {path: path.read_bytes() for path in (cache / "blobs").iterdir()}
    with mount(model) as mnt:
        for name in names:
            overwrite(mnt.file(name), 8, b"edited")
        wanted = all_bytes(mnt)
    told = commit(model)
    assert {path: path.read_bytes() for path in (cache / "blobs").iterdir()} == blobs
    with mount(model) as mnt:
        assert all_bytes(mnt) == wanted
        assert mnt.problems() == []
    assert told.strip(), "a new file in place of a link is worth a word"
    made = [path for path in model.parent.iterdir() if not path.is_symlink()]
    assert made and all(path.is_file() for path in made)
    assert any(path.name in told for path in made)
    assert not any(name.endswith(".sidecar") for name in os.listdir(model.parent))


def test_links_are_not_patched(mount, cache):
    model = next(cache.glob("snapshots/*/m.onnx"))
    blobs = {path: path.read_bytes() for path in (cache / "blobs").iterdir()}
    with mount(model) as mnt:
        overwrite(mnt.file("w"), 8, b"edited")
    one_line(onnxfs("commit", model, "--in-place"))
    assert {path: path.read_bytes() for path in (cache / "blobs").iterdir()} == blobs
    with mount(model) as mnt:
        assert mnt.bytes("w")[8:14] == b"edited" and mnt.json("w")["edited"]


@pytest.mark.parametrize("name", ["m.onnx", "m.data"])
def test_hard_links(mount, saved, tmp_path, name):
    """The other name keeps the old content."""
    wanted = edit(mount, saved)
    (tmp_path / "kept").mkdir()
    os.link(saved.with_name(name), tmp_path / "kept" / name)
    before = (tmp_path / "kept" / name).read_bytes()
    one_line(onnxfs("commit", saved, "--in-place"))
    assert (tmp_path / "kept" / name).read_bytes() == before
    told = commit(saved)
    assert (tmp_path / "kept" / name).read_bytes() == before
    assert named_by_onnx(saved) == wanted
    assert told.strip()


def test_a_data_file_of_two_models(mount, saved):
    """The other model's tensors stay as they are."""
    write_model(saved.with_name("sibling.onnx"), graph(tensors(), name="sibling"))
    sibling = saved.with_name("sibling.onnx")
    before = named_by_onnx(sibling)
    with mount(saved) as mnt:
        overwrite(mnt.file("e"), 8, b"edited")
        wanted = all_bytes(mnt)
    told = commit(saved)
    assert named_by_onnx(sibling) == before
    assert named_by_onnx(saved) == wanted
    assert "m.data" in told


def test_tensors_in_the_model_file_itself(mount, tmp_path):
    """An external tensor whose location is the model: same-size edits keep every offset."""
    payload = bytes(range(40))
    path = tmp_path / "m.onnx"
    place = [("location", "m.onnx"), ("offset", "00000"), ("length", "40")]
    parts = [tensor("raw", FLOAT, [10], raw=payload)]
    write_model(path, graph([*parts, tensor("self", FLOAT, [10], external=place)]))
    offset = path.read_bytes().index(payload)
    place[1] = ("offset", f"{offset:05}")
    write_model(path, graph([*parts, tensor("self", FLOAT, [10], external=place)]))
    with mount(path) as mnt:
        assert mnt.bytes("self") == payload
        overwrite(mnt.file("raw"), 4, b"edit")
    commit(path)
    with mount(path) as mnt:
        assert mnt.bytes("raw") == payload[:4] + b"edit" + payload[8:]


@pytest.fixture
def small(tmp_path):
    """A file system of 8 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder).returncode != 0:
        pytest.skip("tmpfs cannot be mounted here")
    yield folder
    run("umount", "-l", folder)


@pytest.mark.parametrize("where", ["model", "data"])
def test_no_room(mount, small, where):
    """A clear error, everything as it was, nothing left behind; with room it works."""
    payload = os.urandom(3 << 20)
    path = small / "m.onnx"
    if where == "model":
        write_model(path, graph([tensor("w", FLOAT, [3 << 18], raw=payload)]))
    else:
        (small / "m.data").write_bytes(payload)
        write_model(path, graph([tensor("w", FLOAT, [3 << 18], external=[("location", "m.data")])]))
    with mount(path) as mnt:
        overwrite(mnt.file("w"), 1000, b"edited")
    (small / "filler").write_bytes(bytes(3 << 20))
    before = {file.name: file.read_bytes() for file in small.iterdir() if file.is_file()}
    line = one_line(onnxfs("commit", path))
    assert "No space left" in line or "room" in line or "space" in line
    assert {file.name: file.read_bytes() for file in small.iterdir() if file.is_file()} == before
    with mount(path) as mnt:
        assert mnt.bytes("w") == payload[:1000] + b"edited" + payload[1006:]
    (small / "filler").unlink()
    commit(path)
    assert named_by_onnx(path)["w"] == payload[:1000] + b"edited" + payload[1006:]
    assert sorted(os.listdir(small)) == sorted({"m.onnx", *(["m.data"] if where == "data" else [])})


def test_no_room_for_the_output(mount, saved, small):
    wanted = edit(mount, saved)
    (small / "filler").write_bytes(bytes(8_380_000))
    one_line(onnxfs("commit", saved, "-o", small / "out.onnx"))
    assert os.listdir(small) == ["filler"]
    with mount(saved) as mnt:
        assert all_bytes(mnt) == wanted


@pytest.mark.parametrize("way", [(), ("--in-place",)], ids=str)
def test_another_model_is_not_written(mount, tmp_path, way):
    """Though a tensor's external data is a place in it."""
    write_model(tmp_path / "other.onnx", graph([tensor("a", FLOAT, [256], raw=DATA[:1024])]))
    other = (tmp_path / "other.onnx").read_bytes()
    external = [("location", "other.onnx"), ("offset", str(other.index(DATA[:1024]))), ("length", "1024")]
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [256], external=external)]))
    with mount(tmp_path / "m.onnx") as mnt:
        overwrite(mnt.file("w"), 0, b"edited")
    onnxfs("commit", tmp_path / "m.onnx", *way)
    assert (tmp_path / "other.onnx").read_bytes() == other
    with mount(tmp_path / "m.onnx") as mnt:
        assert mnt.bytes("w")[:6] == b"edited"


def test_data_in_the_model_itself_cannot_be_edited(mount, tmp_path):
    """It may be what makes the file a model."""
    external = [("location", "m.onnx"), ("offset", "0"), ("length", "16")]
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [4], external=external), tensor("v", FLOAT, [2], raw=b"12345678")]))
    with mount(tmp_path / "m.onnx") as mnt:
        assert mnt.bytes("w") == (tmp_path / "m.onnx").read_bytes()[:16]
        with pytest.raises(OSError) as refused:
            overwrite(mnt.file("w"), 0, b"none")
        assert refused.value.errno == errno.EROFS
        mnt.file("v").write_bytes(b"87654321")
        assert "initializers/w is external data in the model's own file" in mnt.text(".onnxfs/log.txt")


def test_a_folder_in_between(mount, tmp_path):
    """A data file in a sub-folder of the model's is replaced where it is."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.data").write_bytes(DATA)
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [1000], external=[("location", "sub/w.data")])]))
    with mount(tmp_path / "m.onnx") as mnt:
        overwrite(mnt.file("w"), 0, b"edited")
    commit(tmp_path / "m.onnx")
    assert (tmp_path / "sub" / "w.data").read_bytes() == b"edited" + DATA[6:]
    assert sorted(os.listdir(tmp_path)) == ["m.onnx", "sub"] and os.listdir(tmp_path / "sub") == ["w.data"]


def test_tied_weights(mount, tmp_path):
    place = [("location", "m.data"), ("offset", "0"), ("length", "4000")]
    (tmp_path / "m.data").write_bytes(DATA)
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("a", FLOAT, [1000], external=place), tensor("b", FLOAT, [1000], external=place)]))
    before = path.read_bytes()
    with mount(path) as mnt:
        overwrite(mnt.file("a"), 4, b"tied")
    commit(path)
    assert path.read_bytes() == before
    assert (tmp_path / "m.data").read_bytes() == DATA[:4] + b"tied" + DATA[8:]


def test_relative_paths(mount, saved):
    wanted = edit(mount, saved)
    commit("m.onnx", cwd=saved.parent)
    assert named_by_onnx(saved) == wanted


def test_a_sidecar_elsewhere(mount, saved, tmp_path):
    wanted = edit(mount, saved)
    shutil.move(sidecar_of(saved), tmp_path / "edits")
    commit(saved, "--sidecar", tmp_path / "edits")
    assert named_by_onnx(saved) == wanted
    assert not (tmp_path / "edits").exists()
    assert wanted["w"] != OLD
