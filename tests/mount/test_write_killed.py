"""The daemon is killed while programs replace a tensor and store into maps of it: they come free, and so does the mount
point."""

import faulthandler
import mmap
import multiprocessing
import os
import time

import pytest
from editing import kill_daemon
from onnx_wire import graph, tensor, write_model

SIZE = 4 << 20
PAGES_APART = 12288


def replace_for_ever(folder):
    while True:
        new = os.open(folder / "new", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.write(new, b"x" * SIZE)
        os.close(new)
        os.rename(folder / "new", folder / "c.bin")


def store_for_ever(folder):
    while True:
        file = os.open(folder / "c.bin", os.O_RDWR)
        with mmap.mmap(file, SIZE) as stores:
            os.close(file)
            for at in range(0, SIZE, PAGES_APART):
                stores[at] = 1


def until_it_fails(work, folder):
    faulthandler.disable()  # a SIGBUS is how stores into a map fail
    try:
        work(folder)
    except OSError:
        pass  # as it must, once nobody answers


@pytest.mark.parametrize("seconds", [0.2, 0.35, 0.5])
def test_nobody_is_stuck(mount, tmp_path, seconds):
    write_model(tmp_path / "m.onnx", graph([tensor("c", 2, [SIZE], raw=bytes(SIZE))]))
    context = multiprocessing.get_context("fork")
    with mount(tmp_path / "m.onnx") as mnt:
        folder = mnt.path / "initializers"
        clients = [context.Process(target=until_it_fails, args=(work, folder), daemon=True)
                   for work in (replace_for_ever, store_for_ever, store_for_ever)]
        for client in clients:
            client.start()
        time.sleep(seconds)
        kill_daemon(mnt)
        for client in clients:
            client.join(2)
            client.kill()  # who stores into a map gets SIGBUS, or has nothing more to do with the mount
            client.join(5)
            assert not client.is_alive(), "a process cannot be killed"
        mnt.start()
        assert len(mnt.bytes("c")) == SIZE
