"""Commit writes the edits into the model's files and leaves all else as it is; discard and status."""

import json
import os
import random
import subprocess

import pytest
from committed import all_as_read, by_onnx, commit, messages, patched, without_payloads
from datatypes import string_payload
from edited_model import DATA, OLD, all_bytes, edit, write_small
from editable import bin_path, contents, other_payload, overwrite, payloads, replacement, write_editable
from editing import kill_daemon, sidecar_of
from mounting import BINARY, SLOWNESS, Mount, daemon_of, mounts_at, namespace_of_its_own, one_line, onnxfs
from onnx_wire import FLOAT, Message, tensor

import onnx


@pytest.fixture
def saved(tmp_path):
    return write_small(tmp_path)


def state(*paths):
    return [(path.read_bytes(), path.stat().st_ino, path.stat().st_mtime_ns) for path in paths]


def only_models(folder, *names):
    assert sorted(os.listdir(folder)) == sorted(names)


def test_without_edits_nothing_is_touched(saved):
    files = [saved, saved.with_name("m.data")]
    before = state(*files)
    commit(saved)
    commit(saved, "--in-place")
    assert state(*files) == before
    only_models(saved.parent, "m.onnx", "m.data")


def test_without_edits_the_output_is_a_copy(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    model, _ = write_editable(tmp_path / "one")
    commit(model, "-o", tmp_path / "two" / "out.onnx")
    assert (tmp_path / "two" / "out.onnx").read_bytes() == model.read_bytes()


def test_every_storage(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    assert all_as_read(tensors, by_onnx(model)) == all_as_read(tensors, payloads(tensors))
    generator = random.Random(5)
    structure = without_payloads(model)
    wanted = {}
    with mount(model) as mnt:
        for path, editable in tensors.items():
            wanted[path] = other_payload(editable, generator)
            replacement(bin_path(mnt, path), wanted[path])
    commit(model)
    assert not sidecar_of(model).exists()
    only_models(tmp_path, "m.onnx", "m.data")
    assert all_as_read(tensors, by_onnx(model)) == all_as_read(tensors, wanted)
    assert without_payloads(model) == structure
    with mount(model) as mnt:
        assert contents(mnt, tensors) == wanted
        for path, editable in tensors.items():
            found = json.loads((mnt.path / (path + ".json")).read_text())
            assert found["edited"] is False
            stays = editable.storage in ("raw_data", "external", "attribute", "string_data")
            if stays or "/runs" not in path and "/unpacked" not in path and editable.storage in ("float_data",
                                                                                               "double_data"):
                assert found["storage"] == editable.storage, path
            else:
                assert found["storage"] in ("raw_data", editable.storage), path


def test_one_by_one(mount, tmp_path):
    """An edit of one tensor changes no other, wherever it stands."""
    model, tensors = write_editable(tmp_path)
    original = {name: (tmp_path / name).read_bytes() for name in ("m.onnx", "m.data")}
    structure = without_payloads(model)
    generator = random.Random(6)
    for path, editable in tensors.items():
        for name, content in original.items():
            (tmp_path / name).write_bytes(content)
        content = other_payload(editable, generator)
        with mount(model) as mnt:
            replacement(bin_path(mnt, path), content)
        commit(model)
        wanted = {**payloads(tensors), path: content}
        assert all_as_read(tensors, by_onnx(model)) == all_as_read(tensors, wanted), path
        assert without_payloads(model) == structure, path
        if editable.storage == "external":
            assert model.read_bytes() == original["m.onnx"]
            assert (tmp_path / "m.data").read_bytes() == patched(original["m.data"], editable.payload, content)
        else:
            assert (tmp_path / "m.data").read_bytes() == original["m.data"]
        if editable.storage == "raw_data" and len(content) > 4:
            assert model.read_bytes() == patched(original["m.onnx"], editable.payload, content), path


def test_packed_floats_stay_in_place(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    original = model.read_bytes()
    for path in ("initializers/float/packed", "initializers/double/packed"):
        model.write_bytes(original)
        content = os.urandom(len(tensors[path].payload))
        with mount(model) as mnt:
            replacement(bin_path(mnt, path), content)
        commit(model)
        assert model.read_bytes() == patched(original, tensors[path].payload, content)


def test_shape_and_words(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    before = onnx.load(str(model))
    paths = [path for path in tensors if path.startswith("initializers/")]
    with mount(model) as mnt:
        for path in paths:
            about = mnt.path / (path + ".json")
            value = {**json.loads(about.read_text()), "shape": [1, *tensors[path].shape], "doc_string": f"é {path}"}
            about.write_text(json.dumps(value))
    commit(model)
    after = onnx.load(str(model))
    for old, new in zip(before.graph.initializer, after.graph.initializer, strict=True):
        assert list(new.dims) == [1, *old.dims]
        assert new.doc_string == f"é initializers/{old.name}"
        for message in (old, new):
            message.ClearField("dims")
            message.ClearField("doc_string")
        assert old.SerializeToString() == new.SerializeToString()
    del before.graph.initializer[:], after.graph.initializer[:]
    assert before.SerializeToString() == after.SerializeToString()
    with mount(model) as mnt:
        assert contents(mnt, tensors) == payloads(tensors)


def test_data_files_keep_their_names(mount, saved):
    before = saved.read_bytes()
    with mount(saved) as mnt:
        overwrite(mnt.file("e"), 100, b"external")
    commit(saved)
    assert saved.read_bytes() == before
    assert saved.with_name("m.data").read_bytes() == DATA[:100] + b"external" + DATA[108:]
    only_models(saved.parent, "m.onnx", "m.data")


def test_modes_stay(mount, saved):
    saved.chmod(0o640)
    saved.with_name("m.data").chmod(0o604)
    edit(mount, saved)
    commit(saved)
    assert (saved.stat().st_mode & 0o777, saved.with_name("m.data").stat().st_mode & 0o777) == (0o640, 0o604)


def test_output(mount, saved, tmp_path):
    """The model, its data files and its edits stay; data files without edits are found beside the output."""
    wanted = edit(mount, saved)
    before = state(saved, saved.with_name("m.data"))
    (tmp_path / "out").mkdir()
    commit(saved, "-o", tmp_path / "out" / "new.onnx")
    assert state(saved, saved.with_name("m.data")) == before
    assert sidecar_of(saved).is_dir()
    with mount(tmp_path / "out" / "new.onnx") as mnt:
        assert all_bytes(mnt) == wanted
        assert mnt.problems() == []
    with mount(saved) as mnt:
        assert all_bytes(mnt) == wanted and mnt.json("w")["edited"]


def test_output_beside(mount, saved):
    """The data file there is the model's own: the edited one gets another name."""
    wanted = edit(mount, saved)
    before = state(saved, saved.with_name("m.data"))
    told = commit(saved, "-o", saved.with_name("new.onnx"))
    assert state(saved, saved.with_name("m.data")) == before
    new, = set(os.listdir(saved.parent)) - {"m.onnx", "m.data", "m.onnx.sidecar", "new.onnx"}
    assert new in told
    locations = {pair.value for tensor in onnx.load(str(saved.with_name("new.onnx")), load_external_data=False)
                 .graph.initializer for pair in tensor.external_data if pair.key == "location"}
    assert new in locations
    with mount(saved.with_name("new.onnx")) as mnt:
        assert all_bytes(mnt) == wanted
    found = by_onnx(saved.with_name("new.onnx"))
    assert {name: found[f"initializers/{name}"] for name in wanted} == wanted


def test_output_is_not_overwritten(mount, saved):
    edit(mount, saved)
    saved.with_name("there.onnx").write_bytes(b"there")
    line = one_line(onnxfs("commit", saved, "-o", saved.with_name("there.onnx")))
    assert "there.onnx" in line
    assert saved.with_name("there.onnx").read_bytes() == b"there"
    assert sidecar_of(saved).is_dir()


def test_in_place(mount, saved):
    """The files are the same files, patched."""
    with mount(saved) as mnt:
        overwrite(mnt.file("w"), 4000, b"edited")
        overwrite(mnt.file("e"), 100, b"external")
    original, inodes = saved.read_bytes(), [saved.stat().st_ino, saved.with_name("m.data").stat().st_ino]
    commit(saved, "--in-place")
    assert saved.read_bytes() == patched(original, OLD, OLD[:4000] + b"edited" + OLD[4006:])
    assert saved.with_name("m.data").read_bytes() == DATA[:100] + b"external" + DATA[108:]
    assert [saved.stat().st_ino, saved.with_name("m.data").stat().st_ino] == inodes
    only_models(saved.parent, "m.onnx", "m.data")


def test_in_place_where_a_size_changes(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    for path, content in (("initializers/strings", string_payload([b"longer than before"] * 5)),
                          ("initializers/typed/INT8", bytes(135))):
        with mount(model) as mnt:
            replacement(bin_path(mnt, path), content)
        before = state(model, tmp_path / "m.data")
        one_line(onnxfs("commit", model, "--in-place"))
        assert state(model, tmp_path / "m.data") == before
        with mount(model) as mnt:
            assert bin_path(mnt, path).read_bytes() == content
        commit(model)
        assert by_onnx(model)[path] == content


def test_refused_while_mounted(mount, saved):
    with mount(saved) as mnt:
        overwrite(mnt.file("w"), 0, b"x")
        before = state(saved)
        for words in ((), ("--in-place",)):
            assert str(mnt.path) in one_line(onnxfs("commit", saved, *words))
        assert str(mnt.path) in one_line(onnxfs("discard", saved))
        assert state(saved) == before
        assert mnt.bytes("w")[:1] == b"x"
    commit(saved)
    with mount(saved) as mnt:
        assert mnt.bytes("w")[:1] == b"x" and not mnt.json("w")["edited"]


def test_under_a_mount_that_only_reads(mount, saved):
    edit(mount, saved)
    with mount(saved, "ro") as mnt:
        before = all_bytes(mnt)
        commit(saved)
        assert all_bytes(mnt) == before


@pytest.mark.parametrize("is_killed", [False, True], ids=["alive", "killed"])
def test_umount_commits(saved, tmp_path, mount, is_killed):
    mnt = Mount(saved, tmp_path / "mnt")
    try:
        mnt.path.mkdir()
        mnt.start()
        overwrite(mnt.file("w"), 0, b"committed")
        if is_killed:
            kill_daemon(mnt)
        done = onnxfs("umount", mnt.path, "--commit")
        assert done.returncode == 0, done.stderr
        assert is_killed or mnt.ended() == 0
        assert not mounts_at(mnt.path)
    finally:
        mnt.give_up()
    assert not sidecar_of(saved).exists()
    with mount(saved) as again:
        assert again.bytes("w") == b"committed" + OLD[9:]
        assert again.json("w")["edited"] is False


@pytest.mark.skipif(os.getuid() != 0, reason="mount namespaces are root's")
@pytest.mark.parametrize("words", [[], ["--commit"]], ids=["", "commit"])
def test_umount_of_a_mount_that_a_container_holds_too(saved, tmp_path, words):
    mnt = Mount(saved, tmp_path / "mnt")
    try:
        mnt.path.mkdir()
        mnt.start()
        overwrite(mnt.file("w"), 0, b"committed")
        with namespace_of_its_own():
            command = subprocess.Popen([BINARY, "umount", mnt.path, *words], stderr=subprocess.PIPE, text=True)
            line = command.stderr.readline()
            assert f"process {mnt.pid} has not ended yet" in line
            assert ("the commit waits" in line) == bool(words)
            assert mnt.pid == daemon_of(mnt.path)
        assert mnt.ended() == 0
        assert command.communicate(timeout=10 * SLOWNESS) == (None, "") and command.returncode == 0
    finally:
        mnt.give_up()
    assert sidecar_of(saved).exists() == (not words)


def test_discard_all(mount, saved):
    edit(mount, saved)
    before = state(saved, saved.with_name("m.data"))
    assert onnxfs("discard", saved).returncode == 0
    only_models(saved.parent, "m.onnx", "m.data")
    assert state(saved, saved.with_name("m.data")) == before
    with mount(saved) as mnt:
        assert mnt.bytes("w") == OLD and mnt.json("w")["edited"] is False


@pytest.mark.parametrize("path", ["initializers/w.bin", "initializers/w.json", "/initializers/w"])
def test_discard_one(mount, saved, path):
    wanted = edit(mount, saved)
    done = onnxfs("discard", saved, path)
    assert done.returncode == 0, done.stderr
    with mount(saved) as mnt:
        assert all_bytes(mnt) == {**wanted, "w": OLD}
        assert not mnt.json("w")["edited"] and mnt.json("e")["edited"]
    commit(saved)
    with mount(saved) as mnt:
        assert all_bytes(mnt) == {**wanted, "w": OLD}


def test_discard_of_nothing(mount, saved):
    edit(mount, saved)
    line = one_line(onnxfs("discard", saved, "initializers/none.bin"))
    assert "initializers/none.bin" in line
    with mount(saved) as mnt:
        assert mnt.json("w")["edited"] is True


def test_status(mount, saved):
    done = onnxfs("status", saved)
    assert done.returncode == 0, done.stderr
    edit(mount, saved)
    done = onnxfs("status", saved)
    assert done.returncode == 0, done.stderr
    assert all(f"initializers/{name}" in done.stdout for name in ("w", "typed", "e"))
    assert not any(f"initializers/{name}.bin" in done.stdout for name in ("v", "f"))


def test_a_value_file(mount, tmp_path):
    path = tmp_path / "v.pb"
    values = [tensor(name, FLOAT, [3], raw=name.encode() * 12) for name in "ab"]
    path.write_bytes(Message().string(1, "seq").varint(2, 1).message(3, values[0]).message(3, values[1]).to_bytes())
    original = path.read_bytes()
    with mount(path) as mnt:
        replacement(mnt.path / "values" / "1.bin", b"new content!")
    commit(path)
    assert path.read_bytes() == patched(original, b"b" * 12, b"new content!")


def test_missing_model(tmp_path):
    for command in ("commit", "discard", "status"):
        assert "none.onnx" in one_line(onnxfs(command, tmp_path / "none.onnx"))


def test_messages_are_walked(tmp_path):
    """The walk of the tests' own comparison reaches each of the model's TensorProtos."""
    model, tensors = write_editable(tmp_path)
    found = [m for m in messages(onnx.load(str(model), load_external_data=False)) if isinstance(m, onnx.TensorProto)]
    assert len(found) == sum(editable.storage != "attribute" for editable in tensors.values())


def test_commit_twice(mount, saved):
    for turn in (b"first", b"again"):
        with mount(saved) as mnt:
            overwrite(mnt.file("w"), 7, turn)
            overwrite(mnt.file("e"), 7, turn)
        commit(saved)
        with mount(saved) as mnt:
            assert mnt.bytes("w") == OLD[:7] + turn + OLD[12:]
            assert mnt.bytes("e") == DATA[:7] + turn + DATA[12:4000]


def test_a_mount_is_no_model(mount, tmp_path):
    """The line says what to do instead, and doing it works."""
    model, _ = write_editable(tmp_path)
    with mount(model) as mnt:
        overwrite(mnt.file("raw"), 0, b"edit")
        assert f"onnxfs umount --commit {mnt.path}" in one_line(onnxfs("commit", mnt.path))
        line = one_line(onnxfs("discard", mnt.path))
        assert f"onnxfs umount {mnt.path}; onnxfs discard {model}" in line
    with mount(model.parent) as mnt:
        for path in (mnt.path, mnt.path / model.name):
            for command in ("commit", "discard"):
                line = one_line(onnxfs(command, path))
                assert "is a mount of a folder" in line and f"onnxfs umount {mnt.path}; onnxfs {command} " in line
    found = json.loads(onnxfs("status", "--json", model).stdout)["edits"]
    assert [(item["path"], item["bin"], item["changed"]) for item in found] == [
        ("initializers/raw", "initializers/raw.bin", ["payload"])]
