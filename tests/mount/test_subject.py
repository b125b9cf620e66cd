"""What a command that reads is about: the model, and the edits that it is to be read with."""

import json
import os
import subprocess

import pytest
from editing import kill_daemon
from mounting import BINARY, onnxfs, unmount
from onnx_wire import FLOAT, graph, tensor, write_model

OLD, NEW = b"old!" * 25, b"new!" * 25


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.onnx"
    write_model(path, graph([tensor("w", FLOAT, [25], raw=OLD), tensor("v", FLOAT, [25], raw=OLD)]))
    return path


@pytest.fixture
def edited(mount, model):
    """The model with an edit of w in its sidecar."""
    with mount(model) as mounted:
        (mounted.path / "initializers" / "w.bin").write_bytes(NEW)
    return model


READERS = {"ls": [], "stats": [], "export": ["out.onnx", "--inline"], "status": [], "commit": [], "discard": []}


@pytest.mark.parametrize("command", READERS)
def test_a_named_sidecar_has_to_have_edits(command, edited, tmp_path):
    before = edited.read_bytes()
    (tmp_path / "folder").mkdir()
    for name, wrong in (("typo", ""), ("folder", "there are no edits in"), ("m.onnx", "is not a folder")):
        done = onnxfs(command, edited.name, *READERS[command], "--sidecar", name, cwd=tmp_path)
        assert done.returncode == 1 and name in done.stderr and wrong in done.stderr, (done.stdout, done.stderr)
    assert edited.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["folder", "m.onnx", "m.onnx.sidecar"]
    assert "initializers/w" in onnxfs("status", edited).stdout


def test_diff_wants_named_sidecars_to_have_edits(edited, tmp_path):
    for side in "ab":
        done = onnxfs("diff", edited, edited, f"--sidecar-{side}", tmp_path / "typo")
        assert done.returncode == 2 and "typo" in done.stderr


def test_diff_of_the_edits(mount, edited):
    done = onnxfs("diff", "--edits", edited, "--json")
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    (entry,) = answer["tensors"]
    assert entry["a"]["path"] == "initializers/w" and answer["compared"] == 2
    assert onnxfs("diff", edited, "--edits", "initializers/v").returncode == 0
    assert onnxfs("diff", "--edits", edited, "initializers/w").returncode == 1
    with mount(edited) as mounted:
        assert onnxfs("diff", "--edits", mounted.path).returncode == 1
    assert onnxfs("discard", edited).returncode == 0
    assert onnxfs("diff", "--edits", edited).returncode == 0
    done = onnxfs("diff", edited)
    assert done.returncode == 2 and "B is required" in done.stderr


@pytest.mark.parametrize("command", ["ls", "stats", "status"])
def test_a_dead_mount_is_named_as_such(command, mount, model):
    with mount(model) as mounted:
        kill_daemon(mounted)
        done = onnxfs(command, mounted.path)
        assert done.returncode == 1 and f"has ended; run onnxfs umount {mounted.path}" in done.stderr, done.stderr
        unmount(mounted.path)


@pytest.mark.parametrize("closing", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-", "2>&-"])
def test_edits_are_not_taken_for_the_standard_streams(closing, edited):
    """What was closed is opened by whoever opens a file next, and then written to."""
    log = edited.with_name("m.onnx.sidecar") / "00000001.blob"
    before = log.read_bytes(), edited.read_bytes()
    for words in ("stats m.onnx", "ls m.onnx", "diff m.onnx m.onnx", "status m.onnx", "check m.onnx",
                  "export m.onnx out.onnx --inline"):
        subprocess.run(["sh", "-c", f'"$0" {words} {closing}', BINARY], cwd=edited.parent, timeout=20, check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert (log.read_bytes(), edited.read_bytes()) == before, words


@pytest.mark.parametrize("words", [["commit", "m.onnx", "-o", ""], ["commit", "m.onnx", "--sidecar", ""], ["ls", ""],
                                   ["export", "m.onnx", "", "--inline"], ["discard", "m.onnx", ""], ["m.onnx", ""]])
def test_an_empty_argument_is_a_variable_that_nobody_set(words, edited):
    before = edited.read_bytes()
    done = onnxfs(*words, cwd=edited.parent)
    assert done.returncode == 2 and "is empty" in done.stderr, (done.returncode, done.stdout, done.stderr)
    assert edited.read_bytes() == before and "initializers/w" in onnxfs("status", edited).stdout
