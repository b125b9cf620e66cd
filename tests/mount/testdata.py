"""The models of Debian's package libonnx-testdata."""

from pathlib import Path

import pytest
from mounting import run


def models_of_libonnx_testdata():
    """Their paths; skips the test where the package is not installed."""
    try:
        files = run("dpkg", "-L", "libonnx-testdata").stdout.splitlines()
    except FileNotFoundError:
        pytest.skip("no dpkg, so no libonnx-testdata")
    models = [Path(file) for file in files if file.endswith(".onnx")]
    if not models:
        pytest.skip("the package libonnx-testdata is not installed")
    return models
