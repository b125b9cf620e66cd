"""The sidecar on disk: what it costs, and what happens when it is damaged or finds no room."""

import errno
import os
import shutil

import pytest
from edited_model import OLD, all_bytes, blobs, edit, overwritten, write_small
from editable import overwrite, replacement
from editing import kill_and_remount, kill_daemon, sidecar_of
from mounting import Mount, error_of, one_line, onnxfs, run, until
from onnx_wire import FLOAT, graph, tensor, write_model


@pytest.fixture
def saved(tmp_path):
    return write_small(tmp_path)


def test_a_torn_tail_is_cut_and_reported(mount, saved):
    """As a power cut leaves it: the record that was not whole is gone, all before it are there, and `status` says so."""
    with mount(saved) as mnt:
        overwrite(mnt.file("w"), 0, b"first")
        first = {path: path.stat().st_size for path in blobs(saved)}
        overwrite(mnt.file("w"), 100, b"second")
        kill_daemon(mnt)  # else the log would say that all of it is durable
        torn = [path for path in blobs(saved) if path.stat().st_size > first.get(path, 0)]
        assert torn
        for path in torn:
            os.truncate(path, path.stat().st_size - 4)
        done = onnxfs("status", saved)
        assert done.returncode == 0, done.stderr
        assert ".blob" in done.stdout + done.stderr
        mnt.start()
        assert mnt.bytes("w")[:5] == b"first"
        assert mnt.bytes("w")[100:106] == OLD[100:106]
        overwrite(mnt.file("w"), 100, b"third")
    with mount(saved) as mnt:
        assert (mnt.bytes("w")[:5], mnt.bytes("w")[100:105]) == (b"first", b"third")


def test_a_corrupt_byte_is_an_error_that_names_it(mount, saved, tmp_path):
    """At whichever place: the mount, `status` and commit refuse, or reading does; wrong bytes never come out."""
    wanted = edit(mount, saved)
    for path in blobs(saved):
        content = path.read_bytes()
        for offset in sorted({0, 1, len(content) // 3, len(content) // 2, len(content) * 3 // 4, len(content) - 1}):
            overwritten(path, offset, bytes([content[offset] ^ 0x10]))
            mnt = Mount(saved, tmp_path / "mnt")
            done = onnxfs(saved, mnt.path)
            try:
                if done.returncode == 0:
                    mnt.attach()
                    for name, payload in wanted.items():
                        error = error_of(mnt.bytes, name)
                        assert error == errno.EIO or error is None and mnt.bytes(name) == payload, (offset, name)
                else:
                    assert path.name in one_line(done), (offset, done.stderr)
            finally:
                mnt.give_up()
            path.write_bytes(content)
    with mount(saved) as mnt:
        assert all_bytes(mnt) == wanted


def test_a_small_edit_costs_little(mount, tmp_path):
    """Four bytes in 64 MB; and overwriting the same bytes again and again does not pile up without end."""
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("big", FLOAT, [1 << 24], raw=bytes(1 << 26))]))

    def size():
        return sum(file.stat().st_blocks * 512 for file in sidecar_of(path).rglob("*") if file.is_file())

    with mount(path) as mnt:
        overwrite(mnt.file("big"), 12_345_678, b"four")
        assert size() <= 65_536
        for turn in range(40):
            overwrite(mnt.file("big"), 0, bytes([turn]) * (1 << 20))

        def small_again():
            overwrite(mnt.file("big"), 0, b"\xff" * (1 << 20))
            return size() <= 12 << 20

        until(small_again, "what was overwritten is compacted away")
    with mount(path) as mnt:
        assert mnt.bytes("big")[:1 << 20] == b"\xff" * (1 << 20)
    shutil.rmtree(sidecar_of(path))


def test_the_sidecar_is_no_folder(mount, saved):
    """What is in its place is left alone, and named; the model can still be read, or is not mounted."""
    sidecar_of(saved).write_bytes(b"not a folder")
    mnt = Mount(saved, saved.with_name("mnt"))
    done = onnxfs(saved, mnt.path)
    try:
        if done.returncode == 0:
            mnt.attach()
            assert mnt.bytes("w") == OLD
            assert error_of(overwrite, mnt.file("w"), 0, b"x") in (errno.ENOTDIR, errno.EEXIST)
            assert mnt.bytes("w") == OLD
        else:
            assert sidecar_of(saved).name in one_line(done)
    finally:
        mnt.give_up()
    assert sidecar_of(saved).read_bytes() == b"not a folder"


def test_no_room(mount, saved, tmp_path):
    """A write that finds no room says so itself, and changes nothing."""
    small = tmp_path / "small"
    small.mkdir()
    if run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small).returncode != 0:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        for name in ("m.onnx", "m.data"):
            shutil.copy(saved.with_name(name), small)
        with mount(small / "m.onnx") as mnt:
            overwrite(mnt.file("w"), 0, b"early")
            (small / "filler").write_bytes(bytes(1 << 20))
            with open(small / "filler", "ab", buffering=0) as filler:
                while error_of(filler.write, bytes(4096)) is None:
                    pass
            before = mnt.bytes("w")
            errors = {error_of(overwrite, mnt.file("w"), 0, os.urandom(10_000)) for _ in range(5)}
            errors |= {error_of(replacement, mnt.file("w"), os.urandom(10_000)) for _ in range(5)}
            assert errno.ENOSPC in errors and errors <= {errno.ENOSPC, None}
            assert len(mnt.bytes("w")) == len(before)
            assert mnt.bytes("v") == OLD[::-1]
            content = mnt.bytes("w")
            (small / "filler").unlink()
            overwrite(mnt.file("v"), 0, b"goes on")
            kill_and_remount(mnt)
            assert (mnt.bytes("v")[:7], mnt.bytes("w")) == (b"goes on", content)
    finally:
        run("umount", "-l", small)
