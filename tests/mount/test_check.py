"""`onnxfs check`: the lines of problems.txt, and what only reading shows; 0 sound, 1 not, 2 trouble."""

import hashlib
import json
import os
import pty
import signal
import struct
import subprocess

import pytest
from mounting import BINARY, SLOWNESS, onnxfs
from onnx_wire import FLOAT, INT4, INT64, Message, graph, tensor, write_model


def raw(*values):
    return struct.pack(f"<{len(values)}f", *values)


@pytest.fixture
def checked(mount, tmp_path):
    """(exit status, lines) of the check of a model; the mount has to say the same."""

    def checked(*initializers, same=True):
        path = tmp_path / "m.onnx"
        write_model(path, graph(initializers))
        done = onnxfs("check", path)
        assert done.stderr == ""
        with mount(path) as mnt:
            if same:
                assert mnt.problems() == done.stdout.splitlines()
        return done.returncode, done.stdout.splitlines()

    return checked


def external(name, offset, length, location="d.bin"):
    return tensor(name, FLOAT, [length // 4], external=[("location", location), ("offset", str(offset)), ("length", str(length))])


def one(result, *words):
    status, lines = result
    assert status == 1 and len(lines) == 1, result
    for word in words:
        assert word in lines[0], lines


def test_sound(checked):
    assert checked(tensor("w", FLOAT, [1], raw=raw(1))) == (0, [])


def test_size(checked):
    one(checked(tensor("a/w", FLOAT, [2], raw=raw(1))), "initializers/a/w:", "raw_data", "4 bytes", "offset")


def test_both_fields(checked):
    one(checked(tensor("w", FLOAT, [1], raw=raw(1)).bytes(4, raw(2))), "initializers/w:", "float_data")


def test_duplicates(checked):
    one(checked(*[tensor("w", FLOAT, [1], raw=raw(i)) for i in range(2)]), "initializers/w@2:")


def test_segment(checked):
    one(checked(tensor("w", FLOAT, [1], raw=raw(1)).message(3, Message().varint(1, 0))), "segment")


def test_missing_and_refused_files(checked):
    one(checked(external("w", 0, 4, "no.bin")), "initializers/w:", "no.bin")
    one(checked(external("w", 0, 4, "../no.bin")), "initializers/w:", "../no.bin")


def test_padding(checked):
    assert checked(tensor("w", INT4, [3], raw=b"\x21\x03")) == (0, [])
    one(checked(tensor("w", INT4, [3], raw=b"\x21\x13")), "initializers/w:", "not zero")
    one(checked(tensor("w", 27, [3], raw=b"\xff\xff\x07")), "not zero")


def test_gaps(checked, tmp_path):
    (tmp_path / "d.bin").write_bytes(bytes(8100))
    # 4 … 4096 aligns the second tensor; 4100 … 5000 belongs to nobody, nor does what is behind the third.
    one(checked(external("a", 0, 4), external("b", 4096, 4), external("c", 5000, 100)), '"d.bin"', "3900 bytes", "gaps", "4100")
    (tmp_path / "d.bin").write_bytes(bytes(8192))
    assert checked(external("a", 0, 4), external("b", 4096, 4)) == (0, [])


def test_overlaps(checked, tmp_path):
    (tmp_path / "d.bin").write_bytes(bytes(16))
    assert checked(external("a", 0, 16), external("tied", 0, 16)) == (0, [])
    one(checked(external("a", 0, 12), external("b", 8, 8)), "initializers/b:", "another tensor")


def test_what_only_reading_shows(checked):
    message = tensor("w", INT64, [5000]).packed_varints(7, [300] * 4999)
    one(checked(message, same=False), "initializers/w:", "4999", "5000")


def test_trouble(tmp_path):
    assert onnxfs("check", tmp_path / "no.onnx").returncode == 2
    (tmp_path / "zip.onnx").write_bytes(b"PK\x03\x04" + bytes(20))
    done = onnxfs("check", tmp_path / "zip.onnx")
    assert done.returncode == 2 and "zip" in done.stderr and done.stdout == ""
    assert onnxfs("check").returncode == 2


def test_entries(checked):
    """Of typed fields: those that the type does not have, and unused bits."""
    assert checked(tensor("w", INT4, [3]).packed_varints(5, [0x21, 0x03])) == (0, [])
    one(checked(tensor("w", INT4, [3]).packed_varints(5, [0x21, 0x13])), "initializers/w:", "not zero")
    one(checked(tensor("w", 3, [2]).packed_varints(5, [1, 300])), "initializers/w:", "an entry of 300", "-128 to 127")
    long = tensor("w", 9, [5000]).packed_varints(5, [1] * 4999 + [2])
    one(checked(long, same=False), "initializers/w:", "an entry of 2", "bool")


def hashed(data, checksum=None, name="w", location="d.bin"):
    return tensor(name, FLOAT, [len(data) // 4], external=[
        ("location", location), ("checksum", checksum or hashlib.sha1(data).hexdigest())])


def test_checksums(checked, tmp_path):
    data = bytes(range(256)) * 16
    (tmp_path / "d.bin").write_bytes(data)
    assert checked(hashed(data), hashed(data, name="tied")) == (0, [])
    actual = hashlib.sha1(data).hexdigest()
    wrong = [hashed(data, "0" * 40), hashed(data, "0" * 40, name="tied")]
    one(checked(*wrong, same=False), "initializers/w:", '"d.bin"', actual, "1 others", "onnxfs commit")
    one(checked(hashed(data, "abc"), same=False), "initializers/w:", '"abc"')


def test_commit_says_that_a_checksum_is_outdated(mount, tmp_path):
    data = bytes(64)
    (tmp_path / "d.bin").write_bytes(data)
    model = tmp_path / "m.onnx"
    write_model(model, graph([hashed(data)]))
    with mount(model) as mnt:
        with open(mnt.file("w"), "r+b") as file:
            file.write(b"edit")
    done = onnxfs("commit", "--in-place", model)
    assert done.returncode == 0 and "checksum entries of d.bin" in done.stderr, done.stderr
    done = onnxfs("check", model)
    assert done.returncode == 1 and "onnxfs commit" in done.stdout


@pytest.fixture
def zoo(tmp_path):
    zoo = tmp_path / "zoo"
    (zoo / "sub/deeper").mkdir(parents=True)
    write_model(zoo / "good.onnx", graph([tensor("w", FLOAT, [1], raw=raw(1))]))
    write_model(zoo / "sub/deeper/bad.onnx", graph([tensor("w", FLOAT, [2], raw=raw(1))]))
    (zoo / "sub/value.pb").write_bytes(tensor("v", FLOAT, [1], raw=raw(3)).to_bytes())
    (zoo / "sub/notes.txt").write_text("no model")
    (zoo / "sub/loop").symlink_to("..")
    return zoo


def test_folder(zoo):
    done = onnxfs("check", zoo)
    first, last = done.stdout.splitlines()
    assert first.startswith(f"{zoo}/sub/deeper/bad.onnx: initializers/w: raw_data has 4 bytes")
    assert last == "3 files: 2 sound, 1 with problems, 0 that cannot be examined"
    assert (done.returncode, done.stderr) == (1, "")
    (zoo / "sub/deeper/bad.onnx").unlink()
    done = onnxfs("check", zoo)
    assert (done.returncode, done.stdout) == (0, "2 files: 2 sound, 0 with problems, 0 that cannot be examined\n")


def test_folder_with_trouble(zoo):
    """What cannot be examined keeps nothing else from being examined."""
    (zoo / "a.onnx").write_bytes(b"PK\x03\x04" + bytes(20))
    done = onnxfs("check", zoo)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and "a.onnx" in done.stderr and "zip" in done.stderr
    assert done.stdout.splitlines()[-1] == "4 files: 2 sound, 1 with problems, 1 that cannot be examined"


def test_folder_without_models(tmp_path):
    done = onnxfs("check", tmp_path)
    assert done.returncode == 2 and str(tmp_path) in done.stderr and done.stdout.startswith("0 files")


def test_several_files(zoo):
    """As a shell's *.onnx gives them, and folders among them; the worst decides."""
    good, bad, deeper = zoo / "good.onnx", zoo / "sub/deeper/bad.onnx", zoo / "sub/deeper"
    done = onnxfs("check", good, zoo / "sub/value.pb")
    assert (done.returncode, done.stdout) == (0, "2 files: 2 sound, 0 with problems, 0 that cannot be examined\n")
    done = onnxfs("check", good, bad, deeper)
    first, second, last = done.stdout.splitlines()
    assert done.returncode == 1 and first == second and first.startswith(f"{bad}: initializers/w:")
    assert last == "3 files: 1 sound, 2 with problems, 0 that cannot be examined"
    done = onnxfs("check", zoo / "none.onnx", bad)
    assert done.returncode == 2 and "none.onnx" in done.stderr and done.stdout.startswith(f"{bad}: ")
    *reports, counts = map(json.loads, onnxfs("check", "--json", good, bad).stdout.splitlines())
    assert [report["sound"] for report in reports] == [True, False] and counts["files"] == 2


def test_json(zoo):
    (zoo / "a.onnx").write_bytes(b"PK\x03\x04" + bytes(20))
    done = onnxfs("check", "--json", zoo)
    *reports, counts = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 2
    assert counts == {"files": 4, "sound": 2, "with_problems": 1, "unexamined": 1}
    by_file = {os.path.relpath(report["file"], zoo): report for report in reports}
    assert list(by_file) == ["a.onnx", "good.onnx", "sub/value.pb", "sub/deeper/bad.onnx"]
    assert [report["sound"] for report in reports] == [False, True, True, False]
    assert "zip" in by_file["a.onnx"]["trouble"] and by_file["a.onnx"]["problems"] == []
    problem, = by_file["sub/deeper/bad.onnx"]["problems"]
    assert problem["tensor"] == "initializers/w" and "4 bytes" in problem["text"] and problem["offset"] > 0
    assert by_file["sub/deeper/bad.onnx"]["trouble"] is None
    done = onnxfs("check", "--json", zoo / "good.onnx")
    assert json.loads(done.stdout) == {"file": str(zoo / "good.onnx"), "sound": True, "problems": [], "trouble": None}


def test_mounts(mount, zoo):
    """A mount is what is mounted there; one beneath a folder shows that folder's models again, and is passed over."""
    expected = onnxfs("check", zoo)
    with mount(zoo) as mnt:
        assert onnxfs("check", mnt.path).stdout == expected.stdout
        done = onnxfs("check", mnt.path / "sub/deeper/bad.onnx")
        assert done.returncode == 1 and done.stdout.startswith("initializers/w:")
        done = onnxfs("check", mnt.path / "sub")
        assert done.stdout.splitlines()[-1].startswith("2 files: 1 sound")
    with mount(zoo / "sub/deeper/bad.onnx") as mnt:
        done = onnxfs("check", mnt.path)
        assert done.returncode == 1 and done.stdout.splitlines() == mnt.problems()
    (zoo / "mnt").mkdir()
    onnxfs(zoo / "good.onnx", zoo / "mnt")
    try:
        assert (zoo / "mnt/live/good.onnx").exists()
        assert onnxfs("check", zoo).stdout == expected.stdout
        done = onnxfs("check", zoo / "mnt/live/good.onnx")
        assert (done.returncode, done.stdout) == (0, "")
    finally:
        assert onnxfs("umount", zoo / "mnt").returncode == 0


def test_edits_are_not_looked_at(mount, tmp_path):
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("w", INT4, [3], raw=b"\x21\x13")]))
    with mount(path) as mnt:
        with open(mnt.file("w"), "r+b") as file:
            file.write(b"\x21\x03")
        assert onnxfs("check", path).returncode == 1
        assert onnxfs("check", mnt.path).returncode == 1


def test_output_that_cannot_be_written(zoo):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, "check", zoo], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
    assert done.returncode == 2 and "standard output" in done.stderr


def test_long_work(tmp_path):
    """Shows on a terminal how far it is, and ends at once when it is told to."""
    size = 1 << 40
    with open(tmp_path / "d.bin", "wb") as file:
        file.truncate(size)
    message = tensor("w", FLOAT, [size // 4], external=[("location", "d.bin"), ("checksum", "0" * 40)])
    write_model(tmp_path / "m.onnx", graph([message]))
    parent, child = pty.openpty()
    check = subprocess.Popen([BINARY, "check", tmp_path / "m.onnx"], stdout=child, stderr=child)
    os.close(child)
    try:
        shown = b""
        while b"s left" not in shown:
            shown += os.read(parent, 4096)
        assert b"checking: " in shown and b"of 1.1 TB" in shown
        check.send_signal(signal.SIGINT)
        assert check.wait(timeout=5 * SLOWNESS) == -signal.SIGINT
    finally:
        check.kill()
        check.wait()
        os.close(parent)
