"""`onnxfs stats`: what it says of every type is what numpy says, in float64."""

import json
import struct

import numpy
import pytest
from datatypes import SIZED, string_payload
from editing import store
from mounting import on_terminal, one_line, onnxfs
from numeric import exact_integers, payload_of, smallest_normal, values_of
from onnx_wire import DOUBLE, FLOAT, INT8, STRING, Message, graph, tensor, write_model
from testdata import models_of_libonnx_testdata

LARGE = {"FLOAT", "DOUBLE", "FLOAT16", "INT64", "UINT8", "INT4", "FLOAT6E2M3"}  # in several shares


def stats(path, *words, status=0):
    done = onnxfs("stats", path, "--json", *words)
    assert done.returncode == status, done.stderr
    return {entry["path"]: entry for entry in json.loads(done.stdout)["tensors"]}


def close(found, wanted, scale):
    assert abs(found - wanted) <= 1e-12 * scale, (found, wanted)


def check(found, values, least_normal=0, integers=None):
    """One tensor's entry against its numbers as float64."""
    finite = values[numpy.isfinite(values)]
    assert found["numbers"] == len(values)
    assert found["nan"] == numpy.isnan(values).sum()
    assert found["inf"] == numpy.isinf(values).sum()
    assert found["zeros"] == (values == 0).sum()
    assert found["subnormal"] == ((finite != 0) & (abs(finite) < least_normal)).sum()
    if not len(finite):
        assert [found[key] for key in ("min", "max", "mean", "std", "l2")] == [None] * 5
        assert found["histogram"] == {"edges": [], "counts": []}
        return
    if integers is None:
        assert (found["min"], found["max"]) == (finite.min(), finite.max())
        mean = finite.mean()
    else:
        assert (found["min"], found["max"]) == (int(integers.min()), int(integers.max()))
        assert isinstance(found["min"], int)
        mean = sum(map(int, integers)) / len(integers)
    close(found["mean"], mean, abs(finite).mean())
    close(found["std"], finite.std(), abs(finite).max() * 1e-3 + finite.std())
    close(found["l2"], numpy.sqrt((finite ** 2).sum()), found["l2"])
    edges, counts = found["histogram"]["edges"], found["histogram"]["counts"]
    assert len(edges) == len(counts) + 1 <= 65
    assert edges[0] <= finite.min() and finite.max() < edges[-1] and counts[0] and counts[-1]
    assert counts == numpy.histogram(finite, edges)[0].tolist()


@pytest.fixture(scope="module")
def of_each_type(tmp_path_factory):
    generator = numpy.random.default_rng(3)
    sizes = {row.onnx: (0, 1, 13, 10007) + ((2_400_001 if row.bits < 32 else 700_001,) if row.onnx in LARGE else ()) for row in SIZED}
    made = {f"{row.onnx}/{size}": (row, size, payload_of(row, size, generator)) for row in SIZED for size in sizes[row.onnx]}
    path = tmp_path_factory.mktemp("stats") / "m.onnx"
    write_model(path, graph([tensor(name, row.number, [size], raw=payload) for name, (row, size, payload) in made.items()]))
    return stats(path), made


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_every_type(of_each_type, row):
    found, made = of_each_type
    names = [name for name in made if name.startswith(row.onnx + "/")]
    assert len(names) >= 4
    for name in names:
        _, size, payload = made[name]
        entry = found["initializers/" + name]
        assert (entry["dtype"], entry["shape"], entry["elements"], entry["problem"]) == (row.name, [size], size, None)
        integers = exact_integers(row, payload, size) if size else None
        check(entry, values_of(row, payload, size), smallest_normal(row), integers)


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def doubles(values):
    return numpy.asarray(values, "<f8").tobytes()


@pytest.fixture
def written(tmp_path):
    def written(*tensors, name="m.onnx"):
        write_model(tmp_path / name, graph(tensors))
        return tmp_path / name

    return written


def test_distribution_far_from_zero(written):
    """Where a naive sum of squares has no digit left."""
    values = numpy.random.default_rng(1).normal(1e9, 1e-2, 300_001)
    entry = stats(written(tensor("w", DOUBLE, [len(values)], raw=doubles(values))))["initializers/w"]
    reference = values.astype(numpy.longdouble)
    close(entry["mean"], float(reference.mean()), 1e9)
    close(entry["std"], float(reference.std()), float(reference.std()))
    check(entry, values)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_squares_that_no_double_holds(written, unit):
    values = numpy.random.default_rng(2).normal(2, 1, 70_001)
    path = written(tensor("w", DOUBLE, [len(values)], raw=doubles(values * unit)),
                   tensor("mixed", DOUBLE, [4], raw=doubles([0, 0, 3 * unit, unit])))
    found = stats(path)
    for name, numbers in (("w", values), ("mixed", numpy.array([0, 0, 3, 1.0]))):
        entry = found["initializers/" + name]
        for key, wanted in (("mean", numbers.mean()), ("std", numbers.std()), ("l2", numpy.linalg.norm(numbers))):
            close(entry[key], wanted * unit, wanted * unit)


def test_largest_doubles(written):
    largest = numpy.finfo("f8").max
    entry = stats(written(tensor("w", DOUBLE, [4], raw=doubles([largest, -largest, largest, largest]))))["initializers/w"]
    assert (entry["min"], entry["max"], entry["l2"]) == (-largest, largest, None)
    close(entry["mean"], largest / 2, largest)
    assert sum(entry["histogram"]["counts"]) == 4


@pytest.mark.parametrize("scale", [1e-43, 1e-39, 1e-36, 1e-3, 1e30, 1e37], ids=str)
def test_floats_of_every_magnitude(written, scale):
    """Most blocks all finite, which are counted as they are; some with zeros, some with what is no number."""
    values = (numpy.random.default_rng(6).normal(0.3, 1, 40_013) * scale).astype("<f4")
    values[10_000:10_050] = 0
    values[20_001] = numpy.nan
    values[30_000:30_003] = -numpy.inf, numpy.inf, -0.0
    growing = (values * numpy.logspace(-6, 0, len(values))).astype("<f4")
    tensors = {"w": values, "growing": growing}
    found = stats(written(*(tensor(name, FLOAT, [len(of)], raw=of.tobytes()) for name, of in tensors.items())))
    for name, of in tensors.items():
        check(found["initializers/" + name], of.astype("f8"), float(numpy.finfo("f4").tiny))


def test_range_that_grows(written):
    """The histogram's bins have to become wider, many times, after the first numbers."""
    values = numpy.random.default_rng(4).normal(0, 1, 200_000) * 2.0 ** numpy.linspace(-40, 20, 200_000)
    check(stats(written(tensor("w", DOUBLE, [len(values)], raw=doubles(values))))["initializers/w"], values)


def test_bins(written):
    path = written(tensor("w", FLOAT, [4000], raw=floats(*numpy.random.default_rng(5).normal(0, 1, 4000))))
    for bins in (1, 2, 7, 300):
        counts = stats(path, "--bins", str(bins))["initializers/w"]["histogram"]["counts"]
        assert bins / 2 < len(counts) <= bins and sum(counts) == 4000
    done = onnxfs("stats", path, "--bins", "0")
    assert done.returncode == 2 and "--bins" in done.stderr


def test_strings(written):
    texts = [b"", b"abc", b"\xff" * 70_000, b"", b"z"]
    message = tensor("s", STRING, [5])
    for text in texts:
        message.bytes(6, text)
    entry = stats(written(message))["initializers/s"]
    assert (entry["shortest"], entry["longest"], entry["empty"], entry["string_bytes"]) == (0, 70_000, 2, 70_004)
    assert entry["nbytes"] == len(string_payload(texts))
    assert "longest 70000" in onnxfs("stats", written(message)).stdout


def test_typed_fields_and_unknown_types(written):
    path = written(tensor("typed", INT8, [3]).packed_varints(5, [-1, 2, 100]), tensor("odd", 99, [2], raw=b"\x01\xff"))
    found = stats(path)
    check(found["initializers/typed"], numpy.array([-1.0, 2, 100]))
    assert (found["initializers/odd"]["dtype"], found["initializers/odd"]["max"]) == ("null", 255)


def test_broken_tensors_do_not_hide_others(written):
    path = written(tensor("a", FLOAT, [2], raw=b"123"), tensor("b", FLOAT, [1], raw=floats(2)))
    found = stats(path, status=1)
    assert found["initializers/b"]["mean"] == 2 and "numbers" not in found["initializers/a"]
    done = onnxfs("stats", path)
    assert done.returncode == 1 and found["initializers/a"]["problem"] in done.stdout
    line, = done.stderr.splitlines()
    assert str(path) in line and "initializers/a" in line and "3 bytes" in line


def test_edits_mounts_and_patterns(mount, written):
    path = written(tensor("w", FLOAT, [2], raw=floats(1, 2)), tensor("v", FLOAT, [1], raw=floats(7)))
    with mount(path) as mnt:
        store(mnt.file("w"), 0, floats(5))
        assert stats(mnt.path, "initializers/w*")["initializers/w"]["max"] == 5
    assert list(stats(path, "*/w.bin")) == ["initializers/w"]
    assert stats(path)["initializers/w"]["max"] == 5
    assert "there is no folder" in one_line(onnxfs("stats", path, "--sidecar", path.parent / "none"))


def test_errors(written, tmp_path):
    assert "no tensor" in one_line(onnxfs("stats", written(), "x"))
    assert str(tmp_path / "none") in one_line(onnxfs("stats", tmp_path / "none"))


def test_what_people_see(written):
    values = numpy.random.default_rng(6).normal(0, 1, 10_000)
    path = written(tensor("w", FLOAT, [100, 100], raw=floats(*values)), tensor("empty", FLOAT, [0], raw=b""))
    done = onnxfs("stats", path)
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "initializers/w  float32 [100,100]  10000 elements, 40000 bytes"
    for word in ("min", "max", "mean", "std", "L2", "zeros", "NaN", "Inf", "subnormal"):
        assert any(word in line for line in lines[1:3]), word
    assert "█" in done.stdout and "┤" in done.stdout and "└" in done.stdout and " 0 " in lines[10]
    assert all(len(line) <= 80 for line in lines)
    assert lines[-1].startswith("2 tensors, 10000 elements, 40000 bytes")


def test_ends_of_the_axis(written):
    """Those that a reader expects: a single value, and of integers one of them."""
    path = written(tensor("zero", FLOAT, [5], raw=floats(*[0] * 5)), tensor("one", FLOAT, [2], raw=floats(-1.5, -1.5)),
                   tensor("flag", 9, [4], raw=bytes([0, 1, 1, 0])), tensor("byte", 2, [3], raw=bytes([0, 255, 255])),
                   tensor("same", 7, [2], raw=struct.pack("<2q", 7, 7)))

    def axis(name):
        return onnxfs("stats", path, name).stdout.splitlines()[-1].split()

    assert axis("zero") == ["0"] and axis("one") == ["-1.5"] and axis("same") == ["7"]
    assert axis("flag") == ["0", "1"] and axis("byte") == ["0", "255"]


def test_terminal_width(written):
    path = written(tensor("w", FLOAT, [1000], raw=floats(*numpy.random.default_rng(6).normal(0, 1, 1000))))
    for width in (50, 120):
        lines = on_terminal(width, "stats", path)
        assert width - 10 < max(len(line) for line in lines if "─" in line) <= width


def test_help_fits_a_screen():
    for command in ("stats", "diff"):
        done = onnxfs(command, "--help")
        assert done.returncode == 0 and "Example:" in done.stdout and len(done.stdout.splitlines()) <= 24


@pytest.mark.limit(120)
def test_models_of_libonnx_testdata():
    onnx = pytest.importorskip("onnx")
    numpy_helper = pytest.importorskip("onnx.numpy_helper")
    checked = 0
    for path in models_of_libonnx_testdata():
        initializers = onnx.load(str(path)).graph.initializer
        if not initializers:
            continue
        found = stats(path)
        for it in initializers:
            if it.data_type == STRING:
                continue
            array = numpy_helper.to_array(it)
            integers = array.ravel() if array.dtype.kind in "iu" and array.size else None
            least = {2: 2.0 ** -14, 4: 2.0 ** -126, 8: 2.0 ** -1022}[array.itemsize] if array.dtype.kind == "f" else 0
            check(found["initializers/" + it.name.strip("/")], array.ravel().astype("f8"), least, integers)
            checked += 1
    assert checked > 50
