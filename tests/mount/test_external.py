"""External data: which locations, offsets and lengths are taken, and that what is refused hides nothing else."""

import errno
import os
import socket
import stat

import pytest
from locations import CONTENT, FIRST, at
from mounting import error_of
from onnx_wire import FLOAT, STRING, graph, tensor, write_model

# name: (external_data, bytes)
SERVED = {
    "location only": (at("w.bin"), FIRST),
    "all three keys": (at("w.bin", offset=16, length=8), CONTENT[16:24]),
    "offset only": (at("w.bin", offset=40), CONTENT[40:48]),
    "length only": (at("w.bin", length=8), FIRST),
    "offset before location": ([("offset", "16"), ("location", "w.bin")], CONTENT[16:24]),
    "to the last byte": (at("w.bin", offset=56, length=8), CONTENT[56:]),
    "unaligned offset": (at("w.bin", offset=13, length=8), CONTENT[13:21]),
    "leading zeros": (at("w.bin", offset="0008", length="00000000000000000000000008"), CONTENT[8:16]),
    "basepath": ([*at("w.bin", offset=8), ("basepath", "/elsewhere")], CONTENT[8:16]),
    "wrong checksum": ([*at("w.bin", offset=8), ("checksum", "da39a3ee5e6b4b0d3255bfef95601890afd80709")],
                       CONTENT[8:16]),
    "dots in the name": (at("w..bin"), FIRST),
    "dot first": (at("./w.bin"), FIRST),
    "dot and two slashes": (at(".//w.bin"), FIRST),
    "dot in the middle": (at("sub/./w.bin"), FIRST),
    "dot and back": (at("sub/./../w.bin"), FIRST),
    "empty component and back": (at("sub//../w.bin"), FIRST),
    "subfolder": (at("sub/w.bin", offset=1), CONTENT[1:9]),
    "subfolder and back": (at("sub/../w.bin"), FIRST),
    "missing subfolder and back": (at("not-there/../w.bin"), FIRST),
    "deeper and back": (at("sub/sub/../../w.bin"), FIRST),
    "spaces": (at(" sp ace "), FIRST),
    "utf-8": (at("wéights-重み.bin"), FIRST),
    "backslash": (at("sub\\w.bin"), FIRST),
    "number sign": (at("#memory"), FIRST),
    "hidden file": (at(".hidden"), FIRST),
    "hard link": (at("hard.bin"), FIRST),
    "relative symlink": (at("link-relative"), FIRST),
    "relative symlink into a subfolder": (at("link-sub"), FIRST),
    "relative symlink up and back": (at("sub/link-up"), FIRST),
    "absolute symlink": (at("link-absolute"), FIRST),
    "symlink to a symlink": (at("link-link"), FIRST),
    "symlink of a folder": (at("link-folder/w.bin"), FIRST),
    "absolute symlink of a folder": (at("link-folder-absolute/w.bin"), FIRST),
}

# Served, and named in problems.txt.
ODD = {
    "unknown key": ([*at("w.bin", offset=8), ("compression", "none")], CONTENT[8:16]),
    "wrong case of a second location": ([*at("w.bin"), ("Location", "other")], FIRST),
}

BROKEN = {
    "missing file": at("missing.bin"),
    "missing folder": at("missing/w.bin"),
    "empty location": at(""),
    "no location": [("offset", "0"), ("length", "8")],
    "no entries": [],
    "wrong case": [("Location", "w.bin")],
    "length too short": at("w.bin", length=7),
    "length too long": at("w.bin", length=9),
    "length zero": at("w.bin", length=0),
    "length empty": at("w.bin", length=""),
    "offset empty": at("w.bin", offset=""),
    "checksum empty": [*at("w.bin"), ("checksum", "")],
    "offset beyond the end": at("w.bin", offset=65),
    "range beyond the end": at("w.bin", offset=57),
    "range beyond the end with length": at("w.bin", offset=60, length=8),
    "offset over 63 bits": at("w.bin", offset=1 << 63),
    "offset over 64 bits": at("w.bin", offset=1 << 64),
    "offset whose sum overflows": at("w.bin", offset=(1 << 63) - 4, length=8),
    "length over 64 bits": at("w.bin", length=(1 << 64) + 8),
    "offset twice": [*at("w.bin", offset=0), ("offset", "8")],
    "location twice": [*at("w.bin"), ("location", "sub/w.bin")],
    "length twice": [*at("w.bin", length=8), ("length", "16")],
    **{f"offset {text!r}": at("w.bin", offset=text)
       for text in (" 0", "0 ", "+0", "-0", "-8", "0_0", "0x8", "8.0", "1e1", "8\n", "8\0", "\u0668", "eight")},
    **{f"length {text!r}": at("w.bin", length=text) for text in (" 8", "+8", "-8", "0x8", "8.0")},
    "absolute path": lambda folder: at(str(folder / "w.bin")),
    "absolute path elsewhere": lambda folder: at(str(folder.parent / "outside.bin")),
    "parent folder": at("../outside.bin"),
    "parent folder and back": lambda folder: at(f"../{folder.name}/w.bin"),
    "hidden parent folder": at("sub/../../outside.bin"),
    "NUL at the end": at("w.bin\0"),
    "NUL inside": at("w.bin\0.txt"),
    "trailing slash": at("w.bin/"),
    "slash only": at("/"),
    "a folder": at("sub"),
    "dot": at("."),
    "a FIFO": at("fifo"),
    "a socket": at("socket"),
    "a device": at("device"),
    "symlink to a device": at("link-device"),
    "a file as a folder": at("w.bin/x"),
    "relative symlink outside": at("link-outside"),
    "absolute symlink outside": at("link-outside-absolute"),
    "symlink to a symlink outside": at("link-link-outside"),
    "symlink of a folder outside": at("link-folder-outside/outside.bin"),
    "symlink to nothing": at("link-nothing"),
    "symlink to itself": at("link-loop"),
    "symlink through proc": at("link-proc"),
    "memory address": at("*/_ORT_MEM_ADDR_/*", offset=8, length=8),
    "name over 255 bytes": at("n" * 300),
    "path over 4096 bytes": at("sub/" * 2000 + "w.bin"),
}


def make_files(folder):
    """The files, links and traps that the locations above name; `folder`'s parent is out of bounds."""
    (folder.parent / "outside.bin").write_bytes(CONTENT)
    for name in ("w.bin", "w..bin", " sp ace ", "wéights-重み.bin", "sub\\w.bin", "#memory", ".hidden", "sub/w.bin",
                 "sub/sub/x.bin", "*/_ORT_MEM_ADDR_/*"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(CONTENT)
    os.link(folder / "w.bin", folder / "hard.bin")
    os.mkfifo(folder / "fifo")
    if os.getuid() == 0:
        os.mknod(folder / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(folder)  # a socket's path is short
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
    for name, target in {
            "link-relative": "w.bin", "link-sub": "sub/w.bin", "sub/link-up": "../w.bin",
            "link-absolute": folder / "w.bin",
            "link-link": "link-absolute", "link-folder": "sub", "link-folder-absolute": folder / "sub",
            "link-outside": "../outside.bin", "link-outside-absolute": folder.parent / "outside.bin",
            "link-link-outside": "link-outside", "link-folder-outside": "..", "link-nothing": "missing.bin",
            "link-loop": "link-loop", "link-device": "/dev/zero", "link-proc": "/proc/self/exe"}.items():
        (folder / name).symlink_to(target)


@pytest.fixture(scope="module")
def mnt(mount, tmp_path_factory):
    folder = tmp_path_factory.mktemp("external") / "model"
    folder.mkdir()
    make_files(folder)
    tensors = [tensor(name, FLOAT, [2], external=entries) for name, (entries, _) in {**SERVED, **ODD}.items()]
    tensors += [tensor(name, FLOAT, [2], external=entries(folder) if callable(entries) else entries)
                for name, entries in BROKEN.items()]
    tensors += [
        tensor("string", STRING, [1], external=at("w.bin")),
        tensor("inline", FLOAT, [2], raw=b"12345678"),
        tensor("external wins over raw", FLOAT, [2], raw=b"12345678", external=at("w.bin")),
        tensor("external wins over typed", FLOAT, [2], external=at("w.bin")).bytes(4, b"12345678"),
        tensor("zero elements, missing file", FLOAT, [0], external=at("missing.bin")),
        tensor("zero elements, length 0", FLOAT, [0], external=at("w.bin", length=0)),
        tensor("the model itself", FLOAT, [2], external=at("model.onnx", offset=0, length=8)),
        tensor("int4", 22, [5], external=at("w.bin", offset=1, length=3)),
        tensor("location 300 times", FLOAT, [2], external=at("w.bin") * 300),
        tensor("bad location bytes", FLOAT, [2], external=[("location", b"w\xff.bin")]),
    ]
    write_model(folder / "model.onnx", graph(tensors))
    (folder / os.fsdecode(b"w\xff.bin")).write_bytes(CONTENT)
    with mount(folder / "model.onnx") as mounted:
        mounted.folder = folder
        yield mounted


@pytest.mark.parametrize("name", [*SERVED, *ODD])
def test_served(mnt, name):
    entries, payload = {**SERVED, **ODD}[name]
    assert mnt.bytes(name) == payload
    found = mnt.json(name)
    assert (found["storage"], found["length"], found["nbytes"]) == ("external", 8, 8)
    assert found["offset"] == int(dict(entries).get("offset", 0))
    location = dict(entries)["location"].replace("not-there/../", "")
    assert os.path.samefile(mnt.folder / found["file"], mnt.folder / location)


@pytest.mark.parametrize("name", [*BROKEN, "string", "location 300 times"])
def test_broken(mnt, name):
    assert error_of(open, mnt.file(name), "rb") == errno.EIO
    found = mnt.json(name)
    assert (found["name"], found["shape"]) == (name, [1] if name == "string" else [2])
    assert isinstance(found["problem"], str) and found["problem"]
    assert mnt.bytes("inline") == b"12345678"


def test_problems_name_each_broken_tensor(mnt):
    lines = mnt.problems()
    for name in [*BROKEN, *ODD, "string"]:
        # Whatever escapes a line uses, the plain start of the name is in it.
        start = name.split("\\")[0].split("'")[0]
        assert any(start in line for line in lines), name
    sound = [line for line in lines if "inline" in line or "all three keys" in line]
    # The tensors here share bytes of one file, which is odd and said; it is all that is said of the sound ones.
    assert all("another tensor" in line for line in sound)


@pytest.mark.parametrize("name, payload", [
    ("external wins over raw", FIRST), ("external wins over typed", FIRST), ("zero elements, missing file", b""),
    ("zero elements, length 0", b""), ("int4", CONTENT[1:4]), ("bad location bytes", FIRST)])
def test_special(mnt, name, payload):
    assert mnt.bytes(name) == payload
    assert mnt.file(name).stat().st_size == len(payload)
    assert mnt.json(name)["problem"] is None or "wins" in name


def test_location_is_the_model(mnt):
    assert mnt.bytes("the model itself") == (mnt.folder / "model.onnx").read_bytes()[:8]


def test_wrong_checksum_is_shown(mnt):
    assert "da39a3ee5e6b4b0d3255bfef95601890afd80709" in mnt.file("wrong checksum", ".json").read_text()


def test_nothing_is_hidden(mnt):
    assert len(list((mnt.path / "initializers").rglob("*.bin"))) == len(SERVED) + len(ODD) + len(BROKEN) + 10
