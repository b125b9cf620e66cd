"""The models that are measured: written once, as a stream, into a folder that is kept for the next time."""

import math
import os
import random
import shutil
import struct
from dataclasses import dataclass

import onnx_wire as wire

from .processes import StepFailed

PAGE = 4096
# Random bytes, so that nothing below us can compress them; repeated, as making gigabytes of them takes long.
NOISE = random.Random(1).randbytes(16 << 20)


@dataclass(frozen=True)
class Model:
    path: str
    title: str
    probe: str  # the tensor that is asked for
    data_path: str | None = None  # where the external bytes are

    @property
    def sidecar(self):
        return self.path + ".sidecar"

    def files(self):
        return [self.path] + ([self.data_path] if self.data_path else [])


def noise(size):
    def chunks():
        for start in range(0, size, len(NOISE)):
            yield memoryview(NOISE)[: min(len(NOISE), size - start)]

    return wire.Payload(size, chunks)


def gaussian(scale=1.0):
    """What `noise` is, but of numbers as weights are: a mebibyte of FLOAT, distributed normally, over and over."""
    generator = random.Random(2)
    block = struct.pack(f"<{1 << 18}f", *(scale * generator.gauss(0, 0.02) for _ in range(1 << 18)))

    def payload(length):
        def chunks():
            for start in range(0, length, len(block)):
                yield memoryview(block)[: min(len(block), length - start)]

        return wire.Payload(length, chunks)

    return payload


def decoder(layers, hidden, feed_forward, vocabulary):
    """Names and shapes of a Llama-like decoder as an exporter leaves them, and its nodes."""
    weights = [("model.embed_tokens.weight", [vocabulary, hidden])]
    embed = ["model.embed_tokens.weight", "input_ids"]
    nodes = [wire.node("Gather", embed, ["hidden_0"], "/model/embed_tokens/Gather")]
    for layer in range(layers):
        module, scope, x = f"model.layers.{layer}", f"/model/layers.{layer}", f"hidden_{layer}"
        projections = [f"onnx::MatMul_{9000 + 11 * layer + k}" for k in range(3)]
        layer_weights = [
            (f"{module}.input_layernorm.weight", [hidden]),
            *((name, [hidden, hidden]) for name in projections),
            (f"{module}.self_attn.o_proj.weight", [hidden, hidden]),
            (f"{module}.post_attention_layernorm.weight", [hidden]),
            (f"{module}.mlp.gate_proj.weight", [hidden, feed_forward]),
            (f"{module}.mlp.up_proj.weight", [hidden, feed_forward]),
            (f"{module}.mlp.down_proj.weight", [feed_forward, hidden]),
        ]
        weights += layer_weights
        for index, (name, shape) in enumerate(layer_weights):
            op = "Mul" if len(shape) == 1 else "MatMul"
            output = f"hidden_{layer + 1}" if index == len(layer_weights) - 1 else f"{scope}/{op}_{index}_output_0"
            nodes.append(wire.node(op, [x, name], [output], f"{scope}/{op}_{index}"))
            x = output
    weights += [("model.norm.weight", [hidden]), ("lm_head.weight", [hidden, vocabulary])]
    nodes.append(wire.node("MatMul", [f"hidden_{layers}", "lm_head.weight"], ["logits"], "/lm_head/MatMul"))
    return weights, nodes, [wire.value_info("input_ids", wire.INT64, [1, "sequence"])]


def write_with_raw_data(path, weights, nodes, inputs, payload=noise):
    tensors = [wire.tensor(name, wire.FLOAT, shape, raw=payload(4 * math.prod(shape))) for name, shape in weights]
    outputs = [wire.value_info("logits", wire.FLOAT, [1, "sequence", "vocabulary"])]
    wire.write_model(path, wire.graph(tensors, nodes, inputs, outputs))


def write_with_external_data(path, data_path, weights, nodes, inputs):
    tensors = []
    with open(data_path, "wb", buffering=0) as data:
        for name, shape in weights:
            offset = -(-data.tell() // PAGE) * PAGE
            size = 4 * math.prod(shape)
            data.seek(offset)
            noise(size).write_to(data)
            where = [("location", os.path.basename(data_path)), ("offset", str(offset)), ("length", str(size))]
            tensors.append(wire.tensor(name, wire.FLOAT, shape, external=where))
    outputs = [wire.value_info("logits", wire.FLOAT, [1, "sequence", "vocabulary"])]
    wire.write_model(path, wire.graph(tensors, nodes, inputs, outputs))


def small_tensors(count):
    """Scalars and short vectors, under the names that four exporters would give them."""
    for k in range(count):
        block = k // 40
        name = (
            f"encoder.block_{block}.unit_{k}.weight",
            f"/encoder/block_{block}/unit_{k}/Constant_output_0",
            f"StatefulPartitionedCall/block_{block}/unit_{k}/ReadVariableOp:0",
            f"onnx::Add_{k}",
        )[k % 4]
        shape = [k % 8] if k % 5 else []
        yield wire.tensor(name, wire.FLOAT, shape, raw=struct.pack("<f", k) * math.prod(shape))


def write_small_tensors(path):
    nodes = [wire.node("Identity", ["x"], ["y"], "/Identity")]
    ends = [wire.value_info("x", wire.FLOAT, [1])], [wire.value_info("y", wire.FLOAT, [1])]
    wire.write_model(path, wire.graph(small_tensors(50_000), nodes, *ends))


GIGABYTE = 1 << 30


def write_one_tensor_of_a_gigabyte(path):
    write_with_raw_data(path, [("lm_head.weight", [65536, 4096])], [], [])


def write_noise(path, size):
    with open(path, "wb", buffering=0) as file:
        noise(size).write_to(file)


def write_one_large_tensor(path):
    weights = [("model.norm.weight", [4096]), ("lm_head.weight", [32000, 4096]), ("onnx::MatMul_9001", [4096, 1024])]
    nodes = [wire.node("MatMul", ["x", "lm_head.weight"], ["logits"], "/lm_head/MatMul")]
    write_with_raw_data(path, weights, nodes, [wire.value_info("x", wire.FLOAT, [1, 32000])])


ELEMENTS = 4 << 20
WIDTHS = {"FLOAT": 32, "DOUBLE": 64, "FLOAT16": 16, "BFLOAT16": 16, "FLOAT8E4M3FN": 8, "COMPLEX64": 64, "INT64": 64,
          "UINT32": 32, "INT16": 16, "UINT8": 8, "BOOL": 8, "INT4": 4}


def write_tensor_of_each_type(path):
    tensors = [wire.tensor(name, getattr(wire, name), [ELEMENTS], raw=noise(ELEMENTS * bits // 8))
               for name, bits in WIDTHS.items()]
    wire.write_model(path, wire.graph(tensors))


def made_once(path, size, write):
    """Calls `write(path)` unless the file is there; an interrupted writing leaves nothing that looks finished."""
    if os.path.exists(path):
        return
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)
    if shutil.disk_usage(directory).free < size + (1 << 30):
        raise StepFailed(f"{directory} has no room for {size / 1e9:.1f} GB: give another folder with --models")
    unfinished = path + ".unfinished"
    write(unfinished)
    os.rename(unfinished, path)


PROBE = "model.layers.16.mlp.up_proj.weight"


def raw(directory):
    path = os.path.join(directory, "decoder-raw.onnx")
    made_once(path, 1_901_000_000, lambda to: write_with_raw_data(to, *decoder(32, 1024, 2816, 32000)))
    return Model(path, "1.9 GB in one file, 291 tensors", PROBE)


def weights(directory, name="a", scale=1.0):
    """The same with numbers as weights are; by another name, a file of its own."""
    path = os.path.join(directory, f"decoder-weights-{name}.onnx")
    made_once(path, 1_901_000_000, lambda to: write_with_raw_data(to, *decoder(32, 1024, 2816, 32000), gaussian(scale)))
    return Model(path, "1.9 GB of FLOAT, 291 tensors", PROBE)


def external(directory):
    # In a folder of its own: a commit looks at all models beside it, for those that use the same data file.
    path = os.path.join(directory, "external", "decoder-external.onnx")
    data = path + ".data"
    made_once(path, 6_160_000_000, lambda to: write_with_external_data(to, data, *decoder(32, 1920, 5120, 32000)))
    return Model(path, "6 GB of external data", PROBE, data)


def many(directory):
    path = os.path.join(directory, "many-small.onnx")
    made_once(path, 5_000_000, write_small_tensors)
    return Model(path, "50,000 initializers", "encoder.block_625.unit_25000.weight")


def gigabyte(directory):
    path = os.path.join(directory, "gigabyte.onnx")
    made_once(path, 1_074_000_000, write_one_tensor_of_a_gigabyte)
    return Model(path, "a tensor of 1 GiB", "lm_head.weight")


def large_tensor(directory):
    path = os.path.join(directory, "large-tensor.onnx")
    made_once(path, 542_000_000, write_one_large_tensor)
    return Model(path, "a tensor of 500 MiB", "lm_head.weight")


def of_each_type(directory):
    path = os.path.join(directory, "each-type.onnx")
    made_once(path, 200_000_000, write_tensor_of_each_type)
    return Model(path, f"{len(WIDTHS)} tensors of 4 Mi elements", "FLOAT")
