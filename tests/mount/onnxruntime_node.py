"""ONNX Runtime, as its package for Node has it: installed once, into a folder that is kept, when npm answers."""

import json
import os
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(os.environ.get("ONNXFS_TEST_CACHE", "/var/tmp/onnxfs-test")) / "onnxruntime-node"

RUN = """
const runtime = require('onnxruntime-node');
const [model, inputs] = [process.argv[1], JSON.parse(process.argv[2])];
(async () => {
  const session = await runtime.InferenceSession.create(model);
  const feeds = {};
  for (const [name, { shape, data }] of Object.entries(inputs))
    feeds[name] = new runtime.Tensor('float32', Float32Array.from(data), shape);
  const results = await session.run(feeds);
  const plain = {};
  for (const [name, tensor] of Object.entries(results)) plain[name] = Array.from(tensor.data);
  console.log(JSON.stringify(plain));
})().catch(error => { console.error(error.message); process.exit(1); });
"""


def why_not():
    """Installs it if it is not there; the reason if it cannot be had."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "no node or no npm"
    if (FOLDER / "installed").exists():
        return None
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", FOLDER,
                               "onnxruntime-node"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    except subprocess.TimeoutExpired:
        return "npm does not answer"
    if done.returncode != 0:
        return f"npm: {done.stderr.strip()[-200:]}"
    (FOLDER / "installed").touch()
    return None


def run(model, **inputs):
    """{output: list of floats} of a model, given {input: (shape, list of floats)}."""
    given = {name: {"shape": shape, "data": data} for name, (shape, data) in inputs.items()}
    done = subprocess.run(["node", "-e", RUN, os.fspath(model), json.dumps(given)], cwd=FOLDER,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
