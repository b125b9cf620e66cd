"""A data file on a file system that does not answer for a while: who reads it waits, and nobody else."""

import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

from benchlib.programs import compiled
from mounting import mounts_at, unmount, until
from onnx_wire import UINT8, graph, tensor, write_model

READERS = 40
SIZE = 1 << 20  # of a tensor
SLOW = b"".join(bytes([i]) * SIZE for i in range(READERS))


@contextmanager
def served(content, folder, place):
    """A file system with one file, place/f, in the hands of a process of its own."""
    source = folder / "source"
    source.write_bytes(content)
    place.mkdir()
    server = subprocess.Popen([compiled("floor", folder), source, "0", str(len(content)), place])
    try:
        until(lambda: mounts_at(place), "the slow file system is there")
        yield server
    finally:
        server.send_signal(signal.SIGCONT)
        unmount(place, lazily=True, by_force=True)
        server.wait(timeout=10)


def test_only_those_who_read_it_wait(mount, tmp_path):
    with served(SLOW, tmp_path, tmp_path / "slow") as source:
        outer = tmp_path / "outer.onnx"
        slow = [tensor(f"slow{i}", UINT8, [SIZE], external=[("location", "slow/f"), ("offset", str(i * SIZE)),
                                                            ("length", str(SIZE))]) for i in range(READERS)]
        write_model(outer, graph([*slow, tensor("quick", UINT8, [SIZE], raw=bytes(SIZE))]))
        with mount(outer) as mnt:
            assert not mnt.problems()
            wrong, ended = [], []

            def read(i):
                if mnt.bytes(f"slow{i}") != bytes([i]) * SIZE:
                    wrong.append(i)
                ended.append(i)

            readers = [threading.Thread(target=read, args=(i,)) for i in range(READERS)]
            os.kill(source.pid, signal.SIGSTOP)
            try:
                for reader in readers:
                    reader.start()
                time.sleep(0.3)
                begin = time.monotonic()
                assert mnt.bytes("quick") == bytes(SIZE)
                assert len(list(mnt.path.rglob("*"))) > READERS
                mnt.json("quick")
                with open(mnt.file("quick"), "r+b") as file:
                    file.write(b"edit")
                assert mnt.bytes("quick")[:4] == b"edit"
                took = time.monotonic() - begin
                assert not ended, "the source was not slow"
            finally:
                os.kill(source.pid, signal.SIGCONT)
            until(lambda: len(ended) == READERS, "the readers end")
            assert not wrong
            assert took < 5
