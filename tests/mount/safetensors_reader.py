"""A strict reader of safetensors files, by the rules of the format's reference implementation."""

import json
import math

# Bits of an element.
DTYPES = {"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I16": 16, "U16": 16, "F16": 16,
          "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64, "F4": 4,
          "F6_E2M3": 6, "F6_E3M2": 6}
LONGEST_HEADER = 100_000_000


def unique(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), "a key is there twice"
    return dict(pairs)


def read(content):
    """({key: (dtype, shape, bytes)}, metadata); an AssertionError where a rule is broken."""
    assert len(content) >= 8
    length = int.from_bytes(content[:8], "little")
    assert length <= LONGEST_HEADER and 8 + length <= len(content)
    assert length % 8 == 0, "the data are not aligned"
    text = content[8:8 + length].decode("utf-8")
    assert text.startswith("{")
    header = json.loads(text, object_pairs_hook=unique)
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values())
    data = content[8 + length:]
    tensors, end = {}, 0
    for key, about in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(about) == {"dtype", "shape", "data_offsets"}
        first, last = about["data_offsets"]
        assert first == end <= last, f"a hole or an overlap before {key}"
        bits = DTYPES[about["dtype"]] * math.prod(about["shape"])
        assert bits % 8 == 0 and bits // 8 == last - first, key
        assert all(isinstance(dim, int) and dim >= 0 for dim in about["shape"])
        tensors[key] = (about["dtype"], about["shape"], data[first:last])
        # A file that is mapped can be used where it is.
        width = max(DTYPES[about["dtype"]] // 8, 1)
        assert first % (width if width & width - 1 == 0 else 1) == 0, f"{key} is not aligned"
        end = last
    assert end == len(data), "bytes behind the last tensor"
    return tensors, metadata
