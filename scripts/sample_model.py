#!/usr/bin/python3
"""Writes a small but lifelike model: a residual image classifier, named and stored as exporters do it.

usage: sample_model.py OUTDIR       makes OUTDIR/sample.onnx and OUTDIR/sample.onnx.data

The stem and the first stage keep their BatchNormalization and the names of their modules; in the later stages it is
folded into the convolutions, whose weights then have the exporter's numbered names. Tensors of 16 KiB and more are
in the data file. The same bytes each time; Python's standard library only.
"""

import array
import math
import os
import random
import sys

import onnx_wire as wire

EXTERNAL_FROM = 16 << 10
PAGE = 4096
CLASSES = 100
STAGES = [24, 48, 96]
BLOCKS = 2


def little_endian(values):
    floats = array.array("f", values)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tobytes()


class Network:
    """The graph so far. A layer appends nodes and weights, takes the name of its input and gives that of its output."""

    def __init__(self, data_file, data_name):
        self.nodes, self.initializers = [], []
        self.data_file, self.data_name = data_file, data_name
        self.random = random.Random(20)
        self.numbered = 497

    def weight(self, name, shape, values):
        payload = little_endian(values)
        assert len(payload) == 4 * math.prod(shape), name
        if len(payload) < EXTERNAL_FROM:
            self.initializers.append(wire.tensor(name, wire.FLOAT, shape, raw=payload))
            return name
        offset = -(-self.data_file.tell() // PAGE) * PAGE
        self.data_file.seek(offset)
        self.data_file.write(payload)
        where = [("location", self.data_name), ("offset", str(offset)), ("length", str(len(payload)))]
        self.initializers.append(wire.tensor(name, wire.FLOAT, shape, external=where))
        return name

    def gaussian(self, name, shape, deviation, mean=0.0):
        return self.weight(name, shape, [self.random.gauss(mean, deviation) for _ in range(math.prod(shape))])

    def next_number(self, op_type):
        self.numbered += 1
        return f"onnx::{op_type}_{self.numbered - 1}"

    def node(self, op_type, module, inputs, attributes=(), index=""):
        name = f"{module}/{op_type}{index}"
        output = f"{name}_output_0"
        self.nodes.append(wire.node(op_type, inputs, [output], name, attributes))
        return output

    def conv(self, x, module, channels_in, channels_out, kernel, stride, folded):
        """A convolution; `folded` gives it a bias and numbered names, else its BatchNormalization follows."""
        dotted = ".".join(part for part in module.split("/")[-2:] if part)
        shape = [channels_out, channels_in, kernel, kernel]
        deviation = math.sqrt(2 / (channels_in * kernel * kernel))
        attributes = [
            wire.attribute_ints("dilations", [1, 1]),
            wire.attribute_int("group", 1),
            wire.attribute_ints("kernel_shape", [kernel, kernel]),
            wire.attribute_ints("pads", [kernel // 2] * 4),
            wire.attribute_ints("strides", [stride, stride]),
        ]
        name = self.next_number("Conv") if folded else f"{dotted}.weight"
        inputs = [x, self.gaussian(name, shape, deviation)]
        if folded:
            inputs.append(self.gaussian(self.next_number("Conv"), [channels_out], 0.05))
        y = self.node("Conv", module, inputs, attributes)
        if folded:
            return y
        return self.batch_norm(y, module.replace("conv", "bn"), dotted.replace("conv", "bn"), channels_out)

    def batch_norm(self, x, module, dotted, channels):
        inputs = [x]
        parameters = [("weight", 1.0, 0.1), ("bias", 0.0, 0.1), ("running_mean", 0.0, 0.2), ("running_var", 1.0, 0.05)]
        for name, mean, deviation in parameters:
            inputs.append(self.gaussian(f"{dotted}.{name}", [channels], deviation, mean))
        return self.node("BatchNormalization", module, inputs)

    def residual_block(self, x, module, channels_in, channels_out, stride, folded):
        y = self.conv(x, f"{module}/conv1", channels_in, channels_out, 3, stride, folded)
        y = self.node("Relu", f"{module}/relu", [y])
        y = self.conv(y, f"{module}/conv2", channels_out, channels_out, 3, 1, folded)
        if channels_in != channels_out:
            x = self.conv(x, f"{module}/downsample/downsample.0", channels_in, channels_out, 1, stride, folded)
        y = self.node("Add", module, [y, x])
        return self.node("Relu", f"{module}/relu", [y], index="_1")

    def classifier(self, x, channels):
        x = self.node("GlobalAveragePool", "/avgpool", [x])
        shape = self.next_number("Reshape")
        minus_one = (-1 & (1 << 64) - 1).to_bytes(8, "little")
        self.initializers.append(wire.tensor(shape, wire.INT64, [2], raw=minus_one + channels.to_bytes(8, "little")))
        x = self.node("Reshape", "", [x, shape])
        weight = self.gaussian("fc.weight", [CLASSES, channels], math.sqrt(1 / channels))
        bias = self.gaussian("fc.bias", [CLASSES], 0.01)
        attributes = [wire.attribute_int("transB", 1)]
        self.nodes.append(wire.node("Gemm", [x, weight, bias], ["logits"], "/fc/Gemm", attributes))


def build(network):
    x = network.conv("input", "/conv1", 3, STAGES[0], 7, 2, folded=False)
    x = network.node("Relu", "/relu", [x])
    channels = STAGES[0]
    for stage, width in enumerate(STAGES, start=1):
        for block in range(BLOCKS):
            module = f"/layer{stage}/layer{stage}.{block}"
            stride = 2 if width != channels else 1
            x = network.residual_block(x, module, channels, width, stride, folded=stage > 1)
            channels = width
    network.classifier(x, channels)
    return wire.graph(
        network.initializers,
        network.nodes,
        [wire.value_info("input", wire.FLOAT, ["batch", 3, 64, 64])],
        [wire.value_info("logits", wire.FLOAT, ["batch", CLASSES])],
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    model_path = os.path.join(directory, "sample.onnx")
    with open(model_path + ".data", "wb") as data_file:
        graph = build(Network(data_file, "sample.onnx.data"))
    wire.write_model(model_path, graph, ir_version=8, opset=17, producer="onnxfs-sample", producer_version="1.0")


if __name__ == "__main__":
    main()
