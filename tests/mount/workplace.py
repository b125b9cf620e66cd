"""A place to run the commands that documents show, as they stand there."""

import os
import subprocess
import sys
from contextlib import contextmanager

from mounting import BINARY, REPOSITORY


@contextmanager
def sample_workplace(folder):
    """Yields a function that runs a script in `folder`, which has the sample model, with a PATH on which `onnxfs` and
    `python3` are those under test. What the scripts of the documents mount is unmounted at the end."""
    subprocess.run([sys.executable, REPOSITORY / "scripts" / "sample_model.py", folder], check=True, timeout=60)
    programs = folder / "programs"
    programs.mkdir()
    (programs / "onnxfs").symlink_to(BINARY)
    (programs / "python3").symlink_to(sys.executable)
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}")

    def run(script):
        return subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=60)

    try:
        yield run
    finally:
        for mount in ("mnt", "other", "zoo"):
            if os.path.ismount(folder / mount):
                subprocess.run([BINARY, "umount", folder / mount], timeout=20)
