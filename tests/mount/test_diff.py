"""`onnxfs diff`: how far apart it finds two tensors of every type is what numpy finds, in float64."""

import decimal
import json
import math
import random
import struct
import sys
from fractions import Fraction

import numpy
import pytest
from datatypes import BY_NAME, SIZED
from editing import store
from mounting import onnxfs
from numeric import exact_integers, payload_of, values_of
from onnx_wire import (BFLOAT16, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT4, INT8, INT64, STRING, UINT8, UINT64, Message, graph, model,
                       node, tensor, value_info, write_model)
from testdata import models_of_libonnx_testdata

SHARES = {"FLOAT", "INT64", "FLOAT16", "INT4"}  # of these, a tensor that is shared out


def diff(a, b, *words, status=None):
    """The parsed answer; entries of tensors by their path."""
    done = onnxfs("diff", a, b, "--json", *words)
    assert status is None or done.returncode == status, (done.returncode, done.stderr)
    answer = json.loads(done.stdout)
    answer["status"] = done.returncode
    answer["tensors"] = {(entry["a"] or entry["b"])["path"].removeprefix("initializers/"): entry
                         for entry in answer["tensors"]}
    return answer


def near(found, wanted, scale=None):
    if not math.isfinite(wanted):
        assert found is None, (found, wanted)
        return
    assert abs(found - wanted) <= 1e-11 * (abs(wanted) if scale is None else scale), (found, wanted)


def check(entry, a, b, changed):
    """Against two arrays of float64, and which of them are to be changed."""
    assert (entry["numbers"], entry["changed"]) == (len(a), changed.sum())
    assert entry["bytes_equal"] is False
    assert entry["new_nan"] == (numpy.isnan(b) & ~numpy.isnan(a)).sum()
    assert entry["new_inf"] == (numpy.isinf(b) & ~numpy.isinf(a)).sum()
    both = numpy.isfinite(a) & numpy.isfinite(b)
    a, b = a[both], b[both]
    d = b - a
    aa, bb, ab, dd = (a * a).sum(), (b * b).sum(), (a * b).sum(), (d * d).sum()
    near(entry["max_abs"], abs(d).max(initial=0))
    near(entry["mean_abs"], abs(d).mean() if len(d) else 0)
    with numpy.errstate(all="ignore"):
        near(entry["relative_l2"], 0 if dd == 0 else numpy.sqrt(dd / aa))
        near(entry["cosine"], ab / (numpy.sqrt(aa) * numpy.sqrt(bb)), 1)
        near(entry["sqnr_db"], 10 * numpy.log10(aa / dd), 100)


@pytest.fixture
def written(tmp_path):
    def written(name, *tensors, nodes=(), **header):
        write_model(tmp_path / name, graph(tensors, nodes), **header)
        return tmp_path / name

    return written


def some_changed(row, payload, size, generator):
    """The payload with other bits in some of its bytes; what is left of the last one stays."""
    changed = numpy.frombuffer(payload, "u1").copy()
    places = generator.integers(0, max(1, len(changed) - 1), max(1, len(changed) // 100))
    changed[places] = generator.integers(0, 256, len(places))
    if row.onnx in ("DOUBLE", "COMPLEX128"):  # whose bits are not to become a number past all squares
        values = numpy.frombuffer(payload, "<f8").copy()
        places = generator.integers(0, len(values), max(1, len(values) // 100))
        values[places] += generator.normal(0, 1e-3, len(places))
        return values.tobytes()
    return changed.tobytes()


@pytest.fixture(scope="module")
def of_each_type(tmp_path_factory):
    generator = numpy.random.default_rng(7)
    made = {}
    for row in SIZED:
        for size in (9, 5003) + ((2_400_001 if row.bits < 32 else 700_001,) if row.onnx in SHARES else ()):
            payload = payload_of(row, size, generator)
            made[f"{row.onnx}/{size}"] = row, size, payload, some_changed(row, payload, size, generator)
    folder = tmp_path_factory.mktemp("diff")
    for side in (2, 3):
        write_model(folder / f"{side}.onnx", graph(
            [tensor(name, it[0].number, [it[1]], raw=it[side]) for name, it in made.items()]))
    return diff(folder / "2.onnx", folder / "3.onnx")["tensors"], made


@pytest.mark.parametrize("row", SIZED, ids=lambda row: row.onnx)
def test_every_type(of_each_type, row):
    found, made = of_each_type
    compared = 0
    for name in (name for name in made if name.startswith(row.onnx + "/")):
        _, size, before, after = made[name]
        if before == after:
            assert name not in found
            continue
        a, b = values_of(row, before, size), values_of(row, after, size)
        exact_a, exact_b = exact_integers(row, before, size), exact_integers(row, after, size)
        if exact_a is not None:
            changed = exact_a != exact_b
        elif row.bits >= 8:
            width = row.bits // 16 if row.onnx.startswith("COMPLEX") else row.bits // 8
            same_bits = (numpy.frombuffer(before, f"V{width}") == numpy.frombuffer(after, f"V{width}"))
            changed = (a != b) & ~same_bits
        else:
            changed = a != b
        if row.onnx in ("INT64", "UINT64"):  # numpy's own difference is rounded before it is taken
            distance = numpy.array([abs(int(y) - int(x)) for x, y in zip(exact_a, exact_b)], "f8")
            assert found[name]["max_abs"] == distance.max() and found[name]["changed"] == changed.sum()
            near(found[name]["mean_abs"], distance.mean())
        else:
            check(found[name], a, b, changed)
        compared += 1
    assert compared >= 1


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


NAN = struct.pack("<I", 0x7FC00000)
OTHER_NAN = struct.pack("<I", 0x7FC00001)


def test_equal_bytes_are_equal(written):
    a = written("a.onnx", tensor("w", FLOAT, [2], raw=floats(1) + NAN))
    b = written("b.onnx", tensor("w", FLOAT, [2], raw=floats(1) + NAN))
    answer = diff(a, b, status=0)
    assert answer["tensors"] == {} and answer["header"] == [] and (answer["compared"], answer["different"]) == (1, 0)
    assert onnxfs("diff", a, b).stdout == "0 of 1 tensor differ; graph: same\n"


def test_nan_and_infinity(written):
    inf = math.inf
    before = floats(1, 2, inf, inf, 3, 0) + NAN + NAN + NAN
    after = floats(1, inf, inf, -inf, math.nan, -0.0) + NAN + OTHER_NAN + floats(5)
    a, b = (written(name, tensor("w", FLOAT, [9], raw=raw)) for name, raw in (("a.onnx", before), ("b.onnx", after)))
    entry = diff(a, b, status=1)["tensors"]["w"]
    assert (entry["changed"], entry["new_nan"], entry["new_inf"]) == (5, 1, 1)
    assert entry["max_abs"] == 0 and entry["relative_l2"] == 0 and entry["sqnr_db"] is None
    assert diff(a, b, "--equal-nan")["tensors"]["w"]["changed"] == 4


def test_other_bytes_of_the_same_values(written):
    a = written("a.onnx", tensor("w", FLOAT, [3], raw=floats(0, 1) + NAN))
    b = written("b.onnx", tensor("w", FLOAT, [3], raw=floats(-0.0, 1) + OTHER_NAN))
    assert diff(a, b, status=1)["tensors"]["w"]["changed"] == 1
    entry = diff(a, b, "--equal-nan", status=0)["tensors"]["w"]
    assert (entry["changed"], entry["different"], entry["bytes_equal"]) == (0, False, False)
    assert "1 in bytes only" in onnxfs("diff", a, b, "--equal-nan").stdout


@pytest.mark.parametrize("rtol, atol", [(1e-3, 0), (0, 1e-3), (1e-4, 1e-4), (1, 0), (0, 100)])
def test_tolerance_is_numpys(written, rtol, atol):
    generator = numpy.random.default_rng(8)
    x = generator.normal(0, 1, 3001).astype("<f4")
    y = (x * (1 + generator.normal(0, 1e-3, 3001))).astype("<f4")
    y[:4] = x[:4] = [math.nan, math.inf, 0, -0.0]
    a, b = (written(name, tensor("w", FLOAT, [3001], raw=raw.tobytes())) for name, raw in (("a.onnx", x), ("b.onnx", y)))
    answer = diff(a, b, "--rtol", str(rtol), "--atol", str(atol))
    wanted = ~numpy.isclose(y.astype("f8"), x.astype("f8"), rtol, atol, equal_nan=True)  # of equal bits
    check(answer["tensors"]["w"], x.astype("f8"), y.astype("f8"), wanted)
    assert answer["status"] == (1 if wanted.any() else 0)


def test_json_is_of_one_form(written):
    """Shapes are arrays, and a measure of what has no numbers is null."""
    text = tensor("s", STRING, [2]).bytes(6, b"a").bytes(6, b"b"), tensor("s", STRING, [2]).bytes(6, b"a").bytes(6, b"c")
    a = written("a.onnx", tensor("w", FLOAT, [2, 3], raw=floats(*range(6))), text[0])
    b = written("b.onnx", tensor("w", FLOAT, [3, 2], raw=floats(*range(6))), text[1])
    found = diff(a, b, status=1)["tensors"]
    assert found["w"]["a"] == {"path": "initializers/w", "bin": "initializers/w.bin", "dtype": "float32", "shape": [2, 3]}
    assert found["w"]["b"]["shape"] == [3, 2]
    assert found["s"]["changed"] == 1
    assert {found["s"][key] for key in ("max_abs", "mean_abs", "relative_l2", "cosine", "sqnr_db")} == {None}
    assert onnxfs("diff", a, a, "w").stdout == "0 of 1 tensor differ\n"
    assert onnxfs("diff", a, b, "w").stdout.endswith("1 of 1 tensor differs\n")


def bfloat16(values):
    return (values.astype("<f4").view("<u4") >> 16).astype("<u2")


def test_across_types(written):
    values = numpy.random.default_rng(9).normal(0, 1, 5001).astype("<f4")
    whole = numpy.arange(-8, 8)
    a = written("a.onnx", tensor("half", FLOAT, [5001], raw=values.tobytes()),
                tensor("brain", FLOAT, [5001], raw=values.tobytes()),
                tensor("bytes", INT8, [16], raw=whole.astype("i1").tobytes()), tensor("text", STRING, [1]).bytes(6, b"t"))
    half, brain = values.astype("<f2"), bfloat16(values)
    nibbles = (whole[::2] & 15 | (whole[1::2] & 15) << 4).astype("u1")
    b = written("b.onnx", tensor("half", FLOAT16, [5001], raw=half.tobytes()),
                tensor("brain", BFLOAT16, [5001], raw=brain.tobytes()), tensor("bytes", INT4, [16], raw=nibbles.tobytes()),
                tensor("text", FLOAT, [1], raw=floats(1)))
    found = diff(a, b, status=1)["tensors"]
    reference = values.astype("f8")
    check(found["half"], reference, half.astype("f8"), reference != half)
    dequantised = (brain.astype("<u4") << 16).view("<f4").astype("f8")
    check(found["brain"], reference, dequantised, reference != dequantised)
    assert (found["bytes"]["changed"], found["bytes"]["different"]) == (0, True)
    assert "changed" not in found["text"] and found["text"]["different"]
    found = diff(a, b, "initializers/half", "initializers/bytes", "--rtol", "1e-3", "--atol", "1e-6", status=0)["tensors"]
    assert not found["half"]["different"] and not found["bytes"]["different"]
    assert "float32 -> float16" in onnxfs("diff", a, b).stdout


def test_integers_of_64_bits_are_exact(written):
    pairs = [(2 ** 53, 2 ** 53 + 1), (2 ** 62, 2 ** 62 + 1), (-2 ** 63, 2 ** 63 - 1), (-1, 0), (2 ** 53 + 1, 2 ** 53 + 1)]
    a, b = (written(name, tensor("w", INT64, [5], raw=struct.pack("<5q", *(pair[side] for pair in pairs))))
            for side, name in ((0, "a.onnx"), (1, "b.onnx")))
    entry = diff(a, b)["tensors"]["w"]
    assert (entry["changed"], entry["max_abs"]) == (4, 2.0 ** 64)
    c = written("c.onnx", tensor("w", UINT64, [5], raw=struct.pack("<5Q", 2 ** 53, 2 ** 62 + 1, 2 ** 63, 2 ** 64 - 1, 2 ** 53 + 1)))
    assert diff(a, c)["tensors"]["w"]["changed"] == 3
    d = written("d.onnx", tensor("w", DOUBLE, [5], raw=struct.pack("<5d", 2 ** 53, 2 ** 62, -2.0 ** 63, -1 - 2 ** -52, 2 ** 53)))
    assert diff(a, d)["tensors"]["w"]["changed"] == 2


def test_tolerance_of_integers_of_64_bits(written):
    """Exact but within 1e-15 of the bound, where it is numpy's: 0.3 x 10 is 3."""
    generator = random.Random(13)
    rtol, atol = 0.3, 2.0
    pairs = [(10, 15), (-10, -15), (2 ** 53, 2 ** 53 + 2), (0, 2), (0, 3), (2 ** 63 - 1, -2 ** 63)]
    for _ in range(5000):
        a = generator.getrandbits(generator.randrange(1, 62)) * generator.choice((-1, 1))
        pairs.append((a, a + int(abs(a) * 0.3) + generator.randrange(5)))
    near = [abs(abs(Fraction(b - a)) - (Fraction(atol) + Fraction(rtol) * abs(a))) <= Fraction(1e-15) * (2 + abs(a)) for a, b in pairs]
    changed = [abs(b - a) > Fraction(atol) + Fraction(rtol) * abs(a) for a, b in pairs]
    a, b = (written(f"{side}.onnx", *[tensor(name, INT64, [len(kept)], raw=struct.pack(f"<{len(kept)}q", *(it[side] for it in kept)))
                                      for name, kept in (("sure", [it for it, is_near in zip(pairs, near) if not is_near]),
                                                         ("near", pairs[:1]))]) for side in (0, 1))
    found = diff(a, b, "--rtol", str(rtol), "--atol", str(atol))["tensors"]
    assert found["sure"]["changed"] == sum(it for it, is_near in zip(changed, near) if not is_near) > 1000
    assert changed[0] and found["near"]["changed"] == 0  # as numpy.isclose(15, 10, 0.3, 2) has it


def exact_measures(a, b):
    """Of two lists of finite floats: mean |d|, relative L2, cosine, SQNR in dB, to many digits; None for what is no number."""
    a, b = [[Fraction(x) for x in side] for side in (a, b)]
    with decimal.localcontext(decimal.Context(prec=50, Emin=-99999, Emax=99999)):
        def number(fraction):
            return decimal.Decimal(fraction.numerator) / decimal.Decimal(fraction.denominator)

        d = [y - x for x, y in zip(a, b)]
        aa, bb, dd, ab = (number(sum(x * y for x, y in zip(*pair))) for pair in ((a, a), (b, b), (d, d), (a, b)))
        return (number(sum(map(abs, d)) / len(d)), (dd / aa).sqrt() if aa else None,
                ab / aa.sqrt() / bb.sqrt() if aa and bb else None, 10 * (aa / dd).log10() if aa and dd else None)


def extremes():
    """Pairs of lists of doubles."""
    yield [1e-170, 2e-170], [2e-170, 2e-170]
    yield [1e200, 1], [1e200, 2]
    yield [1.0, 0], [1.0, 1e-200]
    yield [5e-324, 5e-324, 1e-323], [5e-324, 0, 0]
    yield [1.7e308] * 4, [0, 0, 0, 1e308]
    yield [1.7e308, 1e300], [-1.7e308, 1e300]  # further apart than any double is from 0
    yield [0, 0], [1e300, 1e-300]
    yield [1e200, 1e-200], [1e-200, 1e200]
    generator = random.Random(12)
    for scales in ((-1070, -700, 0), (-500, -450, -395), (395, 450, 1000), (-1000, 1000, 0), (0, 0, -600)):
        a, b = [], []
        for scale in scales:  # blocks of 2048 numbers, and a rest of one
            for _ in range(2048 if len(a) < 4096 else 77):
                x = math.ldexp(generator.gauss(0, 1), scale)
                a.append(x)
                b.append(x if generator.random() < 0.5 else x + math.ldexp(generator.gauss(0, 1), scale - generator.choice((0, 20))))
        yield a, b
        yield a, a[:2048] + b[2048:]  # a block of equal bytes


@pytest.mark.parametrize("onnx", (DOUBLE, COMPLEX128))
def test_doubles_of_any_size(written, onnx):
    pairs = [pair if len(pair[0]) % 2 == 0 else tuple(side + [1e-300] for side in pair) for pair in extremes()]
    a, b = (written(f"{side}.onnx", *[tensor(f"{i}", onnx, [len(pair[0]) // (2 if onnx == COMPLEX128 else 1)],
                                             raw=struct.pack(f"<{len(pair[0])}d", *pair[side])) for i, pair in enumerate(pairs)])
            for side in (0, 1))
    found = diff(a, b, status=1)["tensors"]
    for i, pair in enumerate(pairs):
        entry, wanted = found[f"{i}"], exact_measures(*pair)
        assert entry["changed"] == sum(x != y for x, y in zip(*pair))
        for key, value in zip(("mean_abs", "relative_l2", "cosine", "sqnr_db"), wanted):
            if value is None or abs(value) > decimal.Decimal(sys.float_info.max):
                assert entry[key] is None, (i, key, entry[key], value)
                continue
            scale = {"cosine": 1, "sqnr_db": 100}.get(key, abs(value))  # a subnormal has fewer digits
            assert abs(decimal.Decimal(entry[key]) - value) <= decimal.Decimal(1e-13) * scale + decimal.Decimal(5e-324), (
                i, key, entry[key], value)
        largest = max(abs(Fraction(y) - Fraction(x)) for x, y in zip(*pair))
        assert entry["max_abs"] == (float(largest) if largest < sys.float_info.max else None)
    # One by one, so that no large number hides what is small.
    assert found["0"]["relative_l2"] == pytest.approx(0.2 ** 0.5, rel=1e-14)


def test_one_element_of_a_large_tensor(written):
    """What was equal before the first difference counts in the norms."""
    values = numpy.random.default_rng(10).normal(5, 1, 900_000).astype("<f4")
    other = values.copy()
    other[899_990] += 1
    a, b = (written(name, tensor("w", FLOAT, [900_000], raw=raw.tobytes()))
            for name, raw in (("a.onnx", values), ("b.onnx", other)))
    check(diff(a, b)["tensors"]["w"], values.astype("f8"), other.astype("f8"), values != other)


def test_only_in_one_and_shapes(written):
    a = written("a.onnx", tensor("x", FLOAT, [1], raw=floats(1)), tensor("s", FLOAT, [1, 2], raw=floats(1, 2)),
                tensor("n", FLOAT, [1], raw=floats(1)))
    b = written("b.onnx", tensor("y", FLOAT, [1], raw=floats(1)), tensor("s", FLOAT, [2], raw=floats(1, 2)),
                tensor("n", FLOAT, [2], raw=floats(1, 1)))
    answer = diff(a, b, status=1)
    found = answer["tensors"]
    assert list(found) == ["x", "s", "n", "y"] and (answer["compared"], answer["different"]) == (4, 4)
    assert found["x"]["b"] is None and found["y"]["a"] is None
    assert (found["s"]["bytes_equal"], found["s"]["different"]) == (True, True) and "changed" not in found["n"]
    text = onnxfs("diff", a, b).stdout
    for words in ("only in A: float32 [1]", "only in B: float32 [1]", "[1,2] -> [2]", "4 of 4 tensors differ (1 only in A, 1 only in B)"):
        assert words in text


def test_renamed(written):
    a = written("a.onnx", *[tensor(f"old.{i}", FLOAT, [1], raw=floats(i)) for i in (1, 2)],
                nodes=[node("Add", ["old.1", "old.2"], ["y"])])
    b = written("b.onnx", *[tensor(f"new/x.{i}", FLOAT, [1], raw=floats(i)) for i in (1, 2)],
                nodes=[node("Add", ["new/x.1", "new/x.2"], ["y"])])
    assert diff(a, b, status=1)["different"] == 4
    for words in (("--map", "old.=new/x."), ("--map", "initializers/old.=initializers/new/x."),
                  ("--map", "old.1=new/x.1", "--map", "old.2=new/x.2"), ("--map=old=new/x", "initializers/old.*")):
        assert diff(a, b, *words, status=0)["compared"] == 2
    for words in (("--map", "nothing=x"), ("--map", "old.1=new/x.2", "--map", "old.2=new/x.2"), ("--map", "old.1")):
        done = onnxfs("diff", a, b, *words)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "--map" in done.stderr, words


def test_broken_tensors_do_not_hide_others(written):
    a = written("a.onnx", tensor("bad", FLOAT, [2], raw=b"123"), tensor("w", FLOAT, [1], raw=floats(1)))
    b = written("b.onnx", tensor("bad", FLOAT, [2], raw=floats(1, 2)), tensor("w", FLOAT, [1], raw=floats(2)))
    for first, second in ((a, b), (b, a)):
        found = diff(first, second, status=2)["tensors"]
        assert found["w"]["changed"] == 1 and "3 bytes" in found["bad"]["trouble"] and found["bad"]["different"] is None
        done = onnxfs("diff", first, second)
        assert done.returncode == 2 and "1 cannot be compared" in done.stdout
        line, = done.stderr.splitlines()
        assert str(a) in line and "initializers/bad" in line
    assert diff(a, b, "*/w", status=1)["compared"] == 1


def test_nodes_and_header(written):
    weight = tensor("w", FLOAT, [1], raw=floats(1))
    nodes = [node("Relu", ["x"], ["a"], "r"), node("Abs", ["a"], ["b"]), node("Neg", ["b"], ["y"], "n")]
    a = written("a.onnx", weight, nodes=nodes)
    assert diff(a, written("b.onnx", weight, nodes=nodes[::-1]), status=0)["nodes"] == {"removed": [], "added": [], "changed": []}
    b = written("b.onnx", weight, nodes=[node("Elu", ["x"], ["a"], "r"), nodes[1], node("Exp", ["b"], ["y"], "e")], opset=18)
    answer = diff(a, b, status=1)
    assert answer["different"] == 0
    assert answer["nodes"] == {"removed": ["y = Neg(b) # n"], "added": ["y = Exp(b) # e"],
                               "changed": [{"a": "a = Relu(x) # r", "b": "a = Elu(x) # r"}]}
    assert [entry["key"] for entry in answer["header"]] == ["opset_import"]
    text = onnxfs("diff", a, b).stdout
    assert "- y = Neg(b) # n\n+ y = Exp(b) # e\n" in text and text.endswith("graph: 1 node changed, 1 node only in A, 1 node only in B\n")
    assert "nodes" not in diff(a, b, "*", status=0)
    # Who made it is told, but is no difference.
    answer = diff(a, written("c.onnx", weight, nodes=nodes, producer="other"), status=0)
    assert [(entry["key"], entry["different"]) for entry in answer["header"]] == [("producer_name", False)]


def entry(key, value):
    return Message().string(1, key).string(2, value)


def function(attributes=("alpha",), opset=17, default=1, inputs=("x", "z"), doc=""):
    message = Message().string(1, "f").string(10, "local").string(8, doc)
    for name in inputs:
        message.string(4, name)
    message.string(5, "y").message(7, node("Add", ["x", "z"], ["y"]))
    for name in attributes:
        message.string(6, name)
    message.message(11, Message().string(1, "beta").varint(3, default).varint(20, 2))
    return message.message(9, Message().string(1, "").varint(2, opset))


def training(name="i", update="w"):
    return (Message().message(1, graph([], [node("Relu", ["x"], ["i"]), node("Abs", ["x"], ["j"])], [], [value_info("i", FLOAT, [1])]))
            .message(3, entry("w", name)).message(4, entry(update, "u")))


def branching(output="p", dim=2, doc="", inferred=False):
    """A model whose node holds a graph and a type."""
    branch = graph([], [node("Relu", ["x"], ["p"]), node("Abs", ["x"], ["q"])], [], [value_info(output, FLOAT, [1])])
    kind = Message().message(1, Message().varint(1, FLOAT).message(2, Message().message(1, Message().varint(1, dim))))
    whole = node("If", ["c"], ["y"], "if").string(6, doc)
    whole.message(5, Message().string(1, "then_branch").message(6, branch).varint(20, 5))
    whole.message(5, Message().string(1, "kind").message(14, kind).varint(20, 13))
    if doc:
        whole.message(9, entry("k", doc))
    return graph([], [whole]).message(13, value_info("p", FLOAT, [1])) if inferred else graph([], [whole])


def annotated(scale="s"):
    parameters = [entry("SCALE_TENSOR", scale), entry("ZERO_POINT_TENSOR", "z")]
    annotation = Message().string(1, "w")
    for parameter in parameters if scale != "reversed" else [parameters[1], entry("SCALE_TENSOR", "s")]:
        annotation.message(2, parameter)
    return graph([], []).message(14, annotation)


def sparse(columns):
    values = tensor("s", FLOAT, [1], raw=floats(1))
    indices = tensor("", INT64, [1], raw=struct.pack("<q", 1))
    return graph([], []).message(15, Message().message(1, values).message(2, indices).varint(3, 2).varint(3, columns))


WITH = {field: lambda message, field=field: model(graph([], [])).message(field, message) for field in (14, 20, 25)}
PAIRS = {
    "attributes of a function": [WITH[25](function(it)) for it in (("alpha",), ("alpha", "gamma"))],
    "opset of a function": [WITH[25](function(opset=it)) for it in (17, 18)],
    "a default": [WITH[25](function(default=it)) for it in (1, 2)],
    "inputs of a function": [WITH[25](function(inputs=it)) for it in (("x", "z"), ("z", "x"))],
    "an initialization": [WITH[20](training(it)) for it in "ij"],
    "an update": [WITH[20](training(update=it)) for it in "wv"],
    "an annotation": [model(annotated(it)) for it in "st"],
    "a type": [model(branching(dim=it)) for it in (2, 3)],
    "the output of a branch": [model(branching(it)) for it in "pq"],
    "dense dims": [model(sparse(it)) for it in (3, 4)],
    "domain": [model(graph([], [])).string(4, it) for it in "de"],
    "version": [model(graph([], [])).varint(5, it) for it in (1, 2)],
    "metadata": [WITH[14](entry("k", it)) for it in "vw"],
    "an input's bytes": [model(graph([], [node("Relu", [it], ["y"])])) for it in (b"\xff", b"\xfe")],
    "a graph input's bytes": [model(graph([], [], [value_info(it, FLOAT, [1])])) for it in (b"\xff", b"\xfe")],
    "an attribute's bytes": [model(graph([], [node("A", ["x"], ["y"]).message(5, Message().string(1, "s").bytes(4, it).varint(20, 3))]))
                             for it in (b"\xff", b"\xfe")],
    "long strings": [model(graph([], [node("A", ["x"], ["y"]).message(5, Message().string(1, "s").bytes(4, b"x" * (2 << 20) + it))]))
                     for it in (b"1", b"2")],
    "names that paths hide": [model(graph([tensor(it, FLOAT, [1], raw=b"abcd")], [])) for it in ("%0A", "\n")],
}
ALIKE = {
    "order of attributes": [WITH[25](function(it)) for it in (("alpha", "gamma"), ("gamma", "alpha"))],
    "order of parameters": [model(annotated(it)) for it in ("s", "reversed")],
    "documentation of a function": [WITH[25](function(doc=it)) for it in ("", "text")],
    "documentation and metadata of a node": [model(branching(doc=it)) for it in ("", "text")],
    "an inferred shape": [model(branching(inferred=it)) for it in (False, True)],
    "documentation of a tensor": [model(graph([tensor("w", FLOAT, [1], raw=b"abcd").string(12, it)], [])) for it in "ab"],
    "the name of a constant's tensor": [model(graph([], [node("Constant", [], ["y"]).message(
        5, Message().string(1, "value").message(5, tensor(it, FLOAT, [1], raw=b"abcd")).varint(20, 4))])) for it in "ab"],
}


@pytest.mark.parametrize("what", PAIRS)
def test_whatever_a_model_declares_is_compared(tmp_path, what):
    a, b = (tmp_path / name for name in ("a.onnx", "b.onnx"))
    for path, message in zip((a, b), PAIRS[what]):
        path.write_bytes(message.to_bytes())
    answer = diff(a, b, status=1)
    listed = [*answer["header"], *answer["tensors"].values(), *(entry for key in ("nodes", "declarations")
                                                                for entries in answer[key].values() for entry in entries)]
    assert listed
    done = onnxfs("diff", a, b)
    assert done.returncode == 1 and len(done.stdout.splitlines()) >= 2
    assert diff(a, a, status=0)["tensors"] == diff(b, b, status=0)["tensors"] == {}


@pytest.mark.parametrize("what", ALIKE)
def test_what_only_describes_is_no_difference(tmp_path, what):
    a, b = (tmp_path / name for name in ("a.onnx", "b.onnx"))
    for path, message in zip((a, b), ALIKE[what]):
        path.write_bytes(message.to_bytes())
    assert a.read_bytes() != b.read_bytes()
    diff(a, b, status=0)
    assert onnxfs("diff", a, b).stdout.endswith("graph: same\n")


def test_descriptions_of_the_model_are_told(tmp_path):
    a, b = (tmp_path / name for name in ("a.onnx", "b.onnx"))
    a.write_bytes(model(graph([], [], name="g")).to_bytes())
    whole = graph([], [], name="h").string(10, "text").message(16, entry("k", "v"))
    b.write_bytes(model(whole).string(6, "text").to_bytes())
    answer = diff(a, b, status=0)
    assert [(it["key"], it["different"]) for it in answer["header"]] == [
        ("doc_string", False), ("graph_name", False), ("graph_doc_string", False), ("graph_metadata_props", False)]


def test_declarations_are_paired(tmp_path):
    a, b = (tmp_path / name for name in ("a.onnx", "b.onnx"))
    for path, it in ((a, 17), (b, 18)):
        path.write_bytes(WITH[25](function(opset=it)).to_bytes())
    line = 'function:local/f: function = (x, z) -> (y) {alpha, beta=1} opset {""=%d}'
    assert diff(a, b)["declarations"] == {"removed": [], "added": [], "changed": [{"a": line % 17, "b": line % 18}]}
    assert onnxfs("diff", a, b).stdout == f"- {line % 17}\n+ {line % 18}\n0 of 0 tensors differ; graph: 1 declaration changed\n"


def test_a_constants_name_hides_no_node(tmp_path):
    """Only maps rename: what attributes call their tensors does not."""
    a, b = (tmp_path / name for name in ("a.onnx", "b.onnx"))
    for path, it in ((a, "u"), (b, "v")):
        constant = Message().string(1, "value").message(5, tensor(it, FLOAT, [1], raw=b"abcd")).varint(20, 4)
        path.write_bytes(model(graph([], [node("Constant", [], ["c"]).message(5, constant), node("Relu", [it], ["y"])])).to_bytes())
    assert diff(a, b, status=1)["nodes"]["changed"] == [{"a": "y = Relu(u)", "b": "y = Relu(v)"}]


def test_names_that_paths_hide_are_told(tmp_path):
    a, b = (tmp_path / name for name in ("a.onnx", "b.onnx"))
    for path, it in ((a, "%0A"), (b, "\n")):
        path.write_bytes(model(graph([tensor(it, FLOAT, [1], raw=b"abcd")], [])).to_bytes())
    found = diff(a, b, status=1)["tensors"]["%0A"]
    assert (found["a"]["name"], found["b"]["name"], found["bytes_equal"]) == ("%0A", "\n", True)
    assert 'name "%0A" -> "\\n"' in onnxfs("diff", a, b).stdout


def test_strings(written):
    def strings(*texts):
        message = tensor("s", STRING, [len(texts)])
        for text in texts:
            message.bytes(6, text)
        return message

    long = b"x" * 100_000
    a = written("a.onnx", strings(b"a", long + b"1", b"", b"same", long))
    b = written("b.onnx", strings(b"b", long + b"2", b"\0", b"same", long))
    entry = diff(a, b, status=1)["tensors"]["s"]
    assert (entry["numbers"], entry["changed"]) == (5, 3)
    assert diff(a, a, status=0)["tensors"] == {}


def test_edits_mounts_and_shared_files(mount, written, tmp_path):
    (tmp_path / "d.bin").write_bytes(floats(1, 2, 3, 4))
    where = [("location", "d.bin"), ("offset", "0"), ("length", "16")]
    tensors = [tensor("e", FLOAT, [4], external=where), tensor("tied", FLOAT, [4], external=where)]
    a, b = written("a.onnx", *tensors), written("b.onnx", *tensors)
    assert diff(a, b, status=0)["compared"] == 2
    c = written("c.onnx", tensor("w", FLOAT, [1], raw=floats(1)))
    plain = written("plain.onnx", tensor("w", FLOAT, [1], raw=floats(1)))
    with mount(c) as mnt:
        store(mnt.file("w"), 0, floats(3))
        assert diff(c, mnt.path, status=0)["compared"] == 1
        assert diff(plain, mnt.path, status=1)["tensors"]["w"]["max_abs"] == 2
    edits = f"{c}.sidecar"
    assert diff(plain, plain, "--sidecar-b", edits, status=1)["tensors"]["w"]["max_abs"] == 2
    assert diff(plain, c, "--sidecar-a", edits, status=0)["compared"] == 1
    (tmp_path / "none").mkdir()
    done = onnxfs("diff", c, c, "--sidecar-b", tmp_path / "none")
    assert done.returncode == 2 and "no edits" in done.stderr


def test_tied_weights_have_one_answer(written, tmp_path):
    for name, values in (("a.bin", (1, 2, 3)), ("b.bin", (1, 2, 5))):
        (tmp_path / name).write_bytes(floats(*values))
    a, b = (written(f"{side}.onnx", *[tensor(name, FLOAT, [3], external=[("location", f"{side}.bin"), ("length", "12")])
                                      for name in ("w", "tied")]) for side in "ab")
    found = diff(a, b, status=1)["tensors"]
    assert found["w"]["changed"] == found["tied"]["changed"] == 1 and found["tied"]["max_abs"] == 2


def test_trouble(written, tmp_path):
    a = written("a.onnx", tensor("w", FLOAT, [1], raw=floats(1)))
    (tmp_path / "no.onnx").write_bytes(b"\x80\x02}")
    for words in ((a, tmp_path / "none"), (tmp_path / "no.onnx", a), (a, a, "nothing*"), (a,), (a, a, "--rtol", "-1"),
                  (a, a, "--atol", "nan"), (a, a, "--rtol", "x")):
        done = onnxfs("diff", *words)
        assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1, words


def test_what_people_see(written):
    generator = numpy.random.default_rng(11)
    x = generator.normal(0, 1, 1000).astype("<f4")
    y = x.copy()
    y[7] += 0.5
    a, b = (written(name, tensor("same", FLOAT, [1], raw=floats(1)), tensor("w", FLOAT, [1000], raw=raw.tobytes()))
            for name, raw in (("a.onnx", x), ("b.onnx", y)))
    done = onnxfs("diff", a, b)
    assert done.returncode == 1 and done.stderr == ""
    head, line, last = done.stdout.splitlines()
    assert head.split() == ["changed", "of", "max", "|d|", "mean", "|d|", "rel.", "L2", "cosine", "SQNR", "dB", "tensor"]
    words = line.split()
    assert words[:3] == ["1", "1000", "0.5"] and words[-1] == "initializers/w" and line.index("initializers") == head.index("tensor")
    assert last == "1 of 2 tensors differ; graph: same"


@pytest.mark.limit(120)
def test_models_of_libonnx_testdata(tmp_path):
    """Real models against themselves with weights in half precision."""
    onnx = pytest.importorskip("onnx")
    numpy_helper = pytest.importorskip("onnx.numpy_helper")
    checked = 0
    for path in models_of_libonnx_testdata():
        model = onnx.load(str(path))
        arrays = {it.name: numpy_helper.to_array(it) for it in model.graph.initializer
                  if it.data_type == onnx.TensorProto.FLOAT and it.dims}
        if not arrays:
            continue
        for it in model.graph.initializer:
            if it.name in arrays:
                it.CopyFrom(numpy_helper.from_array(arrays[it.name].astype("f2"), it.name))
        onnx.save(model, str(tmp_path / "half.onnx"))
        found = diff(path, tmp_path / "half.onnx", status=1)
        assert found["header"] == [] and not any(found["nodes"].values())
        for name, array in arrays.items():
            a, b = array.ravel().astype("f8"), array.astype("f2").ravel().astype("f8")
            check(found["tensors"][name.strip("/")], a, b, a != b)
            checked += 1
    assert checked > 50
