"""Models that packages of npm hold, kept once they were fetched; without npm, the tests of them are skipped."""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from mounting import run

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onnxfs-tests"


def npm_package(name, seconds):
    """The tarball of `name@version`, from the cache or from the npm registry."""
    target = CACHE / (name.strip("@").replace("/", "-").replace("@", "-") + ".tgz")
    if target.exists():
        return target
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        try:
            done = run("npm", "pack", "--loglevel=error", "--ignore-scripts", "--fetch-retries=0", name,
                       timeout=seconds, cwd=folder)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not give {name} within {seconds} s")
        made = list(Path(folder).glob("*.tgz"))
        if done.returncode != 0 or len(made) != 1:
            pytest.skip(f"npm does not give {name}: {' '.join(done.stderr.split())[:120]}")
        os.replace(made[0], target)
    return target


def unpack(package, wanted, folder):
    """Takes the members of a tarball for which `wanted(name)` holds; their paths."""
    with tarfile.open(package) as archive:
        members = [member for member in archive if member.isfile() and wanted(member.name)]
        for member in members:
            (folder / os.path.basename(member.name)).write_bytes(archive.extractfile(member).read())
    return [folder / os.path.basename(member.name) for member in members]


def background_removal(folder):
    """Writes a model of 44 MB there. The package holds it in chunks, of which resources.json tells."""
    package = npm_package("@imgly/background-removal-data@1.4.5", 120)
    resources, = unpack(package, lambda name: name.endswith("/resources.json"), folder)
    chunks = json.loads(resources.read_text())["/models/small"]["chunks"]
    hashes = {chunk["hash"] for chunk in chunks}
    unpack(package, lambda name: os.path.basename(name) in hashes, folder)
    model = folder / "small.onnx"
    with open(model, "wb") as file:
        for chunk in sorted(chunks, key=lambda chunk: chunk["offsets"][0]):
            assert file.tell() == chunk["offsets"][0]
            file.write((folder / chunk["hash"]).read_bytes())
    return model
