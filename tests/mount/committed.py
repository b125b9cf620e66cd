"""What a commit must and must not change, told with python3-onnx and not with the program."""

import numpy
import onnx
from everything import model_tensors
from mounting import onnxfs

DATA_FIELDS = ("raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")


def by_onnx(path):
    """{path in the mount: payload} of a model, with what is in its data files."""
    return dict(model_tensors(onnx.load(str(path))))


def as_read(editable, payload):
    """A payload as Python's protobuf gives it: a float32 in a list passes through its own floats, which makes a
    signalling NaN a quiet one."""
    if editable.dtype != "float32" or editable.storage not in ("float_data", "attribute"):
        return bytes(payload)
    patterns = numpy.frombuffer(bytes(payload), "<u4").copy()
    patterns[patterns & 0x7FFFFFFF > 0x7F800000] |= 0x00400000
    return patterns.tobytes()


def all_as_read(tensors, contents):
    return {path: as_read(tensors[path], content) for path, content in contents.items()}


def commit(model, *words, **how):
    done = onnxfs("commit", model, *words, **how)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def messages(message):
    """The message and all in it, in order."""
    yield message
    for field, value in message.ListFields():
        if field.message_type:
            for inner in value if field.label == field.LABEL_REPEATED else [value]:
                yield from messages(inner)


def without_payloads(path):
    """All else of a model, as bytes; unknown fields too."""
    model = onnx.load(str(path), load_external_data=False)
    for message in messages(model):
        if isinstance(message, onnx.TensorProto):
            for field in DATA_FIELDS:
                message.ClearField(field)
        elif isinstance(message, onnx.AttributeProto):
            for field in ("floats", "ints", "strings"):
                message.ClearField(field)
    return model.SerializeToString()


def patched(content, old, new):
    """The content with the only occurrence of `old` replaced by as many bytes."""
    assert content.count(old) == 1 and len(old) == len(new)
    return content.replace(old, new)
