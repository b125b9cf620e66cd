"""Values that a typed field allows and its data type does not; strings; padding bits; types that nobody knows."""

import errno

import pytest
from datatypes import BY_NAME, packed, string_payload, unpacked
from mounting import error_of
from onnx_wire import Message, graph, tensor, varint, write_model

# name: type, shape, the field's encoded entries, the bytes that they mean
CONVERSIONS = {
    "int8 keeps the low 8 bits": ("INT8", (3,), [varint(300), varint(-1), varint(-300)], b"\x2c\xff\xd4"),
    "uint16 keeps the low 16 bits": ("UINT16", (2,), [varint(0x12345), varint(-2)], b"\x45\x23\xfe\xff"),
    "float16 is its bits": ("FLOAT16", (3,), [varint(0x3C00), varint(-1), varint(0x18000)],
                            b"\x00\x3c\xff\xff\x00\x80"),
    "bfloat16 is its bits": ("BFLOAT16", (2,), [varint(0x3F80), varint(0xFF80)], b"\x80\x3f\x80\xff"),
    "bool is nonzero": ("BOOL", (5,), [varint(0), varint(2), varint(256), varint(-1), varint(1 << 32)], b"\0\1\1\1\0"),
    "int32 negative in ten bytes": ("INT32", (2,), [varint(-2), varint(7)], b"\xfe\xff\xff\xff\x07\0\0\0"),
    "int32 negative in five bytes": ("INT32", (2,), [varint(0xFFFFFFFE), varint(7)], b"\xfe\xff\xff\xff\x07\0\0\0"),
    "int32 keeps the low 32 bits": ("INT32", (1,), [varint(0x5_0000_0009)], b"\x09\0\0\0"),
    "int32 overlong": ("INT32", (3,), [b"\x81\x80\x80\x00", b"\x82\x80\x80\x80\x80\x80\x80\x80\x80\x00", b"\x03"],
                       b"\1\0\0\0\2\0\0\0\3\0\0\0"),
    "int64 extremes": ("INT64", (3,), [varint(-1 << 63), varint((1 << 63) - 1), varint(-1)],
                       b"\0\0\0\0\0\0\0\x80" + b"\xff" * 7 + b"\x7f" + b"\xff" * 8),
    "uint64 extremes": ("UINT64", (2,), [varint((1 << 64) - 1), varint(1 << 63)], b"\xff" * 8 + b"\0\0\0\0\0\0\0\x80"),
    "uint32 keeps the low 32 bits": ("UINT32", (2,), [varint((1 << 32) - 1), varint(0x7_0000_0005)],
                                     b"\xff" * 4 + b"\5\0\0\0"),
    "uint4 keeps the low 8 bits of an entry": ("UINT4", (3,), [varint(0x321), varint(0xF5)], b"\x21\xf5"),
    "int4 takes negative entries": ("INT4", (4,), [varint(-1), varint(-128)], b"\xff\x80"),
    "int2 takes four elements an entry": ("INT2", (5,), [varint(0xE4), varint(0x01)], b"\xe4\x01"),
    "float6 keeps the low 6 bits": ("FLOAT6E2M3", (5,), [varint(v) for v in (0x41, 0x3F, 0xFF, 0, -1)],
                                    (0x01 | 0x3F << 6 | 0x3F << 12 | 0x3F << 24).to_bytes(4, "little")),
    "float8 keeps the low 8 bits": ("FLOAT8E5M2", (2,), [varint(0x17C), varint(-2)], b"\x7c\xfe"),
}
STRINGS = {
    "words": [b"one", b"", b"\xc3\xa9", b"three"],
    "any bytes": [b"a\0b", b"\xff\xfe", b"line\nbreak", b"x" * 70000],
    "all empty": [b"", b""],
    "none": [],
}


@pytest.fixture(scope="module")
def odd(mount, tmp_path_factory):
    tensors = [tensor(name, BY_NAME[kind].number, shape).raw(packed(BY_NAME[kind], encoded))
               for name, (kind, shape, encoded, _) in CONVERSIONS.items()]
    tensors += [tensor("unpacked " + name, BY_NAME[kind].number, shape).raw(unpacked(BY_NAME[kind], encoded))
                for name, (kind, shape, encoded, _) in CONVERSIONS.items()]
    for name, strings in STRINGS.items():
        message = tensor("strings " + name, 8, [len(strings)])
        for text in strings:
            message.bytes(6, text)
        tensors.append(message)
    tensors += [
        tensor("strings scalar", 8, []).bytes(6, b"alone"),
        tensor("strings too few", 8, [3]).bytes(6, b"a").bytes(6, b"b"),
        tensor("strings raw", 8, [2], raw=b"\1\0\0\0a\1\0\0\0b"),
        tensor("int4 padding", 22, [3], raw=b"\x21\xf3"),
        tensor("bool bytes", 9, [4], raw=b"\0\1\2\xff"),
        tensor("unknown 29", 29, [3], raw=b"seven b"),
        tensor("unknown -1", -1, [3], raw=b"12345"),
        tensor("undefined", 0, [2], raw=b"123"),
        Message().varint(1, 2).string(8, "typeless").bytes(9, b"1234"),
        tensor("sound", 1, [1], raw=b"abcd"),
    ]
    model = tmp_path_factory.mktemp("odd") / "odd.onnx"
    write_model(model, graph(tensors))
    with mount(model) as mnt:
        yield mnt


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversion(odd, name):
    wanted = CONVERSIONS[name][3]
    assert odd.bytes(name) == wanted
    assert odd.bytes("unpacked " + name) == wanted
    assert odd.file(name).stat().st_size == len(wanted)


@pytest.mark.parametrize("name", STRINGS)
def test_strings(odd, name):
    payload = string_payload(STRINGS[name])
    assert odd.bytes("strings " + name) == payload
    assert odd.file("strings " + name).stat().st_size == len(payload)
    found = odd.json("strings " + name)
    wanted = {"dtype": "string", "onnx_type": "STRING", "shape": [len(STRINGS[name])], "elements": len(STRINGS[name]),
              "nbytes": len(payload), "numpy": None, "problem": None, "kind": "initializer"}
    assert {key: found[key] for key in wanted} == wanted
    assert found["storage"] == "string_data" or not payload


def test_string_scalar(odd):
    assert odd.bytes("strings scalar") == string_payload([b"alone"])
    assert odd.json("strings scalar")["shape"] == []


@pytest.mark.parametrize("name", ["strings too few", "strings raw"])
def test_broken_strings(odd, name):
    assert error_of(open, odd.file(name), "rb") == errno.EIO
    assert odd.json(name)["problem"]
    assert any(name in line for line in odd.problems())


@pytest.mark.parametrize("name, payload", [("int4 padding", b"\x21\xf3"), ("bool bytes", b"\0\1\2\xff")])
def test_raw_bytes_are_served_unchanged(odd, name, payload):
    assert odd.bytes(name) == payload


@pytest.mark.parametrize("name, payload", [("unknown 29", b"seven b"), ("unknown -1", b"12345"), ("undefined", b"123"),
                                           ("typeless", b"1234")])
def test_unknown_type_is_listed_with_its_bytes(odd, name, payload):
    assert odd.bytes(name) == payload
    assert odd.file(name).stat().st_size == len(payload)
    found = odd.json(name)
    assert found["dtype"] is None
    assert found["nbytes"] == len(payload)
    assert "onnx_type" in found and "bits" in found and "numpy" in found
    assert odd.bytes("sound") == b"abcd"
