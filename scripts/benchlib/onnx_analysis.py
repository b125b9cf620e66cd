"""What `onnxfs stats` and `onnxfs diff` tell, by python3-onnx and numpy: onnx_analysis.py MODEL [OTHER]"""

import sys

import numpy
import onnx
from onnx import numpy_helper


def stats(path):
    for tensor in onnx.load(path).graph.initializer:
        values = numpy_helper.to_array(tensor)
        finite = values[numpy.isfinite(values)].astype("f8")
        magnitudes = abs(finite)
        print(tensor.name, finite.min(), finite.max(), finite.mean(), finite.std(), numpy.linalg.norm(finite),
              (finite == 0).sum(), numpy.isnan(values).sum(), numpy.isinf(values).sum(),
              ((magnitudes < numpy.finfo("f4").tiny) & (magnitudes > 0)).sum(), numpy.histogram(finite, 64)[0].max())


def diff(path, other):
    others = {tensor.name: tensor for tensor in onnx.load(other).graph.initializer}
    for tensor in onnx.load(path).graph.initializer:
        a, b = numpy_helper.to_array(tensor), numpy_helper.to_array(others[tensor.name])
        if a.tobytes() == b.tobytes():
            continue
        a, b = a.astype("f8").ravel(), b.astype("f8").ravel()
        d = abs(b - a)
        norm_a, norm_b, norm_d = (numpy.linalg.norm(x) for x in (a, b, d))
        print(tensor.name, (~numpy.isclose(b, a, 0, 0)).sum(), d.max(), d.mean(), norm_d / norm_a,
              a @ b / norm_a / norm_b, 20 * numpy.log10(norm_a / norm_d))


stats(*sys.argv[1:]) if len(sys.argv) == 2 else diff(*sys.argv[1:])
