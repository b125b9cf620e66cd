"""live/: the model as it would be committed, with its data files, for programs that read models."""

import errno
import mmap
import os
import stat

import numpy
import onnx
import pytest
from committed import as_read, by_onnx, commit
from editable import bin_path, overwrite, payloads, replacement, write_editable
from mounting import error_of, run
from network import BIAS, WEIGHT, write_network
from onnx_wire import FLOAT, STRING, UINT8, graph, tensor, write_model


def live(mnt, name="m.onnx"):
    return mnt.path / "live" / name


def same_files(mnt, folder, *names):
    """cmp of the files in live/ with those on disk; nothing else may be there."""
    root = mnt.path / "live"
    found = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    assert found == sorted(names)
    for name in names:
        assert live(mnt, name).stat().st_size == (folder / name).stat().st_size
        done = run("cmp", live(mnt, name), folder / name)
        assert done.returncode == 0, done.stdout + done.stderr


def test_without_edits_the_original(mount, tmp_path):
    model, _ = write_editable(tmp_path)
    with mount(model) as mnt:
        same_files(mnt, tmp_path, "m.onnx", "m.data")
        for name in ("m.onnx", "m.data"):
            status = live(mnt, name).lstat()
            assert stat.S_ISREG(status.st_mode) and status.st_nlink == 1
            assert status.st_mode & 0o222 == 0
            assert status.st_mtime_ns == model.stat().st_mtime_ns


def test_data_files_in_folders(mount, tmp_path):
    names = ["sub/w.data", "sub/deeper/v.data", "beside.data", "zw\u00f6lf/u.data"]
    tensors = []
    for i, name in enumerate(names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(os.urandom(5000 + i))
        place = [("location", name), ("offset", str(i)), ("length", "40")]
        tensors.append(tensor(f"t{i}", FLOAT, [10], external=place))
    tensors.append(tensor("again", UINT8, [3], external=[("location", "sub/../sub/w.data"), ("length", "3")]))
    write_model(tmp_path / "m.onnx", graph(tensors))
    with mount(tmp_path / "m.onnx") as mnt:
        same_files(mnt, tmp_path, "m.onnx", *names)
        overwrite(mnt.file("t1"), 0, b"edit")
        edited = live(mnt, names[1]).read_bytes()
        original = (tmp_path / names[1]).read_bytes()
        assert edited == original[:1] + b"edit" + original[5:]
        same_payloads = by_onnx(live(mnt))
        assert {path: bin_path(mnt, path).read_bytes() for path in same_payloads} == same_payloads


def test_a_data_file_that_is_missing_is_not_there(mount, tmp_path):
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [1], external=[("location", "lost.data")]),
                                            tensor("v", FLOAT, [1], raw=b"1234")]))
    with mount(tmp_path / "m.onnx") as mnt:
        same_files(mnt, tmp_path, "m.onnx")
        assert error_of(os.stat, live(mnt, "lost.data")) == errno.ENOENT


def test_onnx_loads_it(mount, tmp_path):
    model, tensors = write_editable(tmp_path)
    with mount(model) as mnt:
        assert by_onnx(live(mnt)) == by_onnx(model)
        overwrite(bin_path(mnt, "initializers/raw"), 8, b"edited")
        replacement(bin_path(mnt, "initializers/external/a"), bytes(6000))
        replacement(bin_path(mnt, "initializers/typed/INT16"), bytes(270))
        wanted = {path: as_read(tensors[path], bin_path(mnt, path).read_bytes()) for path in payloads(tensors)}
        assert by_onnx(live(mnt)) == wanted


def test_the_checker_takes_it(mount, tmp_path):
    """With the data files, which it looks for beside the model: regular files of one link."""
    model = write_network(tmp_path, "sub/m.data")
    with mount(model) as mnt:
        onnx.checker.check_model(str(live(mnt)), full_check=True)
        replacement(mnt.file("bias"), bytes(16))
        replacement(mnt.file("weight"), WEIGHT[::-1].tobytes())
        replacement(mnt.file("shape"), numpy.array([1, 4], "<i8").tobytes())
        onnx.checker.check_model(str(live(mnt)), full_check=True)
        loaded = onnx.load(str(live(mnt)))
        assert onnx.numpy_helper.to_array(loaded.graph.initializer[0]).tolist() == WEIGHT[::-1].tolist()


@pytest.mark.parametrize("flags", [mmap.MAP_SHARED, mmap.MAP_PRIVATE])
def test_maps(mount, tmp_path, flags):
    model, _ = write_editable(tmp_path)
    with mount(model) as mnt:
        for name in ("m.onnx", "m.data"):
            with open(live(mnt, name), "rb") as file, mmap.mmap(file.fileno(), 0, flags, mmap.PROT_READ) as area:
                assert area[:] == (tmp_path / name).read_bytes()


def test_what_commit_writes(mount, tmp_path):
    """Edits of all kinds: live/ is the committed files, byte for byte, before there are any."""
    model, tensors = write_editable(tmp_path)
    with mount(model) as mnt:
        for path, it in tensors.items():
            if not it.is_strings:
                replacement(bin_path(mnt, path), it.well_formed(it.payload[::-1]))
        replacement(bin_path(mnt, "initializers/strings"), b"\5\0\0\0later" + bytes(16))
        about = mnt.path / "initializers" / "raw.json"
        about.write_text(about.read_text().replace("[50,30]", "[1,1500]").replace("[50, 30]", "[1,1500]"))
        shown = {name: live(mnt, name).read_bytes() for name in ("m.onnx", "m.data")}
        assert {name: live(mnt, name).stat().st_size for name in shown} == {k: len(v) for k, v in shown.items()}
    commit(model)
    assert {name: (tmp_path / name).read_bytes() for name in shown} == shown


def test_a_growing_model(mount, tmp_path):
    """Sizes follow at each look, also for who has the file open."""
    message = tensor("s", STRING, [2]).bytes(6, b"a").bytes(6, b"b")
    write_model(tmp_path / "m.onnx", graph([message, tensor("w", FLOAT, [1], raw=b"1234")]))
    with mount(tmp_path / "m.onnx") as mnt:
        sizes = [live(mnt).stat().st_size]
        for length in (1000, 100_000, 3):
            replacement(mnt.file("s"), length.to_bytes(4, "little") + b"x" * length + bytes(4))
            sizes.append(live(mnt).stat().st_size)
            assert len(live(mnt).read_bytes()) == sizes[-1]
            assert onnx.load(str(live(mnt))).graph.initializer[0].string_data[0] == b"x" * length
        assert sizes[0] < sizes[3] < sizes[1] < sizes[2]


def test_it_is_read_only(mount, tmp_path):
    model, _ = write_editable(tmp_path)
    with mount(model) as mnt:
        for name in ("m.onnx", "m.data"):
            assert error_of(os.open, live(mnt, name), os.O_WRONLY) == errno.EROFS
            assert error_of(os.unlink, live(mnt, name)) in (errno.EPERM, errno.EROFS)
            assert error_of(os.truncate, live(mnt, name), 0) in (errno.EPERM, errno.EROFS)
        assert error_of(os.open, live(mnt, "new"), os.O_WRONLY | os.O_CREAT) in (errno.EPERM, errno.EROFS)


def test_values(mount, tmp_path):
    """Of a .pb: the file under its own name."""
    (tmp_path / "input_0.pb").write_bytes(tensor("x", FLOAT, [2], raw=b"12345678").to_bytes())
    with mount(tmp_path / "input_0.pb") as mnt:
        same_files(mnt, tmp_path, "input_0.pb")
        overwrite(mnt.path / "values" / "x.bin", 0, b"edit")
        assert onnx.load_tensor(str(live(mnt, "input_0.pb"))).raw_data == b"edit5678"


def result(runtime, path):
    return runtime(path, x=([1, 3], [1, 2, 3]))["y"]


@pytest.mark.limit(200)
@pytest.mark.parametrize("data", ["m.data", "sub/m.data"])
def test_onnxruntime(runtime, mount, tmp_path, data):
    """Outputs as of the original; after edits, as of a model that was edited with python3-onnx."""
    model = write_network(tmp_path, data)
    with mount(model) as mnt:
        assert result(runtime, live(mnt)) == result(runtime, model)
        weight, bias = WEIGHT * 2 - 3, BIAS[::-1]
        replacement(mnt.file("weight"), weight.tobytes())
        numpy.save(mnt.path / "npy" / "initializers" / "bias.npy", bias)
        replacement(mnt.file("shape"), numpy.array([4, 1], "<i8").tobytes())
        edited = onnx.load(str(model))
        for place, value in enumerate((weight, bias, numpy.array([4, 1], "<i8"))):
            name = edited.graph.initializer[place].name
            edited.graph.initializer[place].CopyFrom(onnx.numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        onnx.save(edited, str(tmp_path / "edited.onnx"))
        assert result(runtime, live(mnt)) == result(runtime, tmp_path / "edited.onnx")
        assert result(runtime, live(mnt)) != result(runtime, model)
