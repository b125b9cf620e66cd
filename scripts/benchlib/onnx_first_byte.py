"""Prints the first byte of a tensor, as a user of python3-onnx would get it.

usage: onnx_first_byte.py MODEL NAME      external data is not loaded: only the tensor's own bytes are read
"""

import os
import sys

import onnx
from onnx import numpy_helper

path, name = sys.argv[1:]
model = onnx.load(path, load_external_data=False)
tensor = next(t for t in model.graph.initializer if t.name == name)
if tensor.data_location == onnx.TensorProto.EXTERNAL:
    where = {entry.key: entry.value for entry in tensor.external_data}
    with open(os.path.join(os.path.dirname(path), where["location"]), "rb") as data:
        data.seek(int(where["offset"]))
        first = data.read(int(where["length"]))[:1]
else:
    first = numpy_helper.to_array(tensor).reshape(-1)[:1].tobytes()[:1]
sys.stdout.buffer.write(first)
sys.stdout.flush()
