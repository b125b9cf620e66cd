"""Tensors that nodes hold: Constant in all its variants, tensor attributes, lists that are weights, nested graphs."""

import json
import struct

import pytest
from onnx_wire import FLOAT, INT64, STRING, Message, graph, model, node, tensor, write_model


def attribute(name, type_number=None):
    message = Message().string(1, name)
    return message if type_number is None else message.varint(20, type_number)


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def weight(name, *values):
    return tensor(name, FLOAT, [len(values)], raw=floats(*values))


def sparse(name, *values):
    indices = tensor("", INT64, [len(values)], raw=struct.pack(f"<{len(values)}q", *range(len(values))))
    return Message().message(1, weight(name, *values)).message(2, indices).varint(3, 7).varint(3, 9)


def listed(mnt):
    """path without suffix -> bytes of every .bin in the mount, from a walk; index.tsv has to say the same paths."""
    found = {str(path.relative_to(mnt.path))[:-4]: path.read_bytes() for path in mnt.path.rglob("*.bin")}
    rows = [line.split("\t")[0][:-4] for line in mnt.text("index.tsv").splitlines()[1:]]
    assert sorted(rows) == sorted(found)
    return found


@pytest.fixture
def mounted(mount, tmp_path):
    def mounted(*nodes, **parts):
        path = tmp_path / "m.onnx"
        write_model(path, graph(nodes=nodes, **parts))
        return mount(path)

    return mounted


def test_constant_variants(mounted):
    nodes = [
        node("Constant", [], ["t"], "t", [attribute("value", 4).message(5, weight("inner", 1, 2))]),
        node("Constant", [], ["f"], "f", [attribute("value_float", 1).fixed32(2, floats(2.5))]),
        node("Constant", [], ["fs"], "fs", [attribute("value_floats", 6).fixed32(7, floats(1)).fixed32(7, floats(2))]),
        node("Constant", [], ["i"], "i", [attribute("value_int", 2).varint(3, -5)]),
        node("Constant", [], ["is"], "is", [attribute("value_ints", 7).varint(8, 1).packed_varints(8, [2, -3])]),
        node("Constant", [], ["s"], "s", [attribute("value_string", 3).bytes(4, b"a\0b")]),
        node("Constant", [], ["ss"], "ss", [attribute("value_strings", 8).bytes(9, b"x").bytes(9, b"")]),
        node("Constant", [], ["sp"], "sp", [attribute("sparse_value", 11).message(22, sparse("s", 3, 4))]),
    ]
    with mounted(*nodes) as mnt:
        assert listed(mnt) == {
            "attributes/t/value": floats(1, 2),
            "attributes/f/value_float": floats(2.5),
            "attributes/fs/value_floats": floats(1, 2),
            "attributes/i/value_int": struct.pack("<q", -5),
            "attributes/is/value_ints": struct.pack("<3q", 1, 2, -3),
            "attributes/s/value_string": b"\3\0\0\0a\0b",
            "attributes/ss/value_strings": b"\1\0\0\0x\0\0\0\0",
            "attributes/sp/sparse_value/values": floats(3, 4),
            "attributes/sp/sparse_value/indices": struct.pack("<2q", 0, 1),
        }
        assert mnt.problems() == []

        def about(path):
            return json.loads(mnt.text(f"attributes/{path}.json"))

        one = about("f/value_float")
        assert (one["shape"], one["dtype"], one["storage"], one["kind"]) == ([], "float32", "attribute", "attribute")
        assert (one["node"], one["attribute"], one["scope"]) == ("f", "value_float", "graph")
        assert about("t/value")["name"] == "inner"
        assert (about("is/value_ints")["shape"], about("is/value_ints")["dtype"]) == ([3], "int64")
        assert (about("ss/value_strings")["shape"], about("ss/value_strings")["dtype"]) == ([2], "string")
        for part in ("values", "indices"):
            found = about(f"sp/sparse_value/{part}")
            assert (found["kind"], found["dense_shape"]) == (f"sparse_{part}", [7, 9])
            assert (found["node"], found["attribute"]) == ("sp", "sparse_value")


def test_lists_that_are_weights(mounted):
    """Of domain ai.onnx.ml every list, of others those of 64 entries and more; single values of neither."""
    nodes = [
        node("Scaler", ["x"], ["y"], "ml", [attribute("scale", 6).fixed32(7, floats(1)),
                                            attribute("kind", 3).bytes(4, b"MAX")], domain="ai.onnx.ml"),
        node("Conv", ["x"], ["y"], "short", [attribute("pads", 7).packed_varints(8, range(63))]),
        node("Conv", ["x"], ["y"], "long", [attribute("pads", 7).packed_varints(8, range(64)),
                                            attribute("floats", 6).bytes(7, floats(*range(64))),
                                            attribute("words", 8).raw(b"".join(b"\x4a\1" + bytes([c]) for c in range(64)))]),
    ]
    with mounted(*nodes) as mnt:
        assert listed(mnt) == {
            "attributes/ml/scale": floats(1),
            "attributes/long/pads": struct.pack("<64q", *range(64)),
            "attributes/long/floats": floats(*range(64)),
            "attributes/long/words": b"".join(b"\1\0\0\0" + bytes([c]) for c in range(64)),
        }
        packed = json.loads(mnt.text("attributes/long/floats.json"))
        assert packed["length"] == 256 and packed["file"] == "m.onnx"


def test_lists_of_tensors(mounted):
    nodes = [node("Op", [], ["o"], "n", [
        attribute("ts", 9).message(10, weight("", 1)).message(10, weight("", 2)),
        attribute("sps", 12).message(23, sparse("", 3)).message(23, sparse("", 4)),
    ])]
    with mounted(*nodes) as mnt:
        found = listed(mnt)
        assert found["attributes/n/ts/0"] == floats(1) and found["attributes/n/ts/1"] == floats(2)
        assert found["attributes/n/sps/1/values"] == floats(4)
        assert len(found) == 6


def test_a_tensor_in_two_pieces(mounted):
    """A message field that occurs twice is one message: shape and data may stand apart."""
    pieces = attribute("value", 4).message(5, Message().varint(1, 3).varint(2, INT64).varint(7, 1)) \
        .message(5, Message().packed_varints(7, [2, 3]).string(8, "name"))
    raw = attribute("value", 4).message(5, Message().varint(1, 2)).message(5, Message().varint(2, FLOAT).bytes(9, floats(5, 6)))
    with mounted(node("Constant", [], ["a"], "a", [pieces]), node("Constant", [], ["b"], "b", [raw])) as mnt:
        assert listed(mnt) == {"attributes/a/value": struct.pack("<3q", 1, 2, 3), "attributes/b/value": floats(5, 6)}
        assert json.loads(mnt.text("attributes/a/value.json"))["name"] == "name"


def test_what_a_node_is_called(mounted):
    def constant(name, *outputs):
        return node("Constant", [], outputs, name, [attribute("value", 4).message(5, weight("", 1))])

    nodes = [constant("/layer/name", "o"), constant("", "out/put"), constant(""), constant("", ""),
             constant("same", "p"), constant("same", "q"), constant("same/inner", "r"), constant("..", "s")]
    with mounted(*nodes) as mnt:
        assert set(listed(mnt)) == {f"attributes/{place}/value" for place in (
            "layer/name", "out/put", "node_2", "node_3", "same", "same@2", "same/inner", "%2E%2E")}


def test_wrong_and_missing_types(mounted):
    """The field that is there counts; that its type says otherwise is a problem, and no reason to hide it."""
    nodes = [
        node("Constant", [], ["a"], "a", [attribute("value").message(5, weight("", 1))]),
        node("Constant", [], ["b"], "b", [attribute("value", 7).message(5, weight("", 2))]),
        node("Constant", [], ["c"], "c", [attribute("value", 4).message(5, weight("", 3))]),
        node("Op", [], ["d"], "d", [attribute("value").message(5, weight("", 4)).string(21, "outer")]),
    ]
    with mounted(*nodes) as mnt:
        assert set(listed(mnt)) == {"attributes/a/value", "attributes/b/value", "attributes/c/value"}
        problems = mnt.problems()
        assert [line.split(":")[0] for line in problems] == ["attributes/a/value", "attributes/b/value"]


def test_nested_graphs(mounted):
    inner = graph([weight("w", 3)], [node("Constant", [], ["k"], "k", [attribute("value", 4).message(5, weight("", 4))])])
    middle = graph([weight("w", 2)], [node("If", ["c"], ["o"], "", [attribute("then_branch", 5).message(6, inner)])])
    outer = [node("Loop", ["n"], ["o"], "loop", [attribute("body", 5).message(6, middle)]),
             node("Op", [], ["p"], "list", [attribute("gs", 10).message(11, graph([weight("w", 5)]))
                                            .message(11, graph([weight("w", 6)]))]),
             node("If", [], ["q"], "empty", [attribute("then_branch", 5).message(6, graph())])]
    with mounted(*outer, initializers=[weight("w", 1)]) as mnt:
        assert listed(mnt) == {
            "initializers/w": floats(1),
            "subgraphs/loop/body/initializers/w": floats(2),
            "subgraphs/loop/body/subgraphs/o/then_branch/initializers/w": floats(3),
            "subgraphs/loop/body/subgraphs/o/then_branch/attributes/k/value": floats(4),
            "subgraphs/list/gs/0/initializers/w": floats(5),
            "subgraphs/list/gs/1/initializers/w": floats(6),
        }
        assert not (mnt.path / "subgraphs" / "empty").exists()
        deepest = json.loads(mnt.text("subgraphs/loop/body/subgraphs/o/then_branch/initializers/w.json"))
        assert deepest["scope"] == "graph/loop.body/o.then_branch"
        assert json.loads(mnt.text("subgraphs/list/gs/1/initializers/w.json"))["scope"] == "graph/list.gs/1"
        assert mnt.problems() == []


@pytest.mark.parametrize("depth, shown", [(33, True), (99, True), (2000, False)])
def test_depth(mounted, depth, shown):
    """Any depth that protobuf reads, and more; nothing is as deep as the stack of who walks it."""
    nested = graph([weight("deep", 1)]).to_bytes()
    for _ in range(depth - 1):
        nested = graph(nodes=[node("If", ["c"], ["o"], "n", [attribute("b", 5).bytes(6, nested)])]).to_bytes()
    with mounted(node("If", ["c"], ["o"], "n", [attribute("b", 5).bytes(6, nested)])) as mnt:
        # By steps, since the path as a whole is longer than a path may be.
        lines = mnt.text("index.tsv").splitlines()
        assert (len(lines) == 2) == shown
        assert (mnt.problems() == []) == shown
        assert len(mnt.text("graph.txt").splitlines()) >= 33


def test_functions_and_training(mount, tmp_path):
    constant = node("Constant", [], ["k"], "k", [attribute("value", 4).message(5, weight("", 1))])
    branch = node("If", ["c"], ["o"], "if", [attribute("then_branch", 5).message(6, graph([weight("w", 2)]))])
    function = Message().string(1, "f").message(7, constant).message(7, branch).string(10, "my.domain") \
        .message(11, attribute("alpha", 4).message(5, weight("", 3))) \
        .message(11, attribute("table", 6).bytes(7, floats(*range(70)))) \
        .message(11, attribute("body", 5).message(6, graph([weight("w", 4)])))
    bare = Message().message(7, constant).string(1, "g")
    overload = Message().string(1, "f").string(10, "my.domain").string(13, "v2").message(7, constant)
    training = Message().message(1, graph([weight("lr", 5)])).message(2, graph([weight("m", 6)], [constant]))
    message = model(graph([weight("w", 0)]))
    for part in (function, bare, overload):
        message.message(25, part)
    message.message(20, training).message(20, Message().message(2, graph([weight("m", 7)])))
    path = tmp_path / "m.onnx"
    path.write_bytes(message.to_bytes())
    with mount(path) as mnt:
        assert listed(mnt) == {
            "initializers/w": floats(0),
            "functions/my.domain.f/attributes/k/value": floats(1),
            "functions/my.domain.f/subgraphs/if/then_branch/initializers/w": floats(2),
            "functions/my.domain.f/defaults/alpha": floats(3),
            "functions/my.domain.f/defaults/table": floats(*range(70)),
            "functions/my.domain.f/defaults/body/initializers/w": floats(4),
            "functions/g/attributes/k/value": floats(1),
            "functions/my.domain.f:v2/attributes/k/value": floats(1),
            "training/0/initialization/initializers/lr": floats(5),
            "training/0/algorithm/initializers/m": floats(6),
            "training/0/algorithm/attributes/k/value": floats(1),
            "training/1/algorithm/initializers/m": floats(7),
        }
        inner = "functions/my.domain.f/subgraphs/if/then_branch/initializers/w"
        assert json.loads(mnt.text(f"{inner}.json"))["scope"] == "function:my.domain/f/if.then_branch"
        assert json.loads(mnt.text("functions/g/attributes/k/value.json"))["scope"] == "function:/g"
        assert json.loads(mnt.text("training/0/algorithm/initializers/m.json"))["scope"] == "training:0.algorithm"
        assert mnt.problems() == []


def test_sparse_initializers(mount, tmp_path):
    external = tensor("ext", FLOAT, [2], external=[("location", "d.bin"), ("offset", "4"), ("length", "8")])
    (tmp_path / "d.bin").write_bytes(floats(0, 8, 9))
    message = graph().message(15, sparse("enc/sp", 1, 2)) \
        .message(15, Message().message(1, external).message(2, tensor("", INT64, [2], raw=bytes(16))).varint(3, 4)) \
        .message(15, sparse("enc/sp", 3)).message(15, Message().message(1, weight("alone", 5)).varint(3, 4))
    path = tmp_path / "m.onnx"
    write_model(path, message)
    with mount(path) as mnt:
        places = {str(p.relative_to(mnt.path / "sparse_initializers"))[:-4] for p in mnt.path.glob("sparse*/**/*.bin")}
        assert places == {f"{name}/{part}" for name in ("enc/sp", "ext", "enc/sp@2", "alone") for part in ("values", "indices")}
        assert (mnt.path / "sparse_initializers/ext/values.bin").read_bytes() == floats(8, 9)
        assert json.loads(mnt.text("sparse_initializers/enc/sp/indices.json"))["dense_shape"] == [7, 9]
        with pytest.raises(OSError):
            (mnt.path / "sparse_initializers/alone/indices.bin").read_bytes()
        assert any(line.startswith("sparse_initializers/alone/indices:") for line in mnt.problems())


def delayed(name, shape, dtype, filename, offset):
    return node("DelayedInitializer", [], [name], "n_" + name, [
        attribute("shape", 7).packed_varints(8, shape), attribute("dtype", 2).varint(3, dtype),
        attribute("load_device", 3).bytes(4, b"file"), attribute("runtime_device", 3).bytes(4, b"cpu"),
        attribute("filename", 3).bytes(4, filename), attribute("offset", 2).varint(3, offset)], domain="ai.rt")


def test_delayed_initializers(mounted, tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes(range(64)))
    nodes = [delayed("good", [2, 2], FLOAT, b"w.bin", 8), delayed("int4", [3], 22, b"w.bin", 63 - 1),
             delayed("none", [0, 5], FLOAT, b"missing.bin", 0), delayed("outside", [1], FLOAT, b"../w.bin", 0),
             delayed("absolute", [1], FLOAT, b"/etc/passwd", 0), delayed("missing", [1], FLOAT, b"no.bin", 0),
             delayed("past", [16], FLOAT, b"w.bin", 4), delayed("text", [1], STRING, b"w.bin", 0),
             delayed("negative", [1], FLOAT, b"w.bin", -1)]
    with mounted(*nodes) as mnt:
        folder = mnt.path / "delayed"
        assert (folder / "good.bin").read_bytes() == bytes(range(8, 24))
        assert (folder / "int4.bin").read_bytes() == bytes([62, 63])
        assert (folder / "none.bin").read_bytes() == b""
        about = json.loads((folder / "good.json").read_text())
        assert (about["kind"], about["storage"], about["file"], about["offset"]) == ("delayed", "delayed", "w.bin", 8)
        broken = ["outside", "absolute", "missing", "past", "text", "negative"]
        for name in broken:
            with pytest.raises(OSError):
                (folder / f"{name}.bin").read_bytes()
            assert json.loads((folder / f"{name}.json").read_text())["problem"]
        lines = [line.split(":")[0] for line in mnt.problems()]
        assert [line for line in lines if line.startswith("delayed/")] == [f"delayed/{name}" for name in broken]
        assert not (mnt.path / "attributes").exists()


def test_a_long_name_is_not_told_for_each_tensor(mounted):
    """Paths longer than any that can be opened are shown by their ends in a listing that they would fill."""
    inner = graph([weight(f"w{i}", i) for i in range(5000)])
    with mounted(node("If", ["c"], ["o"], "x/" * 100_000 + "n", [attribute("b", 5).message(6, inner)])) as mnt:
        listing = mnt.text("index.tsv")
        assert len(listing.splitlines()) == 5001 and len(listing) < 48 << 20
        assert all("/b/initializers/w" in line for line in listing.splitlines()[1:])
