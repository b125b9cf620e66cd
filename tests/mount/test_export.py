"""Models written anew in other arrangements, told with python3-onnx and ONNX Runtime and not with the program."""

import os
import random
import signal
import struct
import subprocess
import time

import numpy
import pytest
import safetensors_reader
from datatypes import SIZED, entries, pack, packed, random_patterns
from editable import overwrite, payloads, write_editable
from mounting import BINARY, one_line, onnxfs
from npm_models import background_removal, npm_package, unpack
from onnx_wire import (FLOAT, INT64, Hole, Message, attribute_int, graph, node, tensor, value_info, write_model)

onnx = pytest.importorskip("onnx", reason="python3-onnx is not installed")
from committed import DATA_FIELDS, all_as_read, by_onnx, messages  # noqa: E402
from everything import model_tensors  # noqa: E402

LARGE = 1 << 20
PACKED = [("uint4", 21, 4), ("int4", 22, 4), ("uint2", 25, 2), ("int2", 26, 2)]
WAYS = {"external": ["--external"], "attributes": ["--external", "--attributes"], "all": ["--external", "--attributes",
                                                                                   "--size-threshold", "0"],
        "named": ["--external", "w.data"], "wide": ["--external", "--align", "65536"], "files": ["--per-tensor"],
        "inline": ["--inline"]}


def export(model, out, *words, **how):
    done = onnxfs("export", model, out, *words, **how)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.startswith(f"Wrote {out} (") and done.stdout.count("\n") == 1
    return out


def tensors_of(path):
    """All TensorProtos of a model, as they are in its file."""
    return [message for message in messages(onnx.load(str(path), load_external_data=False))
            if isinstance(message, onnx.TensorProto)]


def without_data(path):
    """All but the data, as bytes; unknown fields too."""
    model = onnx.load(str(path), load_external_data=False)
    for message in messages(model):
        if isinstance(message, onnx.TensorProto):
            for field in (*DATA_FIELDS, "external_data", "data_location"):
                message.ClearField(field)
    return model.SerializeToString()


def check_arrangement(path, threshold=1024):
    """That external data are as every reader wants them; the names of the data files."""
    ends, files = {}, set()
    for it in tensors_of(path):
        if it.data_location != onnx.TensorProto.EXTERNAL:
            assert not it.external_data
            continue
        assert not any(it.HasField(field) if field == "raw_data" else len(getattr(it, field)) for field in DATA_FIELDS)
        assert [entry.key for entry in it.external_data] == ["location", "offset", "length"]
        location, offset, length = (entry.value for entry in it.external_data)
        assert str(int(offset)) == offset and str(int(length)) == length and int(length) >= min(threshold, 128)
        assert int(offset) % (65536 if int(length) > LARGE else 4096) == 0
        with open(path.parent / location, "rb") as file:
            file.seek(ends.get(location, 0))
            gap = file.read(int(offset) - ends.get(location, 0))
        assert gap == bytes(len(gap)) and len(gap) < 65536
        ends[location] = int(offset) + int(length)
        files.add(location)
    assert all((path.parent / location).stat().st_size == end for location, end in ends.items())
    return files


@pytest.mark.parametrize("way", WAYS)
def test_every_storage(tmp_path, way):
    """Each way, and back: the same tensors for onnx, and nothing else changed."""
    model, tensors = write_editable(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    out = export(model, folder / "m.onnx", *WAYS[way])
    wanted = all_as_read(tensors, payloads(tensors))
    assert all_as_read(tensors, by_onnx(out)) == wanted
    assert without_data(out) == without_data(model)
    files = check_arrangement(out, 0 if way == "all" else 1024)
    assert sorted(os.listdir(folder)) == sorted({"m.onnx", *files})
    expected = {"inline": set(), "named": {"w.data"}}.get(way, {"m.onnx.data"})
    assert len(files) > 10 if way == "files" else files == expected
    assert onnxfs("check", out).returncode == 0
    back = export(out, tmp_path / "back.onnx", "--inline")
    assert all_as_read(tensors, by_onnx(back)) == wanted
    assert without_data(back) == without_data(model)
    assert not any(it.external_data for it in tensors_of(back))


def test_every_type(tmp_path):
    """Out of raw_data and of typed fields, read with nothing but open and seek; and back."""
    generator = random.Random(3)
    wanted, messages_of = {}, []
    for row in SIZED:
        patterns = random_patterns(row, 4099, generator)
        wanted[f"{row.onnx}/raw"] = wanted[f"{row.onnx}/typed"] = pack(row.bits, patterns)
        messages_of.append(tensor(f"{row.onnx}/raw", row.number, [4099], raw=pack(row.bits, patterns)))
        messages_of.append(tensor(f"{row.onnx}/typed", row.number, [4099]).raw(packed(row, entries(row, patterns))))
    model = tmp_path / "m.onnx"
    write_model(model, graph(messages_of))
    out = export(model, tmp_path / "out.onnx", "--external")
    data = (tmp_path / "out.onnx.data").read_bytes()
    for it in tensors_of(out):
        place = {entry.key: entry.value for entry in it.external_data}
        begin = int(place["offset"])
        assert data[begin:begin + int(place["length"])] == wanted[it.name], it.name
    back = export(out, tmp_path / "back.onnx", "--inline")
    assert {it.name: it.raw_data for it in tensors_of(back)} == wanted
    assert without_data(back) == without_data(model)


BY_FILE = ("a", ["--external"])
BY_TENSOR = ("b", ["--per-tensor", "--attributes", "--size-threshold", "200"])


def check_model(path, folder, *ways):
    """A model of somebody else: out and back."""
    wanted = dict(model_tensors(onnx.load(str(path))))
    for name, words in ways:
        out = export(path, folder / name / path.name, *words)
        check_arrangement(out, 200)
        assert by_onnx(out) == wanted and without_data(out) == without_data(path)
        onnx.checker.check_model(str(out))
        back = export(out, folder / f"{name}-back-{path.name}", "--inline")
        assert by_onnx(back) == wanted and without_data(back) == without_data(path)
        onnx.checker.check_model(str(back))


@pytest.fixture
def folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.limit(120)
def test_models_of_npm_packages(folders):
    models = unpack(npm_package("jp.keijiro.mlsd@1.0.0", 60), lambda name: name.endswith(".onnx"), folders)
    for path in models:
        check_model(path, folders, BY_FILE, BY_TENSOR)


@pytest.mark.limit(200)
def test_background_removal(folders):
    check_model(background_removal(folders), folders, BY_FILE)


WEIGHT = numpy.arange(1200, dtype="<f4").reshape(3, 400) / 8
BIAS = numpy.linspace(-1, 1, 400, dtype="<f4")


def write_network(folder):
    """y = reshape(x · weight + bias): an initializer of each storage, the bias a Constant's."""
    (folder / "old.data").write_bytes(b"pad." + WEIGHT.tobytes())
    path = folder / "m.onnx"
    bias = Message().string(1, "value").message(5, tensor("", FLOAT, [400]).bytes(4, BIAS.tobytes())).varint(20, 4)
    write_model(path, graph(
        [tensor("weight", FLOAT, [3, 400], external=[("location", "old.data"), ("offset", "4"), ("length", "4800")]),
         tensor("shape", INT64, [2]).packed_varints(7, [2, 200])],
        [node("Constant", [], ["bias"], "bias", [bias]), node("MatMul", ["x", "weight"], ["p"], "mul"),
         node("Add", ["p", "bias"], ["s"], "add"),
         node("Reshape", ["s", "shape"], ["y"], "reshape", [attribute_int("allowzero", 0)])],
        [value_info("x", FLOAT, [1, 3])], [value_info("y", FLOAT, ["a", "b"])]))
    return path


@pytest.mark.limit(200)
def test_onnx_runtime_and_the_checker_take_it(runtime, tmp_path):
    model = write_network(tmp_path)
    x = numpy.array([[1, 2, 3]], dtype="<f4")
    wanted = runtime(model, x=([1, 3], x.ravel().tolist()))["y"]
    assert numpy.allclose(wanted, (x @ WEIGHT + BIAS).ravel())
    for way in ("attributes", "wide", "files", "inline"):
        (tmp_path / way).mkdir()
        out = export(model, tmp_path / way / "m.onnx", *WAYS[way])
        assert runtime(out, x=([1, 3], x.ravel().tolist()))["y"] == wanted, way
        onnx.checker.check_model(str(out), full_check=True)


def test_a_mount_and_its_edits(mount, tmp_path):
    model = write_network(tmp_path)
    edited = struct.pack("<f", 100)
    with mount(model) as mnt:
        overwrite(mnt.file("weight"), 8, edited)
        out = export(mnt.path, tmp_path / "from-mount.onnx", "--external")
        from_mount = [path.read_bytes() for path in (out, tmp_path / "from-mount.onnx.data")]
        safetensors, _ = safetensors_reader.read(
            export(mnt.path, tmp_path / "m.safetensors", "--safetensors").read_bytes())
        assert (mnt.path / "model.safetensors").read_bytes() == (tmp_path / "m.safetensors").read_bytes()
    wanted = WEIGHT.tobytes()[:8] + edited + WEIGHT.tobytes()[12:]
    assert by_onnx(out)["initializers/weight"] == wanted == safetensors["weight"][2]
    export(model, tmp_path / "from-file.onnx", "--external", "from-file.data")
    assert (tmp_path / "from-file.data").read_bytes() == from_mount[1]
    assert by_onnx(tmp_path / "from-file.onnx") == by_onnx(out)


def test_refusals(tmp_path):
    model = write_network(tmp_path)
    out, there = tmp_path / "out.onnx", sorted(os.listdir(tmp_path))

    def refused(*words, status=1):
        done = onnxfs("export", *words)
        assert done.returncode == status
        assert sorted(os.listdir(tmp_path)) == there
        return one_line(done)

    assert "is there already" in refused(model, model, "--inline")
    assert "old.data" in refused(model, out, "--external", "old.data")
    assert "cannot be a data file's name" in refused(model, out, "--external", "../d", status=2)
    assert "--external" in refused(model, out, status=2)
    assert "--inline" in refused(model, out, "--inline", "--external", status=2)
    assert "--align" in refused(model, out, "--inline", "--align", "4096", status=2)
    assert "--align" in refused(model, out, "--external", "--align", "512", status=2)
    for size in ("-1", "1k", ""):
        assert "--size-threshold" in refused(model, out, "--external", "--size-threshold", size, status=2)
    assert "none.onnx" in refused(tmp_path / "none.onnx", out, "--inline")
    (tmp_path / "old.data").write_bytes(b"short")
    line = refused(model, out, "--inline")
    assert "weight" in line and "old.data" in line


def test_external_takes_no_word_that_is_required(tmp_path):
    model = write_network(tmp_path)
    done = onnxfs("export", "--external", model, tmp_path / "out.onnx")
    assert done.returncode == 0 and check_arrangement(tmp_path / "out.onnx") == {"out.onnx.data"}


def test_it_says_that_nothing_was_moved(tmp_path):
    write_model(tmp_path / "m.onnx", graph([tensor("w", FLOAT, [2], raw=bytes(8))]))
    for name, way in (("a.onnx", "--external"), ("b.onnx", "--per-tensor")):
        done = onnxfs("export", tmp_path / "m.onnx", tmp_path / name, way)
        assert done.returncode == 0
        assert done.stdout.endswith("; no tensor that may be moved is as large as 1024 bytes: all stay inline\n")
    assert sorted(os.listdir(tmp_path)) == ["a.onnx", "b.onnx", "m.onnx"]


@pytest.fixture
def big(tmp_path):
    """A model of 300 MB, mostly holes so that it is made quickly."""
    size = 300 << 20
    raw = Message().varint(1, size // 4).varint(2, FLOAT).string(8, "raw").message(9, Hole(size))
    write_model(tmp_path / "big.onnx", graph([raw]))
    yield tmp_path / "big.onnx"
    for path in tmp_path.iterdir():
        path.unlink()


@pytest.mark.limit(60)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt(big, number):
    """Nothing is left, there is nothing but one line in a pipe, and a shell sees the signal."""
    process = subprocess.Popen([BINARY, "export", big, big.with_name("out.onnx"), "--external"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 20
        while process.poll() is None and len(os.listdir(big.parent)) == 1 and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    if process.returncode == 0:
        pytest.skip("it was done before it could be stopped")
    assert process.returncode == -number
    assert errors == "onnxfs: stopped; the model and its edits are as they were\n"
    assert os.listdir(big.parent) == ["big.onnx"]


@pytest.mark.limit(60)
def test_ignored_signals_stay_ignored(big):
    """As nohup has it, and a shell for what runs in its background."""
    out = big.with_name("out.onnx")
    process = subprocess.Popen(["nohup", BINARY, "export", big, out, "--inline"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 20
        while process.poll() is None and len(os.listdir(big.parent)) == 1 and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert sorted(os.listdir(big.parent)) == ["big.onnx", "out.onnx"]


@pytest.mark.parametrize("words", [["--inline"], ["--external"], ["--safetensors"]])
def test_size_that_a_process_may_write(tmp_path, words):
    """It is an error like another, and not the end by a signal."""
    model = tmp_path / "m.onnx"
    write_model(model, graph([tensor("w", FLOAT, [100000], raw=bytes(400000))]))
    (tmp_path / "out").mkdir()
    done = subprocess.run(["bash", "-c", 'ulimit -f 20; exec "$@"', "bash", BINARY, "export", model,
                           tmp_path / "out" / "o.onnx", *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and done.stdout == ""
    assert "File too large" in one_line(done)
    assert os.listdir(tmp_path / "out") == []


def test_many_at_once(tmp_path):
    """One of them writes the file, and the others say why they did not."""
    models = []
    for number in range(6):
        models.append(tmp_path / f"{number}.onnx")
        write_model(models[-1], graph([tensor("w", FLOAT, [100000], raw=bytes([number]) * 400000)]))
    out = tmp_path / "out"
    out.mkdir()
    for words in (["--inline"], ["--external"]):
        for _ in range(3):
            running = [subprocess.Popen([BINARY, "export", model, out / "o.onnx", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for model in models]
            ended = [(process.communicate(timeout=60), process.returncode) for process in running]
            winners = [number for number, (_, status) in enumerate(ended) if status == 0]
            assert len(winners) == 1, ended
            for (_, errors), status in ended:
                words_of = ("is there already", "another process is writing", "appeared while")
                assert status == 0 or (errors.count("\n") == 1 and any(it in errors for it in words_of)), errors
            assert by_onnx(out / "o.onnx") == {"initializers/w": bytes(winners) * 400000}
            assert sorted(os.listdir(out)) == ["o.onnx", "o.onnx.data"][:len(words[0]) - 7]
            for name in os.listdir(out):
                (out / name).unlink()


def test_names_that_are_not_free(tmp_path):
    """A model is not taken for remains; data do not go where no reader finds them, or where edits will be."""
    model = write_network(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    remains = folder / ".o.onnx.onnxfs-commit"
    remains.write_bytes((tmp_path / "m.onnx").read_bytes())
    (folder / "old.data").write_bytes((tmp_path / "old.data").read_bytes())
    (folder / "up").symlink_to(tmp_path)
    there = sorted(os.listdir(folder)), sorted(os.listdir(tmp_path))

    def refused(*words):
        done = onnxfs("export", *words)
        assert done.returncode == 1
        assert (sorted(os.listdir(folder)), sorted(os.listdir(tmp_path))) == there
        return one_line(done)

    assert "is to be read" in refused(remains, folder / "o.onnx", "--inline")
    assert "leads out" in refused(model, folder / "o.onnx", "--external", "up/w.data")
    assert "edits" in refused(model, folder / "o.onnx", "--external", "o.onnx.sidecar")
    export(model, folder / "o.onnx", "--inline")
    assert sorted(os.listdir(folder)) == ["o.onnx", "old.data", "up"]


def test_stray_bits_are_exact(mount, tmp_path):
    """Bits behind the last element of packed types: what the mount shows is the same before and after."""
    model = tmp_path / "m.onnx"
    stray = [tensor(f"{name}/raw", number, [4099], raw=b"\xff" * (4099 * bits // 8 + 1)) for name, number, bits in PACKED]
    typed = [tensor(f"{name}/typed", number, [4099]).packed_varints(5, [255] * (4099 * bits // 8 + 1))
             for name, number, bits in PACKED]
    write_model(model, graph(stray + typed))

    def sums(path):
        with mount(path) as mnt:
            return [line for line in (mnt.path / "XXH128SUMS").read_text().splitlines() if ".bin" in line]

    wanted = sums(model)
    assert len(wanted) == 2 * len(PACKED)
    for way in ("external", "inline"):
        out = export(model, tmp_path / f"{way}.onnx", *WAYS[way])
        assert sums(out) == wanted
    assert sums(export(tmp_path / "external.onnx", tmp_path / "back.onnx", "--inline")) == wanted
